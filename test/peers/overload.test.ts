/** A site that answers late, as many boxes on a weak network do: asking less of it until it answers again. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import type { Caller } from '../../service/peers/call.ts';
import { createRegistry } from '../../service/peers/registry.ts';
import { full, grown, halved } from '../../service/peers/window.ts';
import { emptyPeerState } from './support.ts';

test.each([
  ['is full at first', [], 8],
  ['is halved by one that is late', ['late'], 4],
  ['never ends', ['late', 'late', 'late', 'late', 'late'], 1],
  ['grows by one that answers', ['late', 'late', 'late', 'answer', 'answer'], 3],
  ['is never more than full', ['answer', 'answer', 'late', 'answer'], 5],
] as const)('the window %s', (_, events, expected) => {
  expect(events.reduce((size, event) => (event === 'late' ? halved(size) : grown(size)), full)).toBe(expected);
});

const COUNT = 100;

/** A registry that knows a hundred boxes; `lan.fault` says how their answers fail, by fake timers. */
const createSite = async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const boxes = new Map(Array.from({ length: COUNT }, (_, n) => [`http://192.0.2.${n + 1}:8080`, randomUUID()]));
  const lan = { fault: null as 'late' | 'refused' | null, asked: 0, questions: 0 };
  const call = async (url: string) => {
    lan.asked += 1;
    const { fault } = lan;
    if (fault === 'late') await new Promise((resolve) => setTimeout(resolve, 1_000));
    const nodeId = boxes.get(url) ?? '';
    const failure = { ok: false as const, status: null, code: null, reason: `is ${fault}`, answered: false };
    if (fault !== null) return fault === 'late' ? { ...failure, isLate: true as const } : failure;
    return { ok: true as const, status: 200, body: { ...emptyPeerState, nodeId, instance: nodeId }, address: '' };
  };
  const registry = createRegistry(
    {
      logs: () => pino({ level: 'silent' }),
      caller: { call, close: () => {} } as unknown as Caller,
      isReachedByOthers: async () => {
        lan.questions += 1;
        return false;
      },
      now: () => Date.now(),
      monotonicNow: () => Date.now(),
    },
    { nodeId: randomUUID(), instance: 'one', site: emptyPeerState.site, staticPeers: [] },
  );
  onTestFinished(registry.close);
  registry.start(8080);
  for (const url of boxes.keys()) registry.addCandidate(url, 'discovered');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(registry.alive()).toHaveLength(COUNT);
  /** Requests, of which there were as many in that time. */
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

test('boxes that all answer late are tried one at a time, few others are asked about them, and all are back once they answer', async () => {
  const { lan, registry, callAll, during } = await createSite();
  lan.fault = 'late';
  await callAll();
  expect(registry.alive()).toEqual([]);
  await during(10_000);
  expect(await during(60_000)).toBeLessThanOrEqual(61);
  expect(lan.questions).toBeLessThanOrEqual(3);
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
  lan.fault = 'late';
  await callAll();
  await during(60_000);
  lan.fault = null;
  const { nodeId } = registry.health().find(({ url }) => url === 'http://192.0.2.1:8080') as { nodeId: string };
  registry.onContact(nodeId, '192.0.2.1', 8080, false);
  await during(1_001);
  expect(registry.alive().map((each) => each.nodeId)).toContain(nodeId);
});
