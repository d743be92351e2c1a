/** The clock of the hub, as a box estimates it. */
import { expect, test } from 'vitest';
import { createFleetClock } from '../../service/fleet/status.ts';

test('the clock of the box counts until the hub has dated an event, then that of the hub', () => {
  let monotonic = 1_000;
  const clock = createFleetClock({ now: () => 5, monotonicNow: () => monotonic });
  expect(clock.now()).toBe(5);
  clock.observe(70_000, 900, 1_000);
  expect(clock.now()).toBe(70_050);
  monotonic += 60_000;
  expect(clock.now()).toBe(130_050);
});

test('a slow answer does not replace an estimate that it agrees with, and one that contradicts it does', () => {
  const clock = createFleetClock({ now: () => 0, monotonicNow: () => 0 });
  clock.observe(1_000_010, 0, 20);
  clock.observe(1_006_000, 5_000, 9_000);
  expect(clock.now()).toBe(1_000_000);
  // The machine was suspended, or the hub has another clock.
  clock.observe(2_010_010, 10_000, 10_020);
  expect(clock.now()).toBe(2_000_000);
});
