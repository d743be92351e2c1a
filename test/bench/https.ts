/** The same answers over TLS and without: small ones, and media. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Health } from '../../service/contract/health.ts';
import type { HttpCalls } from './clients/http.ts';
import { startClient } from './harness/client.ts';
import { cpuOf } from './harness/process.ts';
import type { Contenders, Report } from './harness/report.ts';
import { lobby, startBenchService } from './service.ts';

const CONNECTIONS = 20;
const MS = 700;
const MEDIUM_BYTES = 4 * 1024 ** 2;
const PLAIN = 'this service over http';

export const benchHttps = async ({ compare }: Report): Promise<void> => {
  const settings = { SIGNAGE_HTTPS: 'on', SIGNAGE_HTTPS_PORT: '0' };
  const service = await startBenchService(settings, (dataDir) => {
    mkdirSync(join(dataDir, 'uploads'), { recursive: true });
    writeFileSync(join(dataDir, 'uploads', 'film.bin'), randomBytes(MEDIUM_BYTES));
    return lobby();
  });
  let securePort: number | null = null;
  while (securePort === null) {
    const { https } = (await (await fetch(`${service.url}/healthz`)).json()) as Health;
    securePort = https?.port ?? null;
  }
  const client = await startClient<HttpCalls>(join(import.meta.dirname, 'clients', 'http.ts'));
  const measure = (port: number, path: string, connections: number, isSecure: boolean) => async () => {
    const before = cpuOf(service.pid);
    const { requests, perSecond } = await client.call('load', { port, path, connections, ms: MS, isSecure });
    return [perSecond, ((cpuOf(service.pid) - before) * 1000) / requests];
  };
  const contenders = (path: string, connections: number): Contenders => ({
    'this service over https': measure(securePort, path, connections, true),
    [PLAIN]: measure(service.port, path, connections, false),
  });
  const units = ['requests a second', 'µs of processor a request'];
  const small = contenders('/api/screens/lobby/playlist', CONNECTIONS);
  await compare(`playlist, ${CONNECTIONS} connections`, units, small, { goals: [{ against: PLAIN, least: 0.6 }] });
  const media = contenders('/media/film.bin', 4);
  await compare('a medium of 4 MiB, 4 connections', units, media, { goals: [{ against: PLAIN, least: 0.45 }] });

  await client.stop();
  await service.stop();
};
