/** Real boxes on loopback, whose times of day are an hour apart. */
import { expect, test } from 'vitest';
import type { Health } from '../../service/contract/health.ts';
import type { PeerTime } from '../../service/contract/peers.ts';
import { defaultTempo } from '../../service/tempo.ts';
import { startBox } from '../peers/support.ts';
import { patience } from '../support/observe.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { testTempo } from '../support/tempo.ts';

const HOUR = 3_600_000;

/** Two boxes that each establish a time of their own keep it: one that joins waits for the other on a busy machine, too. */
const joining = { ...testTempo, clock: { ...testTempo.clock, grace: defaultTempo.clock.grace } };

/** A box that knows these others, and whose time of day is off. */
const startBoxAt = (
  others: TestService[],
  offset: number,
  setup: { dataDir?: string; env?: Record<string, string> } = {},
) =>
  startBox(others, {
    wall: () => Date.now() + offset,
    tempo: others.length > 0 ? joining : testTempo,
    ...setup,
  });

const syncOf = async (box: TestService) => ((await (await box.get('/healthz')).json()) as Health).sync;
const nodeIdOf = async (box: TestService) => ((await (await box.get('/healthz')).json()) as Health).nodeId;
const isEstablished = async (box: TestService) => (await syncOf(box)).established;

/** What the site's time is ahead of this process's clock, by a box; and by how much that may be wrong. */
const timeOf = async (box: TestService): Promise<{ ahead: number; doubt: number }> => {
  const from = performance.now();
  const { received } = (await (await box.get('/api/peers/time')).json()) as PeerTime;
  const to = performance.now();
  return { ahead: received - (from + to) / 2, doubt: (to - from) / 2 };
};

/** How far apart the times of two boxes are at least, in ms. */
const apart = async (one: TestService, other: TestService): Promise<number> => {
  const [a, b] = [await timeOf(one), await timeOf(other)];
  return Math.max(0, Math.abs(a.ahead - b.ahead) - a.doubt - b.doubt);
};

const sameTime = (one: TestService, other: TestService) =>
  expect.poll(() => apart(one, other), patience).toBeLessThan(10);

test('boxes whose times of day are an hour apart have one time of the site: that of the lowest node id', async () => {
  const one = await startBoxAt([], 0);
  const two = await startBoxAt([one], HOUR);
  const three = await startBoxAt([one, two], -HOUR);
  const boxes = [one, two, three];
  for (const box of boxes) await expect.poll(() => isEstablished(box), patience).toBe(true);
  await sameTime(one, two);
  await sameTime(one, three);
  const ids = await Promise.all(boxes.map(nodeIdOf));
  const lowest = ids.toSorted()[0];
  for (const box of boxes) await expect.poll(async () => (await syncOf(box)).reference, patience).toBe(lowest);
  const roundTrips = await Promise.all(boxes.map(async (box) => (await syncOf(box)).roundTrip));
  expect(roundTrips.filter((roundTrip) => roundTrip === null)).toHaveLength(1);
});

test('a box that comes back takes the time from the others, and then gives it, without a jump', async () => {
  const dataDir = temporaryFolder();
  const first = await startBoxAt([], 0, { dataDir });
  const second = await startBoxAt([first], HOUR);
  const [leaves, stays] = (await nodeIdOf(first)) < (await nodeIdOf(second)) ? [first, second] : [second, first];
  for (const box of [first, second]) await expect.poll(() => isEstablished(box), patience).toBe(true);
  await sameTime(first, second);
  const before = await timeOf(stays);
  const own = leaves === first ? 0 : HOUR;
  await leaves.close();
  await expect.poll(async () => (await syncOf(stays)).reference, patience).toBe(await nodeIdOf(stays));
  // It comes back with a time of day that no other box has, so that no majority steps the time of the site.
  const back = await startBoxAt([stays], own + 2 * HOUR, { dataDir: leaves.dataDir });
  await expect.poll(() => isEstablished(back), patience).toBe(true);
  await expect.poll(async () => (await syncOf(stays)).reference, patience).toBe(await nodeIdOf(back));
  await sameTime(back, stays);
  const after = await timeOf(stays);
  expect(Math.abs(after.ahead - before.ahead)).toBeLessThan(before.doubt + after.doubt + 250);
});

test('only a signed request is told the time, where a secret is set', async () => {
  const env = { SIGNAGE_SHARED_SECRET: 'a secret of some length' };
  const one = await startBoxAt([], 0, { env });
  const two = await startBoxAt([one], HOUR, { env });
  expect((await one.get('/api/peers/time')).status).toBe(401);
  const references = async () => new Set([(await syncOf(one)).reference, (await syncOf(two)).reference]).size;
  await expect.poll(() => isEstablished(two), patience).toBe(true);
  await expect.poll(references, patience).toBe(1);
});

test('the time is known nowhere in the baseline', async () => {
  const box = await startTestService({ content: { screens: [] }, env: { SIGNAGE_VARIANT: 'baseline' } });
  expect((await box.get('/api/peers/time')).status).toBe(404);
});
