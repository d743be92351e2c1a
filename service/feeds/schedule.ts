/** When a feed is fetched next: pure, in ms. */

/** However often a feed is asked for. */
const SHORTEST_MS = 1_000;
const FIRST_RETRY_MS = 15_000;
const LONGEST_RETRY_MS = 3_600_000;
const LONGEST_REQUEST_MS = 86_400_000;
/** Up to this share is added by chance, so that the boxes of a site don't ask all at once. */
const JITTER = 0.1;

interface Past {
  refreshSeconds: number;
  /** Fetches that failed since the last that did not. */
  failures: number;
  /** What the server asked for with its refusal, in ms. */
  pauseMs: number;
}

/**
 * How long to wait after a fetch. One that failed is tried again soon, then ever more seldom: at first as often as a
 * good feed or oftener, at last every hour, or as seldom as a good one. A server's own wish is met, up to a day.
 * @param chance of [0, 1)
 */
export const waitAfter = ({ refreshSeconds, failures, pauseMs }: Past, chance: number): number => {
  const usual = Math.max(refreshSeconds * 1000, SHORTEST_MS);
  const backoff = Math.min(usual, FIRST_RETRY_MS) * 2 ** Math.min(failures - 1, 20);
  const wait = failures === 0 ? usual : Math.min(backoff, Math.max(usual, LONGEST_RETRY_MS));
  const asked = failures === 0 ? 0 : Math.min(pauseMs, LONGEST_REQUEST_MS);
  return Math.max(wait, asked) * (1 + JITTER * chance);
};
