/**
 * One edit a second of 5,000 slides while 1,000 pages are connected, ten minutes long: no page misses a revision, nothing
 * grows, and the service goes on answering.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { repeats } from '../support/soak.ts';
import type { HttpCalls } from './clients/http.ts';
import type { SocketCalls } from './clients/sockets.ts';
import { type Content, writeEdit } from './edit.ts';
import { page, socketClient } from './fanout.ts';
import { startClient } from './harness/client.ts';
import { clock } from './harness/clock.ts';
import { cpuOf, memoryOf } from './harness/process.ts';
import { median, type Report } from './harness/report.ts';
import { lobby, startBenchService } from './service.ts';

const SLIDES = 5_000;
const PAGES = 1_000;
const EDITS = repeats(600, 600, 'EDITS');
const PERIOD_MS = 1_000;
const PROBE_MS = 20;
const DELAY_REASON =
  'An edit is worked off in slices of 4 ms, between which requests are answered. By a profile what exceeds them is collecting garbage.';

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0) /
  1024 ** 2;

/** The value below which `share` of them are. */
const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;

export const benchEditsSoak = async ({ compare, note }: Report): Promise<void> => {
  const content = lobby(SLIDES) as Content;
  const service = await startBenchService({}, () => content);
  const pages = await startClient<SocketCalls>(socketClient);
  await pages.call('join', { ...page, port: service.port, count: PAGES, counted: '"type":"revision"' });
  const prober = await startClient<HttpCalls>(join(import.meta.dirname, 'clients', 'http.ts'));
  await prober.call('startProbing', { port: service.port, path: '/api/nothing', everyMs: PROBE_MS });

  const times: number[] = [];
  const memory: number[] = [];
  const disk: number[] = [];
  const usedBefore = cpuOf(service.pid);
  let frames = 0;
  for (let edit = 0; edit < EDITS; edit++) {
    const startedAt = performance.now();
    const arrived = pages.call('untilAll', { port: service.port });
    writeEdit(service, content, edit % 2 === 0);
    times.push(
      await clock(async () => {
        frames = await arrived;
      }),
    );
    memory.push(memoryOf(service.pid));
    if (edit % 60 === 0) disk.push(sizeOf(service.dataDir));
    await sleep(Math.max(0, startedAt + PERIOD_MS - performance.now()));
  }
  const used = cpuOf(service.pid) - usedBefore;
  const waits = await prober.call('endProbing', {});
  const minute = Math.max(1, Math.floor(EDITS / 10));
  const growth = median(memory.slice(-minute)) / median(memory.slice(minute, 2 * minute));

  const once = { rounds: 1 };
  const title = `${EDITS} edits of ${SLIDES.toLocaleString('en')} slides, one a second, ${PAGES.toLocaleString('en')} pages`;
  const of = (value: number) => ({ 'this service': async () => value });
  await compare(`${title}: revisions that a page missed`, 'revisions', of(EDITS * PAGES - frames), {
    ...once,
    goals: [{ most: 0, least: 0 }],
  });
  await compare(`${title}: delay of the event loop, p99`, 'ms to the answer of a request', of(quantile(waits, 0.99)), {
    ...once,
    goals: [{ most: 20, reason: DELAY_REASON }],
  });
  await compare(`${title}: memory, the last tenth by the second`, 'ratio', of(growth), {
    ...once,
    goals: [{ most: 1.1 }],
  });
  await compare(`${title}: until the last page has the revision, p95`, 'ms', of(quantile(times, 0.95)), once);
  note(
    `${waits.length} requests, one every ${PROBE_MS} ms: p50 ${quantile(waits, 0.5).toFixed(1)}, p99 ${quantile(waits, 0.99).toFixed(1)}, ` +
      `p99.9 ${quantile(waits, 0.999).toFixed(1)}, greatest ${quantile(waits, 1).toFixed(1)} ms. ` +
      `${(used / EDITS).toFixed(0)} ms of processor an edit. Memory ${median(memory.slice(minute, 2 * minute)).toFixed(0)} MiB in the ` +
      `second tenth, ${median(memory.slice(-minute)).toFixed(0)} MiB in the last one, at most ${Math.max(...memory).toFixed(0)} MiB. ` +
      `Data directory ${disk[0]?.toFixed(1)} MiB at first, ${disk.at(-1)?.toFixed(1)} MiB at last.`,
  );
  await prober.stop();
  await pages.stop();
  await service.stop();
};
