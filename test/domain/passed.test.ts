import { expect, test } from 'vitest';
import { hasPassed } from '../../service/domain/has-passed.ts';

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
