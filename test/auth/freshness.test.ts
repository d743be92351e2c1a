import fc from 'fast-check';
import { expect, test } from 'vitest';
import { freshMs, oldestFresh } from '../../service/auth/freshness.ts';

const noon = Date.UTC(2026, 0, 1, 12);
const hour = 3_600_000;

test.each([
  ['at the start, nothing before it', noon, noon, 0, noon],
  ['soon after, still nothing before the start', noon, noon + 1000, 1000, noon],
  ['later, the edge of the window', noon, noon + hour, hour, noon + hour - freshMs],
  ['a clock stepped on takes the start along', noon, noon + hour + 1000, 1000, noon + hour - 1],
  ['a small step back opens nothing', noon, noon - freshMs, 1000, noon],
  ['a large step back counts as a start', noon, noon - freshMs - 1, 1000, noon - freshMs - 1],
])('%s', (_, oldest, now, age, expected) => {
  expect(oldestFresh(oldest, now, age)).toBe(expected);
});

test('whatever the clock does, its own time is fresh again within the window', () => {
  const steps = fc.array(fc.record({ passed: fc.nat(hour), stepped: fc.integer({ min: -hour, max: hour }) }));
  fc.assert(
    fc.property(steps, (moves) => {
      let [oldest, now, age] = [noon, noon, 0];
      for (const { passed, stepped } of moves) {
        now += passed + stepped;
        age += passed;
        oldest = oldestFresh(oldest, now, age);
      }
      expect(oldest - now).toBeLessThanOrEqual(freshMs);
      expect(oldestFresh(oldest, now + freshMs, age + freshMs)).toBeLessThanOrEqual(now + freshMs);
    }),
  );
});

test('the rounding of two clocks moves nothing', () => {
  const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fraction, fraction, fc.nat(freshMs - 2), (startedAt, elapsed, ms) => {
      const age = ms + elapsed;
      expect(oldestFresh(noon, Math.floor(noon + startedAt + age), age)).toBe(noon);
    }),
  );
});

test('without steps, it never moves back and stands at the start or at the edge of the window', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(freshMs)), (pauses) => {
      let [oldest, age] = [noon, 0];
      for (const pause of pauses) {
        age += pause;
        oldest = oldestFresh(oldest, noon + age, age);
        expect(oldest).toBe(noon + Math.max(0, age - freshMs));
      }
    }),
  );
});
