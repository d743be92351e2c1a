/** The process of {@link LightBoxes}: real services in one process, asked over its channel. */
import { subscribe } from 'node:diagnostics_channel';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type Service, startService } from '../../service/index.ts';
import { readOptions } from '../../service/platform/options/index.ts';
import type { Counts, LightBoxes } from './light-site.ts';

const root = join(import.meta.dirname, '..', '..');

const folders: string[] = [];
const boxes: { service: Service; dataDir: string }[] = [];

const traffic = { requests: 0, bytes: 0, paths: {} as Record<string, number> };
const open = new Map<Socket, number>();
const sizeOf = ({ bytesRead, bytesWritten }: Socket): number => bytesRead + bytesWritten;
subscribe('http.server.request.start', (message) => {
  const { request, socket } = message as { request: IncomingMessage; socket: Socket; server: Server };
  traffic.requests += 1;
  const path = `${request.method} ${request.url?.split('?')[0]}`;
  traffic.paths[path] = (traffic.paths[path] ?? 0) + 1;
  if (open.has(socket)) return;
  open.set(socket, 0);
  socket.once('close', () => {
    traffic.bytes += sizeOf(socket) - (open.get(socket) ?? 0);
    open.delete(socket);
  });
});
let cpu = process.cpuUsage();

const contentOf = (name: string) => ({
  screens: [{ name, slug: 'lobby', playlist_id: 'main' }],
  playlists: [{ id: 'main', slides: [{ kind: 'text', title: 'Hello' }] }],
});

const POLL_MS = 5;
/** Polls all boxes until each has fulfilled the condition once. */
const times = (isDone: (service: Service) => boolean): Promise<number[]> =>
  new Promise((resolve) => {
    const at = boxes.map(() => 0);
    const poll = (): void => {
      for (const [index, { service }] of boxes.entries()) {
        if (at[index] === 0 && isDone(service)) at[index] = Date.now();
      }
      if (at.every((time) => time > 0)) resolve(at);
      else setTimeout(poll, POLL_MS);
    };
    poll();
  });

const handlers: LightBoxes = {
  start: async ({ SIGNAGE_DATA_DIR: given, ...settings }) => {
    const dataDir = given ?? mkdtempSync(join(tmpdir(), 'signage-light-'));
    if (given === undefined) {
      folders.push(dataDir);
      writeFileSync(join(dataDir, 'content.json'), JSON.stringify(contentOf('first')));
    }
    const options = readOptions({
      env: {
        PATH: process.env.PATH,
        SIGNAGE_HOST: '127.0.0.1',
        SIGNAGE_PORT: '0',
        SIGNAGE_DATA_DIR: dataDir,
        SIGNAGE_LOG_LEVEL: process.env.SIGNAGE_TEST_LIGHT_LOG ?? 'silent',
        ...settings,
      },
    });
    const service = await startService(options, {
      log: pino({ level: options.logLevel }),
      rendererDir: join(root, 'dist', 'renderer'),
      resourcesDir: join(root, 'resources'),
    });
    boxes.push({ service, dataDir });
    return service.url;
  },
  edit: async (index, name) => {
    writeFileSync(join(boxes[index]?.dataDir ?? '', 'content.json'), JSON.stringify(contentOf(name)));
  },
  showing: (name) => times((service) => service.screens()[0]?.name === name),
  bound: (deviceId, slug) => times((service) => service.screenOf(deviceId) === slug),
  counts: async (): Promise<Counts> => {
    for (const [socket, counted] of open) {
      const size = sizeOf(socket);
      traffic.bytes += size - counted;
      open.set(socket, size);
    }
    const { user, system } = process.cpuUsage(cpu);
    cpu = process.cpuUsage();
    const counts = {
      requests: traffic.requests,
      bytes: traffic.bytes,
      paths: traffic.paths,
      cpu: (user + system) / 1000,
    };
    Object.assign(traffic, { requests: 0, bytes: 0, paths: {} });
    return counts;
  },
};

process.on('message', ({ id, name, args }: { id: number; name: keyof LightBoxes; args: never[] }) => {
  (handlers[name] as (...args: never[]) => Promise<unknown>)(...args).then(
    (answer) => process.send?.({ id, answer }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
process.send?.('ready');
