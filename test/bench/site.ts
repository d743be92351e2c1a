/**
 * What the boxes of a site cost each other: at rest, per edit and per binding. The whole table takes some
 * minutes. The sites are at rest at the same time, and change one after the other.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Health } from '../../service/contract/health.ts';
import { type Counts, type LightProcess, startLightProcess } from '../support/light-site.ts';
import type { Report } from './harness/report.ts';

/** SIGNAGE_BENCH_BOXES: how many boxes, separated by commas. */
const SIZES = (process.env.SIGNAGE_BENCH_BOXES ?? '2,10,30,100').split(',').filter(Boolean).map(Number);
const SECRETS = [undefined, 'a secret of all the boxes of a site'];
const BOXES_PER_PROCESS = 25;
const IDLE_MS = 30_000;
/** A box is at rest a minute after the last unexpected thing. */
const CALM_MS = 65_000;
/** A site that takes longer is left out. */
const START_MS = 180_000;
const CHANGES = 4;
/** Traffic that a change causes may take this long. */
const SETTLE_MS = 1_500;
/** A change that is not known everywhere by then counts as this. */
const MOST_MS = 20_000;

interface Site {
  secret: string | undefined;
  processes: LightProcess[];
  urls: string[];
  counts(): Promise<Counts>;
}

const sumOf = (all: readonly Counts[]): Counts => {
  const sum = (key: 'requests' | 'bytes' | 'cpu') => all.reduce((total, each) => total + each[key], 0);
  return { requests: sum('requests'), bytes: sum('bytes'), cpu: sum('cpu'), paths: {} };
};

const isTogether = async (url: string, count: number): Promise<boolean> => {
  const { peers } = (await (await fetch(`${url}/healthz`)).json()) as Health;
  return peers.length === count - 1 && peers.every(({ state }) => state === 'alive');
};

const startSite = async (count: number, secret: string | undefined): Promise<Site> => {
  const processes = await Promise.all(
    Array.from({ length: Math.ceil(count / BOXES_PER_PROCESS) }, () => startLightProcess()),
  );
  const urls: string[] = [];
  const start = async ({ boxes }: LightProcess): Promise<void> => {
    const settings = { SIGNAGE_SITE: `bench-${count}`, SIGNAGE_PEERS: urls[0] ?? '' };
    urls.push(await boxes.start(secret === undefined ? settings : { ...settings, SIGNAGE_SHARED_SECRET: secret }));
  };
  await start(processes[0] as LightProcess);
  while (urls.length < count) await Promise.all(processes.slice(0, count - urls.length).map(start));
  const deadline = performance.now() + START_MS;
  for (const url of urls) {
    while (!(await isTogether(url, count))) {
      if (performance.now() > deadline) throw new Error(`${count} boxes did not find each other in time`);
      await pause(250);
    }
  }
  const counts = async () => sumOf(await Promise.all(processes.map(({ boxes }) => boxes.counts())));
  return { secret, processes, urls, counts };
};

const post = async (url: string, secret: string | undefined, body: object): Promise<void> => {
  const { signRequest } = await import('../../service/auth/sign.ts');
  const text = JSON.stringify(body);
  const credentials = secret === undefined ? {} : signRequest({ secret, method: 'POST', url, body: text });
  const headers = { 'Content-Type': 'application/json', ...credentials };
  const answer = await fetch(url, { method: 'POST', headers, body: text });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
};

const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(part * values.length))] ?? Number.NaN;

const changesOf = ({ processes, urls, secret }: Site): Record<'edit' | 'binding', (n: number) => Promise<number[]>> => {
  const everywhere = async (ask: (each: LightProcess) => Promise<number[]>): Promise<number[]> =>
    (await Promise.all(processes.map(ask))).flat();
  return {
    edit: async (n) => {
      const done = everywhere(({ boxes }) => boxes.showing(`edit ${n}`));
      await (processes[n % processes.length] as LightProcess).boxes.edit(0, `edit ${n}`);
      return done;
    },
    binding: async (n) => {
      const done = everywhere(({ boxes }) => boxes.bound(`device-${n}`, 'lobby'));
      const body = { deviceId: `device-${n}`, clientName: `Name ${n}`, screenSlug: 'lobby' };
      await post(`${urls[(7 * n) % urls.length]}/api/onboarding`, secret, body);
      return done;
    },
  };
};

