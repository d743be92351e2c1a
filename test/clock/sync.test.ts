/** A box and another one whose time of day is a year ahead, by fake timers. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSync } from '../../service/clock/sync.ts';
import type { Peers } from '../../service/peers/index.ts';
import { unitContext } from '../peers/support.ts';
import { testTempo } from '../support/tempo.ts';

const YEAR = 365 * 86_400_000;
const wrongId = '00000000-0000-4000-8000-000000000000';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const openSync = (isSynchronized: () => boolean) => {
  let isThere = true;
  const peers = {
    alive: () => (isThere ? [{ nodeId: wrongId }] : []),
    ask: async () => {
      const time = Date.now() + YEAR;
      return { ok: true, body: { nodeId: wrongId, established: true, received: time, sent: time, wall: time } };
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

test('a time server confirms no time that a box has from another one', async () => {
  const { sync, ahead } = openSync(() => true);
  await vi.advanceTimersByTimeAsync(5_000);
  expect([sync.isEstablished(), ahead(), sync.isConfirmed()]).toEqual([true, 365, false]);
  sync.close();
});

test('a box that follows a time server takes its own time once the other one is gone', async () => {
  const { sync, leave, ahead } = openSync(() => true);
  await vi.advanceTimersByTimeAsync(5_000);
  leave();
  await vi.advanceTimersByTimeAsync(5_000);
  expect([ahead(), sync.isConfirmed(), sync.notes()]).toEqual([0, true, []]);
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
