/** When to fetch a feed next. Pure; in ms. */
import { doubled } from '../domain/backoff.ts';

/** Minimum interval of fetches. */
const MIN_INTERVAL_MS = 1_000;
const FIRST_RETRY_MS = 15_000;
const MAX_RETRY_MS = 3_600_000;
const MAX_RETRY_AFTER_MS = 86_400_000;
/** Maximum random addition, as a share of the wait, so that the boxes of a site do not fetch simultaneously. */
const JITTER = 0.1;

interface Past {
  refreshSeconds: number;
  /** Consecutive failures. */
  failures: number;
  /** Retry-After of the failed fetch, in ms. */
  pauseMs: number;
}

/**
 * How long to wait after a fetch, in ms. Retries back off exponentially, from the refresh interval or 15 s, whichever is
 * shorter, to the refresh interval or one hour, whichever is longer. Retry-After is obeyed up to one day.
 * @param chance random number in [0, 1)
 */
export const waitAfter = ({ refreshSeconds, failures, pauseMs }: Past, chance: number): number => {
  const usual = Math.max(refreshSeconds * 1000, MIN_INTERVAL_MS);
  const wait =
    failures === 0 ? usual : doubled(failures - 1, Math.min(usual, FIRST_RETRY_MS), Math.max(usual, MAX_RETRY_MS));
  const asked = failures === 0 ? 0 : Math.min(pauseMs, MAX_RETRY_AFTER_MS);
  return Math.max(wait, asked) * (1 + JITTER * chance);
};
