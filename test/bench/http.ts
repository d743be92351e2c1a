/** Playlist requests against the same bytes in a plain Koa route, and the start of the process. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Router } from '@koa/router';
import autocannon from 'autocannon';
import Koa from 'koa';
import { startBenchService } from './service.ts';
import { compare } from './table.ts';

const path = '/api/screens/lobby/playlist';

/** Requests a second. */
const load = async (url: string, headers: Record<string, string> = {}): Promise<number> => {
  const { requests } = await autocannon({ url, connections: 32, duration: 2, headers });
  return requests.average;
};

const startKoa = async (payload: unknown) => {
  const app = new Koa();
  const router = new Router();
  router.get('/api/screens/:slug/playlist', (ctx) => {
    ctx.body = payload;
  });
  app.use(router.routes());
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
};

const startBareNode = async (): Promise<number> => {
  const startedAt = performance.now();
  await once(spawn(process.execPath, ['-e', '0']), 'exit');
  return performance.now() - startedAt;
};

export const benchHttp = async (): Promise<void> => {
  await compare('start', 'ms to listening', {
    'this service': async () => {
      const service = await startBenchService();
      await service.stop();
      return service.startMs;
    },
    'node doing nothing': startBareNode,
  });

  const service = await startBenchService();
  const answer = await fetch(service.url + path);
  const etag = answer.headers.get('ETag') ?? '';
  const koa = await startKoa(await answer.json());
  await compare('playlist', 'requests a second', {
    'this service': () => load(service.url + path),
    'plain Koa, the same payload': () => load(koa.url + path),
  });
  await compare('playlist, not modified', 'requests a second', {
    'this service': () => load(service.url + path, { 'If-None-Match': etag }),
    'this service, in full': () => load(service.url + path),
  });
  koa.close();
  await service.stop();
};