/** Makes changes one by one; the traffic of the same time at rest is taken off. */
const measure = async (site: Site, minute: Counts, change: (n: number) => Promise<number[]>) => {
  const ms: number[] = [];
  await site.counts();
  const startedAt = performance.now();
  for (let n = 0; n < CHANGES; n++) {
    const at = await Promise.race([change(n), pause(MOST_MS, [0, MOST_MS])]);
    ms.push(Math.max(...at) - Math.min(...at));
    await pause(SETTLE_MS);
  }
  const all = await site.counts();
  const minutes = (performance.now() - startedAt) / 60_000;
  const per = (key: 'requests' | 'bytes' | 'cpu') => Math.max(0, all[key] - minute[key] * minutes) / CHANGES;
  return { ms, counts: { requests: per('requests'), bytes: per('bytes'), cpu: per('cpu'), paths: {} } };
};

const WIDTHS = [26, 11, 8, 6, 15, 14, 14];
/** A row of a table in Markdown: two columns of text, then numbers. */
const asRow = (cells: readonly string[]): string =>
  `| ${cells.map((cell, at) => (at < 2 ? cell.padEnd(WIDTHS[at] ?? 0) : cell.padStart(WIDTHS[at] ?? 0))).join(' | ')} |`;
const HEAD = ['boxes', 'change', 'requests', 'kB', 'ms of processor', 'all know, p50', 'all know, p95'];

const row = (name: string, what: string, { requests, bytes, cpu }: Counts, ms: readonly number[] = []): string => {
  const times = [0.5, 0.95].map((part) => (ms.length === 0 ? '' : `${percentile(ms, part).toFixed(0)} ms`));
  return asRow([name, what, requests.toFixed(0), (bytes / 1_000).toFixed(0), cpu.toFixed(0), ...times]);
};

const measureAll = async (sizes: readonly number[], secret: string | undefined, note: Report['note']) => {
  if (sizes.length === 0) return;
  const sites: Site[] = [];
  const nameOf = ({ urls }: Pick<Site, 'urls'>): string => `${urls.length}${secret === undefined ? '' : ', secret'}`;
  for (const count of sizes) {
    try {
      sites.push(await startSite(count, secret));
    } catch (error) {
      note(`${nameOf({ urls: Array.from({ length: count }, () => '') })}: ${(error as Error).message}`);
    }
  }
  await pause(CALM_MS);
  await Promise.all(sites.map((site) => site.counts()));
  await pause(IDLE_MS);
  const factor = 60_000 / IDLE_MS;
  const minutes = await Promise.all(
    sites.map(async (site) => {
      const { requests, bytes, cpu } = await site.counts();
      return { requests: requests * factor, bytes: bytes * factor, cpu: cpu * factor, paths: {} };
    }),
  );
  for (const [index, site] of sites.entries()) {
    const minute = minutes[index] as Counts;
    note(row(nameOf(site), 'idle minute', minute));
    for (const [what, change] of Object.entries(changesOf(site))) {
      const { ms, counts } = await measure(site, minute, change);
      note(row(nameOf(site), what, counts, ms));
    }
  }
  for (const { processes } of sites) for (const { process: child } of processes) child.disconnect();
};

export const benchSite = async ({ note }: Report): Promise<void> => {
  note(asRow(HEAD));
  note(asRow(HEAD.map((_, at) => (at < 2 ? '---' : '---:'))));
  for (const secret of SECRETS) await measureAll(SIZES, secret, note);
};
