import { expect, test } from 'vitest';
import { isOpen } from '../../service/domain/opening-hours.ts';

test('a clock that was never set closes nothing, and a right one does', () => {
  const hours = [{ open: '08:00', close: '20:00' }];
  const at = (...date: [number, number, number, number]): boolean => isOpen(hours, Date.UTC(...date), 'UTC');
  expect([at(1970, 0, 1, 3), at(2026, 10, 28, 3), at(2026, 10, 28, 9)]).toEqual([true, false, true]);
});
