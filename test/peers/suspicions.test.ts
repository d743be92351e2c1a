import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import type { Caller } from '../../service/peers/call.ts';
import { createRegistry } from '../../service/peers/registry.ts';
import { createSuspicions } from '../../service/peers/suspicions.ts';
import { defaultTempo } from '../../service/tempo.ts';
import { emptyPeerState, unitContext } from './support.ts';

const box = '00000000-0000-4000-8000-000000000001';
const reason = 'cannot be reached (ECONNREFUSED)';

test('that others reach a box is said for as long as they do', async () => {
  let isThere = true;
  let now = 0;
  const away: string[] = [];
  const suspicions = createSuspicions(
    { monotonicNow: () => now, tempo: defaultTempo },
    {
      isReachedByOthers: async () => isThere,
      isCongested: () => false,
      onAway: (nodeId) => away.push(nodeId),
    },
  );
  suspicions.add(box);
  await pause(0);
  expect(suspicions.isPending(box)).toBe(true);
  now = 5_000;
  suspicions.poll();
  expect(away).toEqual([box]);
  expect(suspicions.explain(box, reason)).toBe(`${reason}, though other boxes reach it`);
  expect(suspicions.explain(box, null)).toBeNull();

  isThere = false;
  suspicions.add(box);
  await pause(0);
  expect(suspicions.explain(box, reason)).toBe(reason);
  expect(away).toEqual([box]);
});

test('of many boxes that do not answer few are asked about, and the rest are away after some seconds', async () => {
  let now = 0;
  let questions = 0;
  const away: string[] = [];
  const suspicions = createSuspicions(
    { monotonicNow: () => now, tempo: defaultTempo },
    {
      isReachedByOthers: async () => {
        questions += 1;
        return false;
      },
      isCongested: () => false,
      onAway: (nodeId) => away.push(nodeId),
    },
  );
  for (let count = 0; count < 50; count++) suspicions.add(`${box}${count}`);
  await pause(0);
  expect(questions).toBe(3);
  expect(away).toHaveLength(3);
  now = 4_999;
  suspicions.poll();
  expect(away).toHaveLength(3);
  now = 5_000;
  suspicions.poll();
  expect(away).toHaveLength(50);
});

test.each([
  ['nobody else was asked yet', null, 0, false],
  ['no other box reaches it', false, 0, true],
  ['others reach it', true, 4_000, false],
  ['others reach it, but this box has not for long', true, 5_000, true],
  ['the others did not answer', null, 5_000, true],
])('a box counts as away or not where %s', async (_, isReachedByOthers, after, expected) => {
  let now = 1_000;
  const away: string[] = [];
  const suspicions = createSuspicions(
    { monotonicNow: () => now, tempo: defaultTempo },
    {
      isReachedByOthers: async () => isReachedByOthers,
      isCongested: () => false,
      onAway: (nodeId) => away.push(nodeId),
    },
  );
  suspicions.add(box);
  now += after;
  await pause(0);
  suspicions.poll();
  expect(away.length === 1).toBe(expected);
});

/** A registry that knows one box, which does not answer the request that this sends; by fake timers. */
const createSuspecting = async (isReachedByOthers: boolean) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const url = 'http://192.0.2.7:8080';
  const state = { ...emptyPeerState, nodeId: randomUUID(), instance: 'other' };
  let isThere = true;
  const call = async () =>
    isThere
      ? { ok: true, status: 200, body: state, address: '' }
      : { ok: false, status: null, code: null, reason, answered: false };
  const lines: string[] = [];
  const logs = () => pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
  const registry = createRegistry(
    { ...unitContext(), logs },
    {
      site: state.site,
      staticPeers: [url],
      caller: { call, close: () => {} } as unknown as Caller,
      isReachedByOthers: async () => isReachedByOthers,
    },
  );
  onTestFinished(registry.close);
  registry.start(8080);
  await vi.advanceTimersByTimeAsync(1_000);
  isThere = false;
  await registry.call({ nodeId: state.nodeId }, { path: '/', schema: z.unknown() });
  return { registry, state, lines };
};

test.each([true, false])('a suspicion ends with an answer to gossip (others reach the box: %s)', async (isReached) => {
  const { registry, state, lines } = await createSuspecting(isReached);
  let changes = 0;
  registry.onReachabilityChange(() => {
    changes += 1;
  });
  expect(registry.health()).toMatchObject([{ state: isReached ? 'alive' : 'away' }]);
  registry.onGossipAnswer(state.nodeId, state.instance, state, 0);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(registry.health()).toMatchObject([{ state: 'alive', reason: null }]);
  expect([lines.length, changes]).toEqual(isReached ? [0, 0] : [1, 1]);
});
