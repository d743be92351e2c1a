/** What an upload must keep up, on the average of {@link SPAN_SECONDS}. */
const LEAST_BYTES_PER_SECOND = 16 * 1024;
const SPAN_SECONDS = 10;

/**
 * The least rate of an upload. Only seconds spent waiting for the client count, so that a slow disk is never held
 * against it.
 */
export const createPace = () => {
  let bytes = 0;
  let seconds = 0;
  return {
    arrived(count: number): void {
      bytes += count;
    },
    /** To be called each second; true once the client is too slow. */
    tick(waiting: boolean): boolean {
      if (waiting) seconds += 1;
      if (seconds < SPAN_SECONDS) return false;
      const tooSlow = bytes < LEAST_BYTES_PER_SECOND * SPAN_SECONDS;
      bytes = 0;
      seconds = 0;
      return tooSlow;
    },
  };
};
