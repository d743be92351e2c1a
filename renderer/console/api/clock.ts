/** Estimates the clock of the box. */
import { type ReadonlySignal, signal } from '@preact/signals';

export type BoxClock = ReturnType<typeof createBoxClock>;

/** Clocks that differ by less are taken for equal. */
const TOLERANCE_MS = 60_000;

export const createBoxClock = (now: () => number = Date.now) => {
  let signingOffset = 0;
  const difference = signal(0);
  const observe = (offset: number): void => {
    const next = Math.abs(offset) < TOLERANCE_MS ? 0 : offset;
    // Whole seconds and the way through the network move it a little all the time.
    if (Math.abs(next - difference.value) > 2_000 || next === 0) difference.value = next;
  };
  return {
    /** Milliseconds since the epoch by the box's clock, to sign with: only an authenticated reading moves it. */
    signingTime: (): number => now() + signingOffset,
    /** The same for display; moved by any answer. */
    now: (): number => now() + difference.value,
    /** By how much the box is ahead of this machine, ms; within a minute counts as 0. */
    difference: difference as ReadonlySignal<number>,
    /** Adds an authenticated reading. */
    set: (time: number): void => {
      signingOffset = time - now();
      observe(signingOffset);
    },
    /** Adds a reading that nothing proves, only for display; NaN: there is none. */
    observe: (time: number): void => {
      if (!Number.isNaN(time)) observe(time - now());
    },
  };
};
