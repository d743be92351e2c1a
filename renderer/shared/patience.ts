/** How pages deal with a service that is away. */

const SHORTEST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
const ANSWER_MS = 10_000;

/**
 * How long to wait after so many failures, in ms: exponential backoff with full jitter, so that a hundred screens do
 * not come back in one moment.
 */
export const waitMs = (failures: number): number => {
  const longest = Math.min(LONGEST_WAIT_MS, SHORTEST_WAIT_MS * 2 ** failures);
  return SHORTEST_WAIT_MS + Math.random() * (longest - SHORTEST_WAIT_MS);
};

/**
 * As `fetch`, past every cache, and given up after 10 s, reading of the answer included. Phones of 2020 have no
 * `AbortSignal.timeout`.
 */
export const patientFetch = async <Answer>(
  path: string,
  init: RequestInit,
  read: (response: Response) => Answer | Promise<Answer>,
): Promise<Answer> => {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), ANSWER_MS);
  try {
    return await read(await fetch(path, { cache: 'no-store', ...init, signal: abort.signal }));
  } finally {
    clearTimeout(timer);
  }
};
