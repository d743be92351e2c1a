/**
 * A fleet of many sites at one nats-server, each with an account of its own: how long it takes to add and to revoke one, and a
 * new version to all, what an idle site costs, a restart.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { openHub } from '../../service/cli/fleet/hub.ts';
import { writeHub } from '../../service/cli/fleet/hub-files.ts';
import { renewSite, revokeSite, systemCredentials } from '../../service/cli/fleet/site-credentials.ts';
import { inParallel } from '../../service/cli/parallel.ts';
import { openLine, readCredentials, type UserCredentials } from '../../service/platform/nats.ts';
import { natsProgram } from '../support/nats.ts';
import { freePort, untilListening } from '../support/ports.ts';
import { type LightSite, openSite } from './fleet-sites.ts';
import type { Report } from './harness/report.ts';

/** One process and two processors for the hub and all sites; `SIGNAGE_BENCH_SITES` sets another number. */
const COUNT = Number(process.env.SIGNAGE_BENCH_SITES ?? 1_000);
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
  for (const until = performance.now() + MAX_MS; !holds(); await delay(5)) {
    if (performance.now() > until) throw new Error(`not within ${MAX_MS / 1000} s: ${what}`);
  }
};

/** Resident memory of a process, MiB. */
const residentOf = (pid: number | undefined): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);

/** Needs nats-server, and two file descriptors a site. */
export const benchFleet = async ({ note }: Pick<Report, 'note'>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'signage-fleet-'));
  const port = await freePort();
  const { keys } = writeHub(folder, { listen: `127.0.0.1:${port}`, leafListen: null, tls: null });
  const config = join(folder, 'nats-server.conf');
  const start = (): ChildProcess => spawn(natsProgram, ['-c', config], { stdio: 'ignore' });
  const url = `nats://127.0.0.1:${port}`;
  const withHub = async (work: (hub: ReturnType<typeof openHub>) => Promise<unknown>): Promise<void> => {
    const nats = await openLine({ url, credentials: join(folder, 'operator.creds') }, 'bench');
    await work(openHub(nats));
    await nats.close();
  };
  let server = start();
  await untilListening(port);
  await withHub((hub) => hub.init(null));
  note(`the hub without sites: ${residentOf(server.pid)} MiB`);
  const system = await openLine({ url, credentials: systemCredentials(keys) }, 'bench');
  const add = async (site: string): Promise<UserCredentials> => {
    const output = join(folder, `${site}.creds`);
    await renewSite(system, { site, keys, keysFolder: join(folder, 'keys'), output, leafUrl: null });
    const { jwt, seed } = await readCredentials(output);
    return { jwt: jwt ?? '', seed };
  };
  const names = Array.from({ length: COUNT }, (_, n) => `site-${n}`);
  const added = performance.now();
  const users: UserCredentials[] = [];
  for (const name of names) users.push(await add(name));
  note(
    `${COUNT} sites added one by one: ${seconds(performance.now() - added)}, ${((performance.now() - added) / COUNT).toFixed(1)} ms each; the hub then has ${residentOf(server.pid)} MiB`,
  );
  const sites: LightSite[] = names.map((name, at) => openSite(port, name, users[at] as UserCredentials));
  const isEachConnected = (): boolean => sites.every(({ isConnected }) => isConnected);
  try {
    await waitFor('the first connections', isEachConnected);
    note(`all connected, each with its status written: ${residentOf(server.pid)} MiB`);
    const addedAt = performance.now();
    const newest = openSite(port, 'newest', await add('newest'), 0);
    await waitFor('one more site', () => newest.isConnected);
    note(`one more site is added and connected after ${Math.round(performance.now() - addedAt)} ms`);
    const revokedAt = performance.now();
    await revokeSite(system, keys, join(folder, 'keys'), 'newest');
    await waitFor('its end', () => !newest.isConnected);
    note(
      `it is revoked and disconnected after ${Math.round(performance.now() - revokedAt)} ms; ${sites.filter(({ isConnected }) => !isConnected).length} others were disconnected`,
    );
    newest.close();

    const begun = performance.now();
    await withHub(async (hub) => {
      const push = { id: randomUUID(), at: new Date().toISOString(), sha256: '0'.repeat(64) };
      await inParallel(names, AT_ONCE, (site) => hub.want(site, { bytes: contentOf(1), push }));
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
    await system.close();
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
};
