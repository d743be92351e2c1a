/** What is over stays over, even if the clock is set back. Pure: times are arguments. */
import { hasPassed, type Moment } from './has-passed.ts';
import type { EpochMs } from './time.ts';

/**
 * @param marked what was over before, by key
 * @param kept how many marks of what is gone stay, the newest: another box may bring it back
 */
export const createOver = (marked: Iterable<string>, kept = 0) => {
  const over = new Set(marked);
  /** When it was first seen, by key. */
  const learned = new Map<string, Moment>();

  return {
    has: (key: string): boolean => over.has(key),
    all: (): Set<string> => new Set(over),
    /**
     * Marks what is over: by a clock that can be relied on, or because the time until its end has passed since it was learned.
     * @param ends all that there is, by key; of what is not there any more, all marks but `kept` are dropped
     * @returns whether a mark was added or dropped
     */
    look: (ends: ReadonlyMap<string, EpochMs>, current: Moment, isConfirmed: boolean): boolean => {
      let isChanged = false;
      const gone = [...over].filter((key) => !ends.has(key));
      for (const key of gone.slice(0, Math.max(0, gone.length - kept))) isChanged = over.delete(key);
      for (const key of learned.keys()) if (!ends.has(key)) learned.delete(key);
      for (const [key, end] of ends) {
        const since = learned.get(key) ?? current;
        learned.set(key, since);
        if (over.has(key) || end > current.at || !(isConfirmed || hasPassed(end, since, current))) continue;
        over.add(key);
        isChanged = true;
      }
      return isChanged;
    },
    /** Has all be learned again, by another clock. */
    relearn: (): void => learned.clear(),
  };
};
