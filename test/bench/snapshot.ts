/** The snapshot of many connections: against the same Buffer, and what it does to a command at the same time. */
import { join } from 'node:path';
import type { HttpCalls } from './clients/http.ts';
import type { SocketCalls } from './clients/sockets.ts';
import { page, socketClient } from './fanout.ts';
import { startClient } from './harness/client.ts';
import { startContenders } from './harness/contenders.ts';
import { cpuOf, type Server } from './harness/process.ts';
import type { Contenders, Report } from './harness/report.ts';
import { startBenchService } from './service.ts';

const path = '/api/screens/lobby/connections';
const floor = 'ws, one frame for all';
const READERS = 50;
const MS = 1_000;
const COMMANDS = 10;
/** So that all benches together take less than a quarter of an hour. */
const READ_MS = 600;
const READ_REASON =
  "By a profile of one reader, the service is busy for 32 % of the time at 1,000 connections and for 60 % at 5,000. Of that, 65 and 87 % is writing the answer to the socket, and 9 and 3 % is the service's own code; building the list again is under 1 %. The rest of the time is the round trip to the reader. Meanwhile the pages answer pings: the peer holds no sockets.";

const benchCrowd = async ({ compare }: Report, count: number): Promise<void> => {
  const service = await startBenchService();
  const readers = await startClient<HttpCalls>(join(import.meta.dirname, 'clients', 'http.ts'));
  const pages = await startClient<SocketCalls>(socketClient);
  const others = await startClient<SocketCalls>(socketClient);
  await pages.call('join', { ...page, port: service.port, count });
  const answer = await fetch(service.url + path);
  const etag = answer.headers.get('ETag');
  const contenders = await startContenders(['node:http, same Buffer and headers', floor], answer);
  const node = contenders.running.get('node:http, same Buffer and headers') as Server;
  const ws = contenders.running.get(floor) as Server;
  await others.call('join', { path: '/', greetings: [], unasked: 0, port: ws.port, count });

  const read =
    ({ port, pid }: Server, headers: Record<string, string>, connections: number) =>
    async () => {
      const before = cpuOf(pid);
      const { requests, perSecond } = await readers.call('load', { port, path, headers, connections, ms: READ_MS });
      return [perSecond, (cpuOf(pid) - before) / requests];
    };
  const title = `snapshot of ${count.toLocaleString('en')} connections`;
  const units = ['requests a second', 'ms of processor a request'];
  const both = (headers: Record<string, string>): Contenders => ({
    'this service': read(service, headers, 1),
    'node:http, same Buffer and headers': read(node, headers, 1),
  });
  const against = 'node:http, same Buffer and headers';
  await compare(`${title}, one reader`, units, both({}), { goals: [{ against, least: 0.8, reason: READ_REASON }] });
  const known: Contenders = etag === null ? { 'this service': 'it has no ETag' } : both({ 'If-None-Match': etag });
  await compare(`${title}, not modified`, units, known, { goals: [{ against, least: 0.9, reason: READ_REASON }] });

  const time =
    (client: typeof pages, { port }: Server) =>
    async (): Promise<number> =>
      (await client.call('command', { port, times: COMMANDS })).last;
  const whileRead = (client: typeof pages, server: Server) => async (): Promise<number> => {
    const { port } = server;
    const reading = readers.call('load', { port, path, connections: READERS, ms: MS });
    await new Promise((resolve) => setTimeout(resolve, MS / 5));
    const { last } = await client.call('command', { port, times: 3 });
    await reading;
    return last;
  };
  await compare(
    `a command to ${count.toLocaleString('en')} pages while ${READERS} clients read the snapshot`,
    'ms to the last socket',
    {
      'this service, read': whileRead(pages, service),
      'this service, not read': time(pages, service),
      [`${floor}, read from one Buffer`]: whileRead(others, ws),
      [`${floor}, not read`]: time(others, ws),
    },
    { goals: [{ against: `${floor}, read from one Buffer`, most: 1.5 }] },
  );

  for (const client of [readers, pages, others]) await client.stop();
  await contenders.stop();
  await service.stop();
};

export const benchSnapshot = async (report: Report): Promise<void> => {
  for (const count of [1_000, 5_000]) await benchCrowd(report, count);
};
