/** Playlist requests, in full and not modified, against servers that give the same answer. */
import { join } from 'node:path';
import type { HttpCalls } from './clients/http.ts';
import { startClient } from './harness/client.ts';
import { startContenders } from './harness/contenders.ts';
import { cpuOf, type Server } from './harness/process.ts';
import type { Contenders, Report } from './harness/report.ts';
import { startBenchService } from './service.ts';

const path = '/api/screens/lobby/playlist';
const names = [
  'node:http, same Buffer and headers',
  'Fastify, same Buffer',
  'Koa, the payload as an object',
  'Bun',
] as const;
const CONNECTIONS = 50;
const GET_REASON =
  "By a profile of 50 connections, 48 % is handing the answers to the system, 39 % Node's own code for requests, 3 % collecting garbage, and 4 % code of the service, with the checks of Host, path and entity tag in it. The same code of Node takes longer here than in the peer, whose process does nothing else.";
const MS = 700;

export const benchHttp = async ({ compare }: Report): Promise<void> => {
  const service = await startBenchService();
  const answer = await fetch(service.url + path);
  const etag = answer.headers.get('ETag') ?? '';
  const others = await startContenders(names, answer);
  const client = await startClient<HttpCalls>(join(import.meta.dirname, 'clients', 'http.ts'));

  const measure =
    ({ port, pid }: Server, headers: Record<string, string>) =>
    async () => {
      const before = cpuOf(pid);
      const { requests, perSecond } = await client.call('load', {
        port,
        path,
        headers,
        connections: CONNECTIONS,
        ms: MS,
      });
      return [perSecond, ((cpuOf(pid) - before) * 1000) / requests];
    };
  const contenders = (headers: Record<string, string>): Contenders => ({
    'this service': measure(service, headers),
    ...Object.fromEntries([...others.running].map(([name, server]) => [name, measure(server, headers)])),
    ...Object.fromEntries(others.missed),
  });
  const units = ['requests a second', 'µs of processor a request'];
  const goals = [{ against: names[0], least: 0.95, reason: GET_REASON }];
  await compare(`playlist, ${CONNECTIONS} connections`, units, contenders({}), { goals });
  await compare('playlist, not modified', units, contenders({ 'If-None-Match': etag }), { goals });

  await client.stop();
  await others.stop();
  await service.stop();
};
