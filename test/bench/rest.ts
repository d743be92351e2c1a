/** What the service costs while nothing happens. */
import type { SocketCalls } from './clients/sockets.ts';
import { page, socketClient } from './fanout.ts';
import { startClient } from './harness/client.ts';
import { cpuOf, memoryOf } from './harness/process.ts';
import type { Report } from './harness/report.ts';
import { type BenchService, startBenchService } from './service.ts';

/** Within 20 s of its start V8 collects what the start left, once, for about 100 ms of processor in threads of its own. */
const SETTLE_MS = 30_000;
const MS = 6_000;
const ROUNDS = 3;
const REST_REASON =
  'Ten timers wake thirteen times a second together, four times each for the end of takeovers and for peers that are due; the rest is V8.';
const CROWD = 1_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const benchRest = async ({ compare, note }: Report): Promise<void> => {
  const [alone, crowded] = [await startBenchService(), await startBenchService()];
  const client = await startClient<SocketCalls>(socketClient);
  await client.call('join', { ...page, port: crowded.port, count: CROWD });
  await sleep(SETTLE_MS);
  const weigh =
    ({ pid }: BenchService) =>
    async () => {
      const before = cpuOf(pid);
      await sleep(MS);
      return ((cpuOf(pid) - before) * 1000) / MS;
    };
  const contenders = { 'this service': weigh(alone), [`with ${CROWD} pages`]: weigh(crowded) };
  await compare('at rest', 'ms of processor a second', contenders, {
    rounds: ROUNDS,
    goals: [{ most: 3, reason: REST_REASON }],
  });
  note(
    `Memory at rest: ${memoryOf(alone.pid).toFixed(0)} MiB, with ${CROWD} pages ${memoryOf(crowded.pid).toFixed(0)} MiB.`,
  );
  await client.stop();
  await alone.stop();
  await crowded.stop();
};
