/** Slides that failed are skipped for a while; longer after each failure in a row. */
import type { Slide } from '../../service/contract/playlist.ts';
import { cooldownMs } from './timeline.ts';

export interface Cooldowns {
  /** Starts a cooldown for a slide that failed; returns its number of failures in a row. */
  start(slide: Slide): number;
  isOver(slideId: string): boolean;
  /** Resets the failures of a slide that was shown without an error. */
  reset(slideId: string): void;
  /** Ends all cooldowns and resets all failures. */
  clear(): void;
  /** When the cooldowns end, by the same clock. */
  ends(): number[];
}

/** @param elapsed reads a monotonic clock, in ms */
export const createCooldowns = (elapsed: () => number): Cooldowns => {
  const entries = new Map<string, { failures: number; until: number }>();
  return {
    start: ({ id, kind }) => {
      const failures = (entries.get(id)?.failures ?? 0) + 1;
      entries.set(id, { failures, until: elapsed() + cooldownMs(kind, failures) });
      return failures;
    },
    isOver: (slideId) => elapsed() >= (entries.get(slideId)?.until ?? 0),
    reset: (slideId) => void entries.delete(slideId),
    clear: () => entries.clear(),
    ends: () => [...entries.values()].map(({ until }) => until),
  };
};
