/** From when to when a takeover lasts that the command line starts. */
import { expect, test } from 'vitest';
import { takeoverTimes } from '../../service/cli/takeover-times.ts';
import { takeoverOf } from '../../service/console/takeovers.ts';

const dayMs = 86_400_000;
const now = Date.parse('2026-11-27T12:00:00Z');
const at = (ms: number): string => new Date(ms).toISOString();

test.each([
  ['a short one starts when the box takes it', 60_000, undefined, { until: at(now + 60_000) }],
  [
    'the longest starts a little before',
    31 * dayMs,
    undefined,
    { from: at(now - 60_000), until: at(now + 31 * dayMs - 60_000) },
  ],
  ['one of nearly so long is not shorter', 31 * dayMs - 60_000, undefined, { until: at(now + 31 * dayMs - 60_000) }],
  [
    'one that is to come has both',
    31 * dayMs,
    new Date(now + dayMs),
    { from: at(now + dayMs), until: at(now + 32 * dayMs) },
  ],
])('%s', (_, lengthMs, from, times) => {
  expect(takeoverTimes(now, lengthMs, from)).toEqual(times);
});

test('a box takes it, though its clock is up to a minute behind or ahead of what is known of it', () => {
  const request = { targets: ['all'], level: 'info', title: 'Lift' } as const;
  for (const lengthMs of [31 * dayMs, 31 * dayMs - 30_000, 31 * dayMs - 60_000, 120_000]) {
    for (const off of [-60_000, -1, 0, 1, 60_000]) {
      const taken = () =>
        takeoverOf('lift', { ...request, targets: ['all'], ...takeoverTimes(now, lengthMs) }, [], now + off);
      expect(taken).not.toThrow();
    }
  }
});
