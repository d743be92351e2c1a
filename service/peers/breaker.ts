/** The circuit breaker of an address: decides when one that does not answer is probed again. Pure; time is an argument. */
import { doubled } from '../domain/time.ts';

/** Times are in ms by a monotonic clock. */
export interface Breaker {
  /** Failures in a row. */
  readonly failures: number;
  /** When the next probe is due; 0 while closed, and once the box has made contact. */
  readonly retryAt: number;
}

const MIN_MS = 500;
const MAX_MS = 30_000;

export const closed: Breaker = { failures: 0, retryAt: 0 };

/** Whether the address receives only probes. */
export const isOpen = ({ failures }: Breaker): boolean => failures > 0;

/**
 * The breaker after one more failure. The pause is random, within a range that grows from 0.5 s to 30 s, so that the boxes
 * of a site do not probe in step.
 * @param random 0 to 1
 */
export const failed = ({ failures }: Breaker, now: number, random: number): Breaker => {
  const longest = doubled(failures + 1, MIN_MS, MAX_MS);
  return { failures: failures + 1, retryAt: now + MIN_MS + random * (longest - MIN_MS) };
};
