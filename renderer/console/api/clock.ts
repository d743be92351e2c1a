/** Estimates the clock of the box. */
import { type ReadonlySignal, signal } from '@preact/signals';

export interface BoxClock {
  /** Milliseconds since the epoch by the box's clock, to sign with: only an authenticated reading moves it. */
  signingTime(): number;
  /** The same for display; moved by any answer. */
  now(): number;
  /** By how much the box is ahead of this machine, ms; within a minute counts as 0. */
  readonly difference: ReadonlySignal<number>;
  /** Adds an authenticated reading. */
  set(time: number): void;
  /** Adds a reading that nothing proves, only for display; NaN: there is none. */
  observe(time: number): void;
}

/** Clocks that differ by less are taken for equal. */
const TOLERANCE_MS = 60_000;

export const createBoxClock = (now: () => number = Date.now): BoxClock => {
  let signingOffset = 0;
  const difference = signal(0);
  const observe = (offset: number): void => {
    const next = Math.abs(offset) < TOLERANCE_MS ? 0 : offset;
    // Whole seconds and the way through the network move it a little all the time.
    if (Math.abs(next - difference.value) > 2_000 || next === 0) difference.value = next;
  };
  return {
    signingTime: () => now() + signingOffset,
    now: () => now() + difference.value,
    difference,
    set: (time) => {
      signingOffset = time - now();
      observe(signingOffset);
    },
    observe: (time) => {
      if (!Number.isNaN(time)) observe(time - now());
    },
  };
};
