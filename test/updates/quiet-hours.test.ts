import { expect, test } from 'vitest';
import { isBetween, minutesOf } from '../../main/updates/updates.ts';

test.each([
  ['03:00', '05:00', '04:00', true],
  ['03:00', '05:00', '05:00', false],
  ['22:00', '02:00', '23:30', true],
  ['22:00', '02:00', '01:59', true],
  ['22:00', '02:00', '12:00', false],
  ['00:00', '00:00', '12:00', true],
])('from %s until %s holds %s: %s', (from, until, time, expected) => {
  expect(isBetween(minutesOf(time), minutesOf(from), minutesOf(until))).toBe(expected);
});
