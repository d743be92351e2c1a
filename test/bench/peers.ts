/** What it adds to a command that it reaches the pages of other boxes too, against the plain round trip to one box. */
import { median, type Report } from './harness/report.ts';
import { type BenchService, startBenchService } from './service.ts';

const SITES = [1, 10, 30];
const COMMANDS = 40;

const post = async ({ url }: Pick<BenchService, 'url'>): Promise<{ sent: number; degraded: boolean }> => {
  const response = await fetch(`${url}/api/screens/lobby/commands`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ command: 'next' }),
  });
  return (await response.json()) as { sent: number; degraded: boolean };
};

/** Median round trip of a command, ms. */
const roundTrip = async (box: BenchService): Promise<number> => {
  const times: number[] = [];
  for (let n = 0; n < COMMANDS; n++) {
    const startedAt = performance.now();
    const { degraded } = await post(box);
    times.push(performance.now() - startedAt);
    if (degraded) throw new Error('a peer did not answer within a second: the machine is too busy to measure');
  }
  return median(times);
};

const peersOf = async ({ url }: BenchService): Promise<number> => {
  const { peers } = (await (await fetch(`${url}/healthz`)).json()) as { peers: { state: string }[] };
  return peers.filter(({ state }) => state === 'alive').length;
};

/** A box that has `peers` peers, each a process of its own, and all of them. */
const startSite = async (peers: number): Promise<BenchService[]> => {
  const site = `site-${peers}`;
  const first = await startBenchService({ SIGNAGE_SITE: site });
  const boxes = [first];
  for (let n = 0; n < peers; n++) {
    boxes.push(await startBenchService({ SIGNAGE_SITE: site, SIGNAGE_PEERS: first.url }));
  }
  for (const box of boxes) while ((await peersOf(box)) < peers) await new Promise((resolve) => setTimeout(resolve, 50));
  return boxes;
};

export const benchPeers = async ({ compare }: Report): Promise<void> => {
  const alone = await startBenchService();
  const sites = new Map<number, BenchService[]>();
  for (const peers of SITES) sites.set(peers, await startSite(peers));
  await compare('a command and its answer', 'ms, median of 40', {
    'to one box': () => roundTrip(alone),
    ...Object.fromEntries(
      [...sites].map(([peers, [first = alone]]) => [`relayed to ${peers}, one machine`, () => roundTrip(first)]),
    ),
  });
  for (const box of [alone, ...[...sites.values()].flat()]) await box.stop();
};
