/** Boxes that answer late, as on a weak network, get fewer requests until they answer in time. */
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import type { Caller } from '../../service/peers/call.ts';
import { createWindow } from '../../service/peers/prober.ts';
import { createRegistry } from '../../service/peers/registry.ts';
import { emptyPeerState, unitContext } from './support.ts';

test.each([
  ['is full at first', [], 0, 8],
  ['is halved by an answer that is late', [0], 0, 4],
  ['is halved once by many that are late together', [0, 1, 2, 999], 999, 4.2],
  ['is halved again by one that is late after a second', [0, 1_000], 1_000, 2.1],
  ['is never less than an eighth', [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000], 8_000, 0.21],
  ['grows by one in five seconds', [0], 5_000, 5],
  ['is never more than full', [0], 60_000, 8],
])('the window %s', (_, late, now, expected) => {
  const window = createWindow();
  for (const at of late) window.late(at);
  expect(window.size(now)).toBeCloseTo(expected, 1);
});

const COUNT = 100;

/** A registry that knows a hundred boxes; `lan.fault` says how their answers fail, by fake timers. */
const createSite = async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const boxes = new Map(Array.from({ length: COUNT }, (_, n) => [`http://192.0.2.${n + 1}:8080`, randomUUID()]));
  const lan = {
    fault: null as 'busy' | 'off' | 'refused' | null,
    asked: 0,
    questions: 0,
    answering: null as string | null,
  };
  const call = async (url: string) => {
    lan.asked += 1;
    const fault = url === lan.answering ? null : lan.fault;
    if (fault === 'busy' || fault === 'off') await new Promise((resolve) => setTimeout(resolve, 1_000));
    const nodeId = boxes.get(url) ?? '';
    const failure = { ok: false as const, status: null, code: null, reason: `is ${fault}`, answered: false };
    if (fault === 'refused') return failure;
    if (fault !== null)
      return { ...failure, isLate: true as const, ...(fault === 'busy' && { isConnected: true as const }) };
    return { ok: true as const, status: 200, body: { ...emptyPeerState, nodeId, instance: nodeId }, address: '' };
  };
  const registry = createRegistry(unitContext(), {
    site: emptyPeerState.site,
    staticPeers: [],
    caller: { call, close: () => {} } as unknown as Caller,
    isReachedByOthers: async () => {
      lan.questions += 1;
      return false;
    },
  });
  onTestFinished(registry.close);
  registry.start(8080);
  for (const url of boxes.keys()) registry.addCandidate(url, 'discovered');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(registry.alive()).toHaveLength(COUNT);
  /** Lets the time pass. @returns how many requests were sent in it */
  const during = async (ms: number): Promise<number> => {
    const before = lan.asked;
    await vi.advanceTimersByTimeAsync(ms);
    return lan.asked - before;
  };
  /** Calls all boxes once, as a command does. */
  const callAll = async (): Promise<void> => {
    const calls = [...boxes.values()].map((nodeId) => registry.call({ nodeId }, { path: '/', schema: z.unknown() }));
    await vi.advanceTimersByTimeAsync(2_000);
    await Promise.all(calls);
  };
  return { lan, registry, callAll, during };
};

test('boxes that are all busy are tried one at a time, few others are asked about them, and all are back once they answer', async () => {
  const { lan, registry, callAll, during } = await createSite();
  lan.fault = 'busy';
  await callAll();
  expect(registry.alive()).toEqual([]);
  await during(10_000);
  expect(await during(60_000)).toBeLessThanOrEqual(61);
  // At most three in ten seconds.
  expect(lan.questions).toBeLessThanOrEqual(24);
  expect(registry.health().every(({ state }) => state === 'away')).toBe(true);

  lan.fault = null;
  await during(35_000);
  expect(registry.alive()).toHaveLength(COUNT);
});

test('boxes that refuse at once are all tried again', async () => {
  const { lan, registry, callAll, during } = await createSite();
  lan.fault = 'refused';
  await callAll();
  expect(registry.alive()).toEqual([]);
  // Each at least twice a minute.
  expect(await during(60_000)).toBeGreaterThanOrEqual(2 * COUNT);
});

test('a box that makes contact is tried at once, however many are late', async () => {
  const { lan, registry, callAll, during } = await createSite();
  lan.fault = 'busy';
  await callAll();
  await during(60_000);
  lan.fault = null;
  const { nodeId } = registry.health().find(({ url }) => url === 'http://192.0.2.1:8080') as { nodeId: string };
  registry.onContact(nodeId, '192.0.2.1', 8080, false);
  await during(1_001);
  expect(registry.alive().map((each) => each.nodeId)).toContain(nodeId);
});

test('beside a hundred boxes that are off, one that was late once is back in a second', async () => {
  const { lan, registry, callAll, during } = await createSite();
  lan.fault = 'off';
  await callAll();
  await during(60_000);
  lan.answering = 'http://192.0.2.9:8080';
  await during(35_000);
  const [back] = registry.alive();
  expect(back?.url).toBe(lan.answering);
  lan.answering = null;
  const call = registry.call({ nodeId: back?.nodeId ?? '' }, { path: '/', schema: z.unknown() });
  await during(1_000);
  expect((await call).ok).toBe(false);
  expect(registry.alive()).toEqual([]);
  lan.answering = back?.url ?? null;
  await during(1_500);
  expect(registry.alive()).toHaveLength(1);
});

test('a hundred boxes that lose power are all found by what others report of them', async () => {
  const { lan, registry, during } = await createSite();
  lan.fault = 'off';
  await during(6_000);
  for (let second = 0; second < 30; second++) {
    for (const { nodeId } of registry.alive()) void registry.verify(nodeId);
    await during(1_000);
  }
  expect(registry.alive()).toEqual([]);
});

test('whether a box is reached is not known where it could not be probed', async () => {
  const { lan, registry, during } = await createSite();
  lan.fault = 'off';
  await during(6_000);
  const reached = registry.alive().map(({ nodeId }) => registry.verify(nodeId));
  await during(2_000);
  expect(new Set(await Promise.all(reached))).toEqual(new Set([false, null]));
});
