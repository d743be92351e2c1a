import fc from 'fast-check';
import { expect, test } from 'vitest';
import { closed, failed, isOpen } from '../../service/peers/addresses.ts';
import { defaultTempo } from '../../service/tempo.ts';

const tempo = defaultTempo.peers;

test('an address that answers is probed without a pause', () => {
  expect(isOpen(closed)).toBe(false);
});

test('each failure in a row is followed by a random pause of 0.5 to 30 s from a growing range', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), fc.double({ min: 0, max: 1, noNaN: true }), (times, random) => {
      const now = 12_345;
      let breaker = closed;
      for (let n = 0; n < times; n++) breaker = failed(breaker, now, random, tempo);
      const pause = breaker.retryAt - now;
      expect(isOpen(breaker)).toBe(true);
      expect(pause).toBeGreaterThanOrEqual(500);
      expect(pause).toBeLessThanOrEqual(Math.min(30_000, 500 * 2 ** times));
    }),
  );
});

test.each([
  [1, 1_000],
  [2, 2_000],
  [6, 30_000],
  [5_000, 30_000],
])('the %i. pause is at most %i ms, and can be that long', (times, longest) => {
  let breaker = closed;
  for (let n = 0; n < times; n++) breaker = failed(breaker, 0, 1, tempo);
  expect(breaker.retryAt).toBe(longest);
});
