/** Slides that failed are left out for a while; the longer, the more often in a row they did. */
import type { Slide } from '../../service/contract/playlist.ts';
import { restMs } from './timeline.ts';

export interface Rests {
  /** Begins a rest of a slide that failed; answers how often in a row it has. */
  begin(slide: Slide): number;
  isOver(slideId: string): boolean;
  /** The slide has been on without a fault, so that the next one is the first again. */
  forget(slideId: string): void;
  /** Every slide may have another try. */
  clear(): void;
  /** When rests end, by the same clock. */
  ends(): number[];
}

/** @param elapsed reads a clock that never jumps, in ms */
export const createRests = (elapsed: () => number): Rests => {
  const resting = new Map<string, { failures: number; until: number }>();
  return {
    begin: ({ id, kind }) => {
      const failures = (resting.get(id)?.failures ?? 0) + 1;
      resting.set(id, { failures, until: elapsed() + restMs(kind, failures) });
      return failures;
    },
    isOver: (slideId) => elapsed() >= (resting.get(slideId)?.until ?? 0),
    forget: (slideId) => void resting.delete(slideId),
    clear: () => resting.clear(),
    ends: () => [...resting.values()].map(({ until }) => until),
  };
};
