/**
 * Two readings of time: `elapsed` never jumps and measures how long slides are on; `now` is the time of day by the
 * service's clock and decides what is on schedule, whatever this machine's own clock says.
 */
export interface Clock {
  /** Milliseconds since some fixed moment. */
  elapsed(): number;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Takes the service's time, where it is off by more than `tolerance` ms. */
  set(serverTime: number, tolerance: number): void;
}

export const createClock = (): Clock => {
  const elapsed = () => performance.now();
  let offset: number | null = null;
  const now = () => (offset === null ? Date.now() : elapsed() + offset);
  return {
    elapsed,
    now,
    set: (serverTime, tolerance) => {
      if (offset === null || Math.abs(now() - serverTime) > tolerance) offset = serverTime - elapsed();
    },
  };
};
