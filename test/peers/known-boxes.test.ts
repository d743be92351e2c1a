/** Boxes that were once known are on disk: after a power cut the one that does not come back is named. */
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Caller } from '../../service/peers/call.ts';
import { openKnownBoxes } from '../../service/peers/known-boxes.ts';
import { createRegistry } from '../../service/peers/registry.ts';
import { defaultTempo } from '../../service/tempo.ts';
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

/** Timeouts stay real: one of another file of this worker, repeated each few ms, would be millions of turns in a week. */
const fakeClock = (): void => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
};

/** As on a box, but for the looks for addresses to probe: four a second are two million in a week. */
const seldom = { ...defaultTempo, peers: { ...defaultTempo.peers, tick: 30_000 } };
const dayLong = () => ({ ...unitContext(), tempo: seldom });

const failure = { ok: false, status: null, answered: false, code: null, reason: 'did not answer' };
const silent = { call: async () => failure, close: () => {} } as unknown as Caller;

test('it is forgotten after more than a day, as a peer that goes away', async () => {
  fakeClock();
  const registry = createRegistry(dayLong(), { site: 'default', staticPeers: [], known: [known], caller: silent });
  onTestFinished(registry.close);
  const counts: number[] = [];
  registry.onReachabilityChange(() => counts.push(registry.all().length));
  registry.start(8080);
  await vi.advanceTimersByTimeAsync(24 * 3_600_000);
  expect(registry.health()).toMatchObject([{ ...known, state: 'away' }]);
  await vi.advanceTimersByTimeAsync(2 * 3_600_000);
  expect([registry.all(), counts]).toEqual([[], [0]]);
});

/** The boxes on disk, as the service opens them when the clock shows `time`. */
const openAt = async (data: string, time?: number) => {
  if (time !== undefined) vi.setSystemTime(time);
  const kept: { close(): Promise<void> }[] = [];
  const keep = <Resource extends { close(): Promise<void> }>(resource: Resource): Resource => {
    kept.push(resource);
    return resource;
  };
  const context = { dirs: { data }, log: pino({ level: 'silent' }), keep, now: Date.now, monotonicNow: Date.now };
  const boxes = await openKnownBoxes(context as unknown as Parameters<typeof openKnownBoxes>[0]);
  return { boxes, close: () => Promise.all(kept.map((each) => each.close())) };
};

test('it is forgotten after a week where all boxes are switched off each night', async () => {
  fakeClock();
  const data = temporaryFolder();
  const first = await openAt(data);
  first.boxes.add(known);
  await first.close();
  const counts: number[] = [];
  for (let day = 0; day < 9; day += 1) {
    const { boxes, close } = await openAt(data);
    const site = { site: 'default', staticPeers: [], known: boxes.list(), caller: silent };
    const registry = createRegistry(dayLong(), site);
    registry.onReachabilityChange(() => boxes.keepOnly(registry.all()));
    registry.start(8080);
    await vi.advanceTimersByTimeAsync(14 * 3_600_000);
    counts.push(registry.all().length);
    registry.close();
    await close();
    vi.setSystemTime(Date.now() + 10 * 3_600_000);
  }
  expect(counts).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 0]);
});

const [day, today] = [24 * 3_600_000, Date.UTC(2026, 6, 1)];

test.each([
  ['has not answered for a week', today, today + 7 * day, today + 7 * day, 0],
  ['has not, by a clock that was never set', today, Date.UTC(1970, 0, 1), today + day, 1],
  ['answered by a clock that was never set', Date.UTC(1970, 0, 1), today, today + 6 * day, 1],
  ['answered so, and then not for a week', Date.UTC(1970, 0, 1), today, today + 7 * day, 0],
  ['answered by a clock that was ahead', Date.UTC(2036, 0, 1), today, today + 6 * day, 1],
  ['answered so, and then not for a week', Date.UTC(2036, 0, 1), today, today + 7 * day, 0],
])('a start knows a box for a week, where it %s', async (_, answeredAt, startedAt, startedAgainAt, count) => {
  fakeClock();
  const data = temporaryFolder();
  const first = await openAt(data, answeredAt);
  first.boxes.add(known);
  await first.close();
  await (await openAt(data, startedAt)).close();
  await (await openAt(data, startedAgainAt)).close();
  const { boxes, close } = await openAt(data, startedAgainAt);
  expect(boxes.list()).toHaveLength(count);
  await close();
});

test('a box that does not come back with the others after a long closure is named', async () => {
  fakeClock();
  const data = temporaryFolder();
  const before = await openAt(data, today);
  before.boxes.add(known);
  await before.close();
  const { boxes, close } = await openAt(data, today + 42 * day);
  expect(boxes.list()).toMatchObject([known]);
  await close();
});

test('a box that answers stays known, and its new date is stored once an hour', async () => {
  fakeClock();
  const data = temporaryFolder();
  const first = await openAt(data, today);
  for (let minute = 0; minute < 8 * 24 * 60; minute += 10) {
    vi.setSystemTime(today + minute * 60_000);
    first.boxes.add(known);
  }
  await first.close();
  const { boxes, close } = await openAt(data, today + 14 * day);
  expect(boxes.list()).toMatchObject([known]);
  await close();
});
