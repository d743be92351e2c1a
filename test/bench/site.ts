/** What the boxes of a site cost each other: at rest, per edit, per binding, and per command. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Health } from '../../service/contract/health.ts';
import { type Counts, type LightProcess, startLightProcess } from '../support/light-site.ts';
import { median, type Report } from './harness/report.ts';

/** SIGNAGE_BENCH_BOXES: how many boxes, separated by commas. */
const SITES = (process.env.SIGNAGE_BENCH_BOXES ?? '2,10,30').split(',').map(Number);
const BOXES_PER_PROCESS = 25;
const IDLE_MS = 30_000;
/** A box is at rest a minute after the last unexpected thing. */
const CALM_MS = 65_000;
const CHANGES = 6;
const COMMANDS = 20;
/** As long as the traffic that a change causes may take. */
const SETTLE_MS = 2_000;
/** SIGNAGE_BENCH_SECRET: with which secret; default: none. */
const secret = process.env.SIGNAGE_BENCH_SECRET;

const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(part * values.length))] ?? Number.NaN;

interface LightSite {
  processes: LightProcess[];
  urls: string[];
  counts(): Promise<Counts>;
}

const startSite = async (count: number): Promise<LightSite> => {
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
  return {
    processes,
    urls,
    counts: async () => {
      const all = await Promise.all(processes.map(({ boxes }) => boxes.counts()));
      const paths: Record<string, number> = {};
      for (const each of all) for (const [path, n] of Object.entries(each.paths)) paths[path] = (paths[path] ?? 0) + n;
      const sum = (key: 'requests' | 'bytes' | 'cpu') => all.reduce((total, each) => total + each[key], 0);
      return { requests: sum('requests'), bytes: sum('bytes'), cpu: sum('cpu'), paths };
    },
  };
};

/** Whether a box reaches all others, and knows no more than there are. */
const knowsAll = async (url: string, count: number): Promise<boolean> => {
  const { peers } = (await (await fetch(`${url}/healthz`)).json()) as Health;
  return peers.length === count - 1 && peers.every(({ state }) => state === 'alive');
};

const untilTogether = async ({ urls }: LightSite): Promise<void> => {
  for (const url of urls) while (!(await knowsAll(url, urls.length))) await pause(250);
};

const post = async (url: string, body: object): Promise<void> => {
  const { signRequest } = await import('../../service/auth/sign.ts');
  const text = JSON.stringify(body);
  const credentials = secret === undefined ? {} : signRequest({ secret, method: 'POST', url, body: text });
  const headers = { 'Content-Type': 'application/json', ...credentials };
  const answer = await fetch(url, { method: 'POST', headers, body: text });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
};

const line = (title: string, { requests, bytes, cpu }: Counts, count: number, more = ''): string =>
  `  ${title.padEnd(22)} ${requests.toFixed(0).padStart(7)} requests (${(requests / count).toFixed(1)} a box), ${(bytes / 1000).toFixed(0).padStart(6)} kB, ${cpu.toFixed(0).padStart(6)} ms of processor${more}`;

const times = (counts: Counts, factor: number): Counts => ({
  ...counts,
  requests: counts.requests * factor,
  bytes: counts.bytes * factor,
  cpu: counts.cpu * factor,
});
const latency = (ms: readonly number[]): string =>
  `; all know after ${percentile(ms, 0.5).toFixed(0)} ms (p50), ${percentile(ms, 0.95).toFixed(0)} ms (p95)`;

/** Makes changes one by one, and measures how long each takes to be known everywhere. */
const measure = async (site: LightSite, change: (n: number) => Promise<number[]>) => {
  const ms: number[] = [];
  await site.counts();
  const startedAt = performance.now();
  for (let n = 0; n < CHANGES; n++) {
    const at = await change(n);
    ms.push(Math.max(...at) - Math.min(...at));
    await pause(SETTLE_MS);
  }
  return { ms, counts: await site.counts(), minutes: (performance.now() - startedAt) / 60_000 };
};

const measureSite = async (count: number, note: Report['note']): Promise<void> => {
  const startedAt = performance.now();
  const site = await startSite(count);
  await untilTogether(site);
  note(`${count} boxes${secret === undefined ? '' : ', with a secret'}`);
  const seconds = (performance.now() - startedAt) / 1_000;
  note(line('the start', await site.counts(), count, `; each knows all others after ${seconds.toFixed(0)} s`));
  await pause(CALM_MS);
  await site.counts();
  await pause(IDLE_MS);
  const minute = times(await site.counts(), 60_000 / IDLE_MS);
  note(line('an idle minute', minute, count));
  note(`    ${JSON.stringify(minute.paths)}`);
  const known = await Promise.all(site.urls.map((url) => knowsAll(url, count)));
  note(`  ${known.filter(Boolean).length} of ${count} boxes know all others, and no more`);
  await site.counts();

  const everywhere = async (ask: (each: LightProcess) => Promise<number[]>) =>
    (await Promise.all(site.processes.map(ask))).flat();
  const report = (title: string, { ms, counts, minutes }: Awaited<ReturnType<typeof measure>>): void => {
    const rest = { requests: minute.requests * minutes, bytes: minute.bytes * minutes, cpu: minute.cpu * minutes };
    const extra = {
      ...counts,
      requests: Math.max(0, counts.requests - rest.requests),
      bytes: Math.max(0, counts.bytes - rest.bytes),
      cpu: Math.max(0, counts.cpu - rest.cpu),
    };
    note(line(title, times(extra, 1 / CHANGES), count, latency(ms)));
    note(`    ${JSON.stringify(counts.paths)}`);
  };
  report(
    'an edit',
    await measure(site, async (n) => {
      const done = everywhere(({ boxes }) => boxes.showing(`edit ${n}`));
      await (site.processes[n % site.processes.length] as LightProcess).boxes.edit(0, `edit ${n}`);
      return done;
    }),
  );
  report(
    'a binding',
    await measure(site, async (n) => {
      const done = everywhere(({ boxes }) => boxes.bound(`device-${n}`, 'lobby'));
      const body = { deviceId: `device-${n}`, clientName: `Name ${n}`, screenSlug: 'lobby' };
      await post(`${site.urls[(7 * n) % count]}/api/onboarding`, body);
      return done;
    }),
  );
  const roundTrips: number[] = [];
  for (let n = 0; n < COMMANDS; n++) {
    const startedAt = performance.now();
    await post(`${site.urls[0]}/api/screens/lobby/commands`, { command: 'next' });
    roundTrips.push(performance.now() - startedAt);
  }
  note(`  a command and its answer ${median(roundTrips).toFixed(1)} ms (median of ${COMMANDS})`);
  for (const { process: child } of site.processes) child.disconnect();
};

export const benchSite = async ({ note }: Report): Promise<void> => {
  for (const count of SITES) await measureSite(count, note);
};
