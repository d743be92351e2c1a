/** Bytes a second that an upload must keep up, on the average of {@link span} seconds. */
const leastRate = 16 * 1024;
const span = 10;

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
      if (seconds < span) return false;
      const tooSlow = bytes < leastRate * span;
      bytes = 0;
      seconds = 0;
      return tooSlow;
    },
  };
};
