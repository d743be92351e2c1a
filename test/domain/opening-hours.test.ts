import { expect, test } from 'vitest';
import { isOpen } from '../../service/domain/opening-hours.ts';

test('a clock that was never set closes nothing, and a right one does', () => {
  const hours = [{ open: '08:00', close: '20:00' }];
  const at = (...date: [number, number, number, number]): boolean => isOpen(hours, Date.UTC(...date), 'UTC');
  expect([at(1970, 0, 1, 3), at(2026, 10, 28, 3), at(2026, 10, 28, 9)]).toEqual([true, false, true]);
});

test.each([
  ['03:00', '05:00', '04:00', true],
  ['03:00', '05:00', '05:00', false],
  ['22:00', '02:00', '23:30', true],
  ['22:00', '02:00', '01:59', true],
  ['22:00', '02:00', '12:00', false],
  ['00:00', '00:00', '12:00', true],
])('from %s until %s holds %s: %s', (open, close, time, expected) => {
  expect(isOpen([{ open, close }], Date.parse(`2026-11-28T${time}Z`), 'UTC')).toBe(expected);
});
