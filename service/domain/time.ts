/** Points in time, and who tells them. Spans are plain numbers whose names end in `Ms` or `Seconds`. */

/** Milliseconds since the epoch, by a wall clock, which may step. */
export type EpochMs = number;

/** Milliseconds of a clock that is never set back; only differences mean anything. */
export type MonotonicMs = number;

export interface Clock {
  now(): EpochMs;
  monotonicNow(): MonotonicMs;
}

/** The clock of the machine. */
export const systemClock: Clock = { now: () => Date.now(), monotonicNow: () => performance.now() };
