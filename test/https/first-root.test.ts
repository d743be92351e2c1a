/** The first root of a site is made by a clock that no box contradicts, however many there are. */
import pino from 'pino';
import { expect, test, vi } from 'vitest';
import { createFirstRoot } from '../../service/https/first-root.ts';
import { testTempo } from '../support/tempo.ts';

test.each([
  ['all of 45 boxes agree', 45, 0],
  ['the last of 45 boxes contradicts', 45, 90_000],
])('%s', async (_, count, off) => {
  const make = vi.fn(() => Promise.resolve());
  let [open, most, at] = [0, 0, 0];
  const alive = Array.from({ length: count }, (__, index) => ({ nodeId: `b${index}`, url: `http://b${index}` }));
  const peers = {
    alive: () => alive,
    catchUp: () => Promise.resolve(),
    ask: async ({ nodeId }: { nodeId: string }) => {
      open += 1;
      most = Math.max(most, open);
      await Promise.resolve();
      open -= 1;
      return { ok: true, body: { wall: 1_000_000 + (nodeId === `b${count - 1}` ? off : 0) } };
    },
  };
  const firstRoot = createFirstRoot(
    {
      options: { sharedSecret: 'a secret of this test' },
      ids: { nodeId: 'a' },
      now: () => 1_000_000,
      monotonicNow: () => at,
      tempo: testTempo,
      log: pino({ level: 'silent' }),
    } as unknown as Parameters<typeof createFirstRoot>[0],
    { authority: { current: () => null, clockFault: () => null, make }, peers: peers as never },
  );
  at = 3_600_000;
  await firstRoot.consider();
  expect(make).toHaveBeenCalledTimes(off === 0 ? 1 : 0);
  expect(firstRoot.issues().join()).toMatch(
    off === 0 ? /^$/ : new RegExp(`http://b${count - 1} differ by more than 60 s`),
  );
  expect(most).toBeLessThanOrEqual(20);
});
