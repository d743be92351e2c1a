/** Whether the end of something has passed, if nothing tells whether the clock is right. Pure. */
import type { EpochMs, MonotonicMs } from './time.ts';

/** A moment, by a clock that may be set and by one that is not. */
export interface Moment {
  at: EpochMs;
  monotonic: MonotonicMs;
}

/** A clock that moved by more against monotonic time was set. */
const STEP_MS = 60_000;

/**
 * Whether the end has passed in the time between two moments, and the clock was not set meanwhile.
 * @param learned when the end became known
 */
export const hasPassed = (end: EpochMs, learned: Moment, { at, monotonic }: Moment): boolean => {
  const step = Math.abs(at - monotonic - (learned.at - learned.monotonic));
  return (
    learned.at < end && end <= at && step <= STEP_MS && monotonic - learned.monotonic >= end - learned.at - STEP_MS
  );
};
