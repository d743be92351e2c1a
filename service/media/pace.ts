/** The minimum rate of an upload, averaged over {@link SPAN_SECONDS}. */
const MIN_BYTES_PER_SECOND = 16 * 1024;
const SPAN_SECONDS = 10;

/** Enforces the minimum rate. Only seconds spent waiting for the client count, so that a slow disk is not its fault. */
export const createPace = () => {
  let bytes = 0;
  let seconds = 0;
  return {
    arrived(count: number): void {
      bytes += count;
    },
    /** Call once a second; returns true once the client is too slow. */
    tick(waiting: boolean): boolean {
      if (waiting) seconds += 1;
      if (seconds < SPAN_SECONDS) return false;
      const tooSlow = bytes < MIN_BYTES_PER_SECOND * SPAN_SECONDS;
      bytes = 0;
      seconds = 0;
      return tooSlow;
    },
  };
};
