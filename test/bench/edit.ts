/** An edit of content.json until a page has its revision, and what large contents cost at rest. */
import { once } from 'node:events';
import { renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { cpuOf } from './harness/process.ts';
import type { Report } from './harness/report.ts';
import { type BenchService, lobby, startBenchService } from './service.ts';

const EDITS = 10;
const EDIT_REASON =
  'By a profile of an edit of 5,000 slides, reading and checking the file takes 14 ms, the model with its text and hash 18, the hashes of the document and of the payload 8, all in slices between which requests are answered; 10 ms pass until the file is quiet. The slowest of ten has a collection of garbage in it, up to 40 ms.';

export interface Content {
  playlists: { slides: { title: string }[] }[];
}

const openPage = async ({ url }: BenchService): Promise<WebSocket> => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/screens/lobby/socket`, ['signage.v1']);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'hello', clientId: 'editor', page: '/screen/lobby' }));
  await once(socket, 'message');
  return socket;
};

const untilRevision = (socket: WebSocket): Promise<void> =>
  new Promise((resolve) => {
    const onMessage = (data: unknown): void => {
      if (!String(data).includes('"revision"') || String(data).includes('heartbeat')) return;
      socket.off('message', onMessage);
      resolve();
    };
    socket.on('message', onMessage);
  });

let edits = 0;

/** Replaces the file as most editors do, or in place. */
export const writeEdit = ({ dataDir }: Pick<BenchService, 'dataDir'>, content: Content, atomic: boolean): void => {
  const first = content.playlists[0]?.slides[0];
  if (first) first.title = `Edit ${edits++}`;
  const path = join(dataDir, 'content.json');
  const target = atomic ? `${path}.editor` : path;
  writeFileSync(target, JSON.stringify(content));
  if (atomic) renameSync(target, path);
};

export const benchEdit = async ({ compare, note }: Report): Promise<void> => {
  for (const [slides, most] of [[8], [1_000, 60], [5_000, 150]] as const) {
    const content = lobby(slides) as Content;
    const service = await startBenchService({}, () => content);
    const socket = await openPage(service);
    const edit = async (): Promise<number[]> => {
      const times: number[] = [];
      const used = cpuOf(service.pid);
      for (let edit = 0; edit < EDITS; edit++) {
        // Edits do not come in step with any timer of the service.
        await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 200));
        const startedAt = performance.now();
        const arrived = untilRevision(socket);
        writeEdit(service, content, edit % 2 === 0);
        await arrived;
        times.push(performance.now() - startedAt);
      }
      const sorted = times.toSorted((a, b) => a - b);
      return [sorted.at(-1) ?? Number.NaN, sorted[EDITS >> 1] ?? Number.NaN, (cpuOf(service.pid) - used) / EDITS];
    };
    const units = [
      `ms to the revision, the slowest of ${EDITS}`,
      'ms to the revision, median',
      'ms of processor an edit',
    ];
    const goals = most === undefined ? [] : [{ most, reason: EDIT_REASON }];
    await compare(`an edit of ${slides.toLocaleString('en')} slides`, units, { 'this service': edit }, { goals });
    socket.terminate();
    await service.stop();
  }

  const screens = Array.from({ length: 200 }, (_, index) => ({
    name: `S ${index}`,
    slug: `s-${index}`,
    playlist_id: 'main',
  }));
  const shared = { ...lobby(200), screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }, ...screens] };
  const service = await startBenchService({}, () => shared);
  const socket = await openPage(service);
  const title = 'one playlist of 200 slides on 200 screens';
  await compare(title, ['ms to the revision', 'ms of processor an edit'], {
    'this service': async () => {
      const used = cpuOf(service.pid);
      const startedAt = performance.now();
      const arrived = untilRevision(socket);
      writeEdit(service, shared as unknown as Content, true);
      await arrived;
      const elapsed = performance.now() - startedAt;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return [elapsed, cpuOf(service.pid) - used];
    },
  });
  const size = (name: string): string => `${(statSync(join(service.dataDir, name)).size / 1e3).toFixed(0)} kB`;
  note(
    `The last good content of ${title} takes ${size('content.kept.json')} beside a content.json of ${size('content.json')}.`,
  );
  await compare(`${title}: GET /healthz`, 'ms', {
    'this service': async () => {
      const startedAt = performance.now();
      await (await fetch(`${service.url}/healthz`)).arrayBuffer();
      return performance.now() - startedAt;
    },
  });
  socket.terminate();
  await service.stop();
};
