import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEstimator, type Exchange, offsetAt, STEP_MS, steer } from '../../service/domain/clock-estimate.ts';

/** An exchange at `at`, with the other clock `offset` ahead, that takes `there` and `back` ms. */
const exchange = (at: number, offset: number, there: number, back: number): Exchange => ({
  t0: at,
  t1: at + there + offset,
  t2: at + there + offset + 0.2,
  t3: at + there + 0.2 + back,
});

const delay = fc.double({ min: 0.05, max: 80, noNaN: true });

describe('an estimate', () => {
  it('is off by half the smallest round trip at most, however long and lopsided the ways are', () => {
    const hour = 3_600_000;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(delay, delay), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: -hour, max: hour }),
        (ways, offset) => {
          const estimator = createEstimator();
          for (const [index, [there, back]] of ways.entries())
            estimator.add(exchange(index * 250, offset, there, back));
          const smallest = Math.min(...ways.map(([there, back]) => there + back));
          // A second of age is 0.05 ms of doubt, by which another may win.
          expect(Math.abs((estimator.best(2_000)?.offset ?? Number.NaN) - offset)).toBeLessThan(smallest / 2 + 0.2);
        },
      ),
    );
  });

  it('prefers the exchange that had the least time to be lopsided in', () => {
    const estimator = createEstimator();
    estimator.add(exchange(0, 1_000, 40, 2));
    estimator.add(exchange(250, 1_000, 1, 1.2));
    estimator.add(exchange(500, 1_000, 5, 60));
    expect(estimator.best(600)?.offset).toBeCloseTo(1_000, 0);
    expect(estimator.best(600)?.roundTrip).toBeCloseTo(2.2, 5);
    expect(estimator.count()).toBe(3);
  });

  it('keeps the exchange that was precise, however many slow ones follow', () => {
    const estimator = createEstimator();
    estimator.add(exchange(0, 1_000, 1, 1));
    for (let at = 4_000; at <= 100_000; at += 4_000) estimator.add(exchange(at, 1_000, 90, 2));
    expect(estimator.best(100_000)?.offset).toBeCloseTo(1_000, 0);
    expect(estimator.count()).toBe(8);
  });

  it('follows a clock that was set with its first exchange after that', () => {
    const estimator = createEstimator();
    for (const at of [0, 250, 500]) estimator.add(exchange(at, 0, 1, 1));
    estimator.add(exchange(750, 3_600_000, 5, 5));
    expect(estimator.best(800)?.offset).toBe(3_600_000);
    expect(estimator.count()).toBe(1);
  });

  it('follows clocks that part by 50 ppm, within a millisecond over an hour', () => {
    const estimator = createEstimator();
    for (let at = 0; at < 3_600_000; at += 4_000) {
      estimator.add(exchange(at, at * 0.000_05, 1, 1));
      expect(Math.abs((estimator.best(at)?.offset ?? Number.NaN) - at * 0.000_05)).toBeLessThan(2);
    }
  });

  it.each([
    ['is no number', { t0: 0, t1: Number.NaN, t2: 1, t3: 2 }],
    ['goes back in time', { t0: 10, t1: 0, t2: 0, t3: 5 }],
    ['was on its way for less than nothing', { t0: 0, t1: 100, t2: 150, t3: 10 }],
    ['took too long', { t0: 0, t1: 0, t2: 0, t3: 2_500 }],
  ])('does not count an exchange that %s', (_, impossible) => {
    const estimator = createEstimator();
    estimator.add(impossible);
    expect(estimator.best(0)).toBeNull();
  });
});

describe('a course', () => {
  const start = { at: 0, offset: 0, target: 0 };

  it('comes to its target, never faster than half a percent, and never goes back in time', () => {
    fc.assert(
      fc.property(fc.double({ min: -STEP_MS, max: STEP_MS, noNaN: true }), (target) => {
        const course = steer(start, target, 0);
        let before = offsetAt(course, 0);
        for (let at = 100; at <= 60_000; at += 100) {
          const offset = offsetAt(course, at);
          expect(Math.abs(offset - before)).toBeLessThanOrEqual(0.500_001);
          before = offset;
        }
        expect(before).toBeCloseTo(target, 9);
      }),
    );
  });

  it('has no jump where it is turned on its way', () => {
    const course = steer(start, 100, 0);
    const turned = steer(course, -100, 5_000);
    expect(offsetAt(turned, 5_000)).toBe(offsetAt(course, 5_000));
  });

  it('is set at once where the target is far off, or it is told', () => {
    expect(offsetAt(steer(start, STEP_MS + 1, 7), 7)).toBe(STEP_MS + 1);
    expect(offsetAt(steer(start, 3, 7, true), 7)).toBe(3);
  });
});
