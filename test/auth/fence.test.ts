import fc from 'fast-check';
import { expect, test } from 'vitest';
import { advance, fenceAtStart } from '../../service/auth/fence.ts';

const start = Date.UTC(2026, 0, 1);
const saved = { spent: [], start, highest: start, unsavedMs: 0, latest: start, isSteppedBack: false };

test('times are whole milliseconds, as their file wants them, however the monotonic clock reads', () => {
  const reading = fc.record({
    step: fc.integer({ min: -1e9, max: 1e9 }),
    elapsed: fc.double({ min: 0, max: 1e6, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(reading, { minLength: 1, maxLength: 5 }), (readings) => {
      let fence = fenceAtStart(saved, start);
      let [now, age] = [start, 0];
      for (const { step, elapsed } of readings) {
        now += step;
        age += elapsed;
        fence = advance(fence, { now, elapsed, age, latest: start });
        const times = [fence.start, fence.highest, ...fence.spent.flatMap(({ from, to }) => [from, to])];
        expect(times.every(Number.isInteger)).toBe(true);
      }
    }),
  );
});
