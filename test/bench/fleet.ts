/** A fleet of many sites at one nats-server: how long a new version takes to all, what an idle site costs, a restart. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { openHub } from '../../service/cli/fleet/hub.ts';
import { freePort, untilListening } from '../support/ports.ts';
import { type LightSite, openSite } from './fleet-sites.ts';
import type { Report } from './harness/report.ts';

/** One process and two processors for the hub and all sites; `SIGNAGE_BENCH_SITES` sets another number. */
const COUNT = Number(process.env.SIGNAGE_BENCH_SITES ?? 10_000);
const IDLE_MS = 20_000;
const STATUS_MS = 54_000;
const AT_ONCE = 64;
const MAX_MS = 120_000;

/** A document of some 300 slides, about 4 KB packed. */
const contentOf = (version: number): Buffer =>
  gzipSync(
    JSON.stringify({
      screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'a' }],
      playlists: [
        {
          id: 'a',
          slides: Array.from({ length: 300 }, (_, n) => ({
            id: `slide-${n}`,
            kind: 'text',
            title: `${version}: ${n * 7919}`,
          })),
        },
      ],
    }),
  );

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const spread = (values: readonly number[]): string =>
  `p50 ${seconds(quantile(values, 0.5))}, p95 ${seconds(quantile(values, 0.95))}, all ${seconds(quantile(values, 1))}`;

/** Bytes of all frames that this machine has sent to itself. */
const loopbackBytes = (): number => {
  const [, received = '0'] = /^\s*lo:\s*(\d+)/m.exec(readFileSync('/proc/net/dev', 'utf8')) ?? [];
  return Number(received);
};

const waitFor = async (what: string, holds: () => boolean): Promise<void> => {
  for (const until = performance.now() + MAX_MS; !holds(); await delay(100)) {
    if (performance.now() > until) throw new Error(`not within ${MAX_MS / 1000} s: ${what}`);
  }
};

/** Needs nats-server, and some 20,000 file descriptors. */
export const benchFleet = async ({ note }: Pick<Report, 'note'>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'signage-fleet-'));
  const port = await freePort();
  const config = join(folder, 'nats.conf');
  writeFileSync(config, `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${folder}/store" }\n`);
  const path = `${process.env.PATH}:/usr/sbin`;
  const start = (): ChildProcess =>
    spawn('nats-server', ['-c', config], { stdio: 'ignore', env: { ...process.env, PATH: path } });
  const withHub = async (work: (hub: Awaited<ReturnType<typeof openHub>>) => Promise<unknown>): Promise<void> => {
    const hub = await openHub(`nats://127.0.0.1:${port}`, null);
    await work(hub);
    await hub.close();
  };
  let server = start();
  await untilListening(port);
  await withHub((hub) => hub.init(1));
  const names = Array.from({ length: COUNT }, (_, n) => `site-${n}`);
  const sites: LightSite[] = names.map((name) => openSite(port, name));
  const isEachConnected = (): boolean => sites.every(({ isConnected }) => isConnected);
  try {
    await waitFor('the first connections', isEachConnected);

    const begun = performance.now();
    await withHub(async (hub) => {
      const groups = Array.from({ length: AT_ONCE }, (_, n) => names.filter((_name, at) => at % AT_ONCE === n));
      await Promise.all(groups.map((group) => hub.want(group, contentOf(1))));
    });
    await waitFor('the new version', () => sites.every(({ contentAt }) => contentAt > begun));
    note(
      `${COUNT} sites, a new version of ${contentOf(1).length} bytes: ${spread(sites.map(({ contentAt }) => contentAt - begun))}`,
    );

    const count = () => ({ bytes: sites.reduce((sum, { bytes }) => sum + bytes, 0), onWire: loopbackBytes() });
    const before = count();
    const timers = sites.map((site) => setTimeout(site.writeStatus, Math.random() * STATUS_MS));
    await delay(IDLE_MS);
    for (const timer of timers) clearTimeout(timer);
    const after = count();
    const anHour = (bytes: number): string => `${Math.round((bytes / COUNT / 1_000) * (3_600_000 / IDLE_MS))} kB`;
    const [said, sent] = [anHour(after.bytes - before.bytes), anHour(after.onWire - before.onWire)];
    note(`an idle site: ${said} an hour of NATS, ${sent} with all headers and acknowledgements of TCP`);

    server.kill('SIGKILL');
    await once(server, 'exit');
    const restarted = performance.now();
    server = start();
    await waitFor(
      'the connections after a restart',
      () => isEachConnected() && sites.every(({ connectedAt }) => connectedAt > restarted),
    );
    note(`the hub is killed and started again: ${spread(sites.map(({ connectedAt }) => connectedAt - restarted))}`);
  } finally {
    for (const site of sites) site.close();
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
};
