/** At most `limit` events within any `windowMs`, exactly. */
export const createRate = (limit: number, windowMs: number) => {
  /** Times of the events in the window, ms; oldest first. */
  const times: number[] = [];

  return {
    /** Counts an event, unless the limit is reached. @returns whether it was counted */
    take(now: number): boolean {
      while (times[0] !== undefined && now - times[0] >= windowMs) times.shift();
      if (times.length >= limit) return false;
      times.push(now);
      return true;
    },
  };
};
