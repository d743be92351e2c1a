/** The time that boxes come to, whose clocks differ; by fake timers. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createSync } from '../../service/clock/sync.ts';
import type { Peers } from '../../service/peers/index.ts';
import { defaultTempo } from '../../service/tempo.ts';
import { unitContext } from '../peers/support.ts';
import { testTempo } from '../support/tempo.ts';

const YEAR = 365 * 86_400_000;
const wrongId = '00000000-0000-4000-8000-000000000000';

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 11, 1) }));
afterEach(() => void vi.useRealTimers());

const openSync = (isSynchronized: () => boolean) => {
  let isThere = true;
  const peers = {
    alive: () => (isThere ? [{ nodeId: wrongId }] : []),
    ask: async () => {
      const time = Date.now() + YEAR;
      return {
        ok: true,
        body: { nodeId: wrongId, established: true, received: time, sent: time, wall: time, synchronized: false },
      };
    },
  };
  const { logs, ...context } = unitContext();
  const sync = createSync(
    { ...context, log: logs(), isSynchronized, tempo: testTempo },
    { peers: peers as unknown as Pick<Peers, 'alive' | 'ask'> },
  );
  sync.start();
  return {
    sync,
    leave: () => {
      isThere = false;
    },
    /** Days that the site's time is ahead of this box. */
    ahead: () => Math.round((sync.now() - Date.now()) / 86_400_000),
  };
};

test('a box that follows a time server goes by it, whatever a single other one says', async () => {
  const { sync, ahead } = openSync(() => true);
  await vi.advanceTimersByTimeAsync(5_000);
  expect([sync.isEstablished(), ahead(), sync.isConfirmed()]).toEqual([true, 0, true]);
  sync.close();
});

test('without a time server a box that is left alone keeps the time that it has followed', async () => {
  const { sync, leave, ahead } = openSync(() => false);
  await vi.advanceTimersByTimeAsync(5_000);
  leave();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([ahead(), sync.isConfirmed()]).toEqual([365, false]);
  sync.close();
});

describe('a site', () => {
  const DAY = 86_400_000;
  const idOf = (rank: number): string => `0000000${rank}-0000-4000-8000-000000000000`;
  const hour = () => vi.advanceTimersByTimeAsync(3_600_000);

  /** Boxes by their rank, that of the lowest id first. @param wall the clock of the box, of the time that it is */
  const openSite = () => {
    const boxes = new Map<string, ReturnType<typeof createSync>>();
    return (rank: number, wall: (time: number) => number, isSynchronized = false) => {
      const nodeId = idOf(rank);
      const peers = {
        alive: () => [...boxes.keys()].filter((id) => id !== nodeId).map((id) => ({ nodeId: id })),
        ask: async (peer: { nodeId: string }) => ({ ok: true, body: boxes.get(peer.nodeId)?.time() }),
      };
      const { logs, ...context } = unitContext();
      const clocks = {
        now: () => wall(Date.now()),
        monotonicNow: () => Date.now(),
        isSynchronized: () => isSynchronized,
      };
      const sync = createSync(
        { ...context, ...clocks, ids: { nodeId, instance: nodeId }, log: logs(), tempo: defaultTempo },
        { peers: peers as unknown as Pick<Peers, 'alive' | 'ask'> },
      );
      boxes.set(nodeId, sync);
      sync.start();
      return {
        isConfirmed: sync.isConfirmed,
        /** Days that the time is ahead by which schedules go. */
        ahead: () => Math.round((sync.timeOfDay() - Date.now()) / DAY),
        leave: () => {
          boxes.delete(nodeId);
          sync.close();
        },
      };
    };
  };
  const right = (time: number): number => time;
  const early = (time: number): number => time + 7 * DAY;
  const unset = (time: number): number => time % DAY;

  test.each([[[1, 2, 3]], [[3, 1, 2]], [[2, 1, 3]]])(
    'keeps the time that was agreed at a box that is left alone: ids %j',
    async (ids) => {
      const [first = 0, second = 0, third = 0] = ids;
      const start = openSite();
      const wrong = start(first, early);
      await hour();
      const others = [start(second, right), start(third, right)];
      await hour();
      expect(wrong.ahead()).toBe(0);
      for (const each of others) each.leave();
      await hour();
      expect(wrong.ahead()).toBe(0);
      wrong.leave();
    },
  );

  test('confirms nothing by a clock that was just set, and overrules one that is wrong within a second', async () => {
    const start = openSite();
    let wall = right;
    const boxes = [start(1, right), start(2, right), start(3, (time) => wall(time))];
    await hour();
    const [, , set] = boxes;
    wall = (time) => time + 100 * DAY;
    expect(set?.isConfirmed()).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([set?.ahead(), set?.isConfirmed()]).toEqual([0, true]);
    for (const each of boxes) each.leave();
  });

  test.each([[[1, 2]], [[2, 1]]])('keeps it where one is left with a box without a clock: ids %j', async (ids) => {
    const [first = 0, second = 0] = ids;
    const start = openSite();
    const others = [start(3, right), start(4, right)];
    await hour();
    const left = [start(first, early), start(second, unset)];
    await hour();
    for (const each of others) each.leave();
    await hour();
    expect(left.map((box) => box.ahead())).toEqual([0, 0]);
    for (const each of left) each.leave();
  });

  test.each([[[1, 2]], [[2, 1]]])('goes by the one box of two that follows a time server: ids %j', async (ids) => {
    const [first = 0, second = 0] = ids;
    const start = openSite();
    const wrong = start(first, early);
    await hour();
    const exact = start(second, right, true);
    await hour();
    expect([wrong.ahead(), exact.ahead()]).toEqual([0, 0]);
    for (const each of [wrong, exact]) each.leave();
  });

  test.each([[[1, 2]], [[2, 1]]])('goes by the one clock that was set: ids %j', async (ids) => {
    const [first = 0, second = 0] = ids;
    const start = openSite();
    const boxes = [start(first, right), start(second, unset)];
    await hour();
    expect(boxes.map((box) => box.ahead())).toEqual([0, 0]);
    for (const each of boxes) each.leave();
  });
});
