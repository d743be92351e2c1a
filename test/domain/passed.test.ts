import { expect, test } from 'vitest';
import { hasPassed } from '../../service/domain/has-passed.ts';
import { createOver } from '../../service/domain/over.ts';

const NOW = Date.parse('2026-01-31T08:00:00.000Z');
const MINUTE = 60_000;
const learned = { at: NOW, monotonic: 1_000 };
const later = (minutes: number, stepMinutes = 0) => ({
  at: NOW + (minutes + stepMinutes) * MINUTE,
  monotonic: 1_000 + minutes * MINUTE,
});

test.each([
  ['after it', later(61), 60, true],
  ['not before it', later(59), 60, false],
  ['not if the clock was set by two hours meanwhile', later(1, 120), 60, false],
  ['although the clock moved by half a minute', later(60.2, 0.5), 60, true],
  ['not if the clock said so when it became known', later(61), -1, false],
])('an end has passed: %s', (_, current, minutes, expected) => {
  expect(hasPassed(NOW + minutes * MINUTE, learned, current)).toBe(expected);
});

test('what is over stays over, by a clock that can be relied on or by time that has passed', () => {
  const over = createOver([]);
  const ends = new Map([['lift', NOW + 60 * MINUTE]]);
  expect(over.look(ends, learned, false)).toBe(false);
  // A clock that was only set says nothing.
  expect([over.look(ends, later(1, 120), false), over.has('lift')]).toEqual([false, false]);
  expect([over.look(ends, later(61), false), over.has('lift')]).toEqual([true, true]);
  expect([over.look(ends, later(62, -120), true), over.has('lift')]).toEqual([false, true]);
  expect(createOver(over.all()).has('lift')).toBe(true);

  const sure = createOver([]);
  expect([sure.look(ends, later(1, 120), true), sure.has('lift')]).toEqual([true, true]);
  // Another one has no mark, and what is gone needs none.
  expect([sure.look(new Map([['exit', NOW + MINUTE]]), learned, true), sure.has('lift')]).toEqual([true, false]);
});

test('the newest marks of what is gone are kept where another box may bring it back', () => {
  const over = createOver([], 2);
  for (const key of ['first', 'second', 'third', 'fourth']) over.look(new Map([[key, NOW - MINUTE]]), learned, true);
  expect([...over.all()]).toEqual(['second', 'third', 'fourth']);
  expect(over.look(new Map([['third', NOW - MINUTE]]), later(1, -120), true)).toBe(false);
  expect(over.has('third')).toBe(true);
});

test('by another clock, what is over is learned again', () => {
  const over = createOver([]);
  const ends = new Map([['lift', NOW + 60 * MINUTE]]);
  over.look(ends, learned, false);
  over.relearn();
  expect([over.look(ends, later(61), false), over.has('lift')]).toEqual([false, false]);
});
