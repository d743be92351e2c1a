/** When an address that does not answer is asked again: pure, time is an argument. */

/** How often an address has failed in a row, and when it is due again; times in ms by a clock that is never stepped. */
export interface Breaker {
  readonly failures: number;
  /** While closed, 0. */
  readonly retryAt: number;
}

const SHORTEST_MS = 500;
const LONGEST_MS = 30_000;

export const closed: Breaker = { failures: 0, retryAt: 0 };

/** Whether nothing is asked of it but probes. */
export const isOpen = ({ failures }: Breaker): boolean => failures > 0;

/**
 * After one more failure: the pause grows from 0.5 s to 30 s, and is drawn anew each time, so that the boxes of a site do
 * not ask in step.
 * @param random 0 to 1
 */
export const failed = ({ failures }: Breaker, now: number, random: number): Breaker => {
  const longest = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** Math.min(failures + 1, 16));
  return { failures: failures + 1, retryAt: now + SHORTEST_MS + random * (longest - SHORTEST_MS) };
};
