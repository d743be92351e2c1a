/** Shares a byte rate among transfers. Pure; time is an argument, in ms. */

export interface ByteRate {
  /** Accounts for bytes that have arrived. @returns ms to wait until the next ones are read */
  take(bytes: number, now: number): number;
}

/** Long transfers average `bytesPerSecond` at most; a pause earns no credit. */
export const createByteRate = (bytesPerSecond: number): ByteRate => {
  let freeAt = Number.NEGATIVE_INFINITY;
  return {
    take: (bytes, now) => {
      freeAt = Math.max(freeAt, now) + (bytes / bytesPerSecond) * 1_000;
      return freeAt - now;
    },
  };
};
