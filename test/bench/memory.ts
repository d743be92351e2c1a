/** The memory that pages with long texts and clients that read nothing cost together. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { memoryOf } from './harness/process.ts';
import type { Report } from './harness/report.ts';
import { startBenchService } from './service.ts';

interface Attack {
  pages: number;
  /** Clients that ask for the snapshot and read nothing of it. */
  readers: number;
  /** Length of the longest text of a page. */
  characters: number;
  seconds: number;
}

/** Joins as a page whose texts are as long as they can be; `change` makes the page's connection another one. */
const join = async (url: string, index: number, characters: number) => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/screens/lobby/socket`, ['signage.v1']);
  await once(socket, 'open');
  const welcomed = once(socket, 'message');
  socket.send(JSON.stringify({ type: 'hello', clientId: `client-${index}`, page: '/screen/lobby' }));
  await welcomed;
  let count = 0;
  const change = (): void => {
    count += 1;
    const title = `${count} ${'t'.repeat(characters)}`;
    socket.send(JSON.stringify({ type: 'state', page: '/screen/lobby', currentSlide: 0, currentSlideTitle: title }));
  };
  change();
  return { change, close: () => socket.terminate() };
};

const askWithoutReading = async (url: string): Promise<Socket> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  const request = `GET /api/screens/lobby/connections HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`;
  // As many as Node takes before it stops reading from the connection.
  socket.write(request.repeat(20));
  return socket;
};

/** Attacks a service of its own; resolves with the most by which its memory grew, in MiB. */
export const attackMemory = async ({ pages, readers, characters, seconds }: Attack): Promise<number> => {
  const service = await startBenchService();
  const before = memoryOf(service.pid);
  const joined = await Promise.all(Array.from({ length: pages }, (_, index) => join(service.url, index, characters)));
  let most = 0;
  const clients: Socket[] = [];
  for (let tick = 0; tick < seconds * 4; tick += 1) {
    if (clients.length < readers) {
      const wave = Array.from({ length: Math.ceil(readers / 10) }, () => askWithoutReading(service.url));
      clients.push(...(await Promise.all(wave)));
    }
    joined[tick % joined.length]?.change();
    await delay(250);
    most = Math.max(most, memoryOf(service.pid) - before);
  }
  for (const client of clients) client.destroy();
  for (const page of joined) page.close();
  await service.stop();
  return most;
};

export const benchMemory = async ({ note }: Report): Promise<void> => {
  const attack = { pages: 300, readers: 60, characters: 250_000, seconds: 20 };
  const grown = await attackMemory(attack);
  const { pages, readers, characters } = attack;
  note(
    `${pages} pages with ${characters} characters each, ${readers} clients that do not read: memory grew by at most ${grown.toFixed(0)} MiB.`,
  );
};
