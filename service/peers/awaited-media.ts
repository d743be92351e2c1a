/**
 * Media that are still being replicated after the content that names them. A request for one waits, so that the slide is
 * not skipped for a whole loop.
 */

export interface AwaitedMedia {
  /** Called when the content has changed. */
  expect(): void;
  /** Called with the name of a medium that has arrived. */
  arrived(name: string): void;
  /** Resolves when the medium has arrived, is not expected, or after a time limit. */
  arrival(name: string): Promise<void>;
}

/** How long requests wait for media after a change of the content: published content is on all screens within 2 s. */
const FOLLOW_MS = 1_500;

/** @param isComing whether the content names the medium, and another box may have it */
export const createAwaitedMedia = (isComing: (name: string) => boolean): AwaitedMedia => {
  let until = Number.NEGATIVE_INFINITY;
  const waiting = new Map<string, Set<() => void>>();

  return {
    expect: () => {
      until = performance.now() + FOLLOW_MS;
    },
    arrived: (name) => {
      for (const go of waiting.get(name) ?? []) go();
    },
    arrival: async (name) => {
      const left = until - performance.now();
      if (left <= 0 || !isComing(name)) return;
      const all = waiting.get(name) ?? new Set();
      waiting.set(name, all);
      await new Promise<void>((resolve) => {
        const go = (): void => {
          clearTimeout(timer);
          all.delete(go);
          if (all.size === 0 && waiting.get(name) === all) waiting.delete(name);
          resolve();
        };
        const timer = setTimeout(go, left);
        all.add(go);
      });
    },
  };
};
