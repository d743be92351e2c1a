/** A command to many pages: the time until the last one has it, and what each connection costs. */
import { join } from 'node:path';
import type { SocketCalls } from './clients/sockets.ts';
import { type Client, startClient } from './harness/client.ts';
import { type ContenderName, startContenders } from './harness/contenders.ts';
import { cpuOf, memoryOf, type Server } from './harness/process.ts';
import type { Contenders, Goal, Report } from './harness/report.ts';
import { type BenchService, startBenchService } from './service.ts';

export const socketClient = join(import.meta.dirname, 'clients', 'sockets.ts');

const names = ['ws, serialized for each', 'ws, one frame for all', 'Socket.IO', 'Bun'] as const;
const COMMANDS = 10;
const FAN_OUT_REASON =
  'By a profile of 1,000 pages, 88 % of a command is writing its frame to the sockets, 78 % the system calls alone; choosing the pages and checking each socket is the rest.';
/** With fewer pages the request is what takes the time. */
const CROWD = 1_000;

type Site = Omit<Parameters<SocketCalls['join']>[0], 'port' | 'count'>;

const plain: Site = { path: '/', greetings: [], unasked: 0 };
const socketIo: Site = { path: '/socket.io/?EIO=4&transport=websocket', greetings: ['40'], unasked: 1 };

/** How a page of the service joins. */
export const page: Site = {
  path: '/api/screens/lobby/socket',
  protocol: 'signage.v1',
  greetings: ['{"type":"hello","clientId":"client-INDEX","page":"/screen/lobby"}'],
  unasked: 0,
};

const siteOf = (name: ContenderName): Site => (name === 'Socket.IO' ? socketIo : plain);

const benchCrowd = async ({ compare, note }: Report, service: BenchService, count: number): Promise<void> => {
  const others = await startContenders(names, await fetch(`${service.url}/healthz`));
  const clients: Client<SocketCalls>[] = [];
  const memory: string[] = [];

  const join = async (name: string, server: Server, how: Site) => {
    const client = await startClient<SocketCalls>(socketClient);
    clients.push(client);
    const before = memoryOf(server.pid);
    await client.call('join', { ...how, port: server.port, count });
    memory.push(`${name} ${(((memoryOf(server.pid) - before) * 1024) / count).toFixed(1)}`);
    return async () => {
      const used = cpuOf(server.pid);
      const { last, answer } = await client.call('command', { port: server.port, times: COMMANDS });
      return [last, answer, (cpuOf(server.pid) - used) / COMMANDS];
    };
  };
  const contenders: Contenders = { 'this service': await join('this service', service, page) };
  for (const [name, server] of others.running) contenders[name] = await join(name, server, siteOf(name));
  Object.assign(contenders, Object.fromEntries(others.missed));
  const goals: Goal[] = [
    { against: 'ws, serialized for each', most: 0.9, reason: FAN_OUT_REASON },
    { against: 'Socket.IO', most: 0.9, reason: FAN_OUT_REASON },
    { against: 'Bun', most: 1.3, reason: FAN_OUT_REASON },
  ];
  const units = ['ms to the last socket', 'ms to the answer', 'ms of processor a command'];
  await compare(`a command to ${count.toLocaleString('en')} pages`, units, contenders, {
    goals: count < CROWD ? [] : goals,
  });
  note(`Memory of a connection, KiB, at ${count.toLocaleString('en')}: ${memory.join(', ')}.`);
  for (const client of clients) await client.stop();
  await others.stop();
};

export const benchFanOut = async (report: Report): Promise<void> => {
  for (const count of [10, 1_000, 5_000]) {
    const service = await startBenchService();
    await benchCrowd(report, service, count);
    await service.stop();
  }
};
