/** Boxes that were once known are on disk: after a power cut the one that does not come back is named. */
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Caller } from '../../service/peers/call.ts';
import { createRegistry } from '../../service/peers/registry.ts';
import { patience } from '../support/observe.ts';
import { temporaryFolder } from '../support/service.ts';
import { peersOf, startBox, unitContext, untilTogether } from './support.ts';

const known = { nodeId: '00000000-0000-4000-8000-000000000007', url: 'http://192.0.2.7:8080' };

test('a box that does not come back is named, and is one peer again at another address', async () => {
  const [dataDir, otherDir] = [temporaryFolder(), temporaryFolder()];
  const box = await startBox([], { dataDir });
  const other = await startBox([box], { dataDir: otherDir });
  await untilTogether([box, other]);
  const [nodeId] = (await peersOf(box)).map((peer) => peer.nodeId);
  await Promise.all([box.close(), other.close()]);

  const again = await startBox([], { dataDir });
  const reason = expect.stringContaining('cannot be reached');
  await expect.poll(() => peersOf(again), patience).toMatchObject([{ nodeId, url: other.url, state: 'away', reason }]);
  const back = await startBox([again], { dataDir: otherDir });
  await expect.poll(() => peersOf(again), patience).toMatchObject([{ nodeId, url: back.url, state: 'alive' }]);
});

test('it is forgotten after more than a day, as a peer that goes away', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const failure = { ok: false, status: null, answered: false, code: null, reason: 'did not answer' };
  const caller = { call: async () => failure, close: () => {} } as unknown as Caller;
  const registry = createRegistry(unitContext(), { site: 'default', staticPeers: [], known: [known], caller });
  onTestFinished(registry.close);
  const counts: number[] = [];
  registry.onReachabilityChange(() => counts.push(registry.all().length));
  registry.start(8080);
  await vi.advanceTimersByTimeAsync(24 * 3_600_000);
  expect(registry.health()).toMatchObject([{ ...known, state: 'away' }]);
  await vi.advanceTimersByTimeAsync(2 * 3_600_000);
  expect([registry.all(), counts]).toEqual([[], [0]]);
});
