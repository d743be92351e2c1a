/** Rates of events and of bytes. Pure; time is an argument. */
import { remember } from './collections.ts';

/** At most `limit` events within any `windowMs`, exactly. */
export const createRate = (limit: number, windowMs: number) => {
  /** Times of the events in the window, ms; oldest first. */
  const times: number[] = [];
  const drop = (now: number): void => {
    while (times[0] !== undefined && now - times[0] >= windowMs) times.shift();
  };

  return {
    /** The events that are counted. */
    count(now: number): number {
      drop(now);
      return times.length;
    },
    /** Counts an event, unless the limit is reached. @returns whether it was counted */
    take(now: number): boolean {
      drop(now);
      if (times.length >= limit) return false;
      times.push(now);
      return true;
    },
    /** Takes back an event that was counted at that time. */
    giveBack(at: number): void {
      const index = times.lastIndexOf(at);
      if (index !== -1) times.splice(index, 1);
    },
    /** How long it takes until an event is counted again, ms; 0: at once. */
    wait(now: number): number {
      const oldest = times.length < limit ? undefined : times[times.length - limit];
      return oldest === undefined ? 0 : Math.max(0, oldest + windowMs - now);
    },
  };
};

/** A rate for each key; beyond `most` keys, that of the key that was asked for the longest ago is forgotten. */
export const createRates = (limit: number, windowMs: number, most: number) => {
  const rates = new Map<string, ReturnType<typeof createRate>>();
  return (key: string) => {
    const rate = rates.get(key) ?? createRate(limit, windowMs);
    remember(rates, key, rate, most);
    return rate;
  };
};

/** Long transfers average `bytesPerSecond` at most; a pause earns no credit. */
export const createByteRate = (bytesPerSecond: number) => {
  let freeAt = Number.NEGATIVE_INFINITY;
  return {
    /** Accounts for bytes that have arrived. @returns ms to wait until the next ones are read */
    take: (bytes: number, now: number): number => {
      freeAt = Math.max(freeAt, now) + (bytes / bytesPerSecond) * 1_000;
      return freeAt - now;
    },
  };
};
