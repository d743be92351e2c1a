/** Timeouts and retries of pages while the service does not respond. */
import { doubled } from '../../service/domain/time.ts';

const SHORTEST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
const ANSWER_MS = 10_000;
/** How long a body may make no progress before it is given up, and with it what has come. */
const STALL_MS = 30_000;

/**
 * The delay after a number of failures, in ms: exponential backoff with full jitter, so that a hundred screens do not
 * reconnect at once, not the first time either.
 */
export const waitMs = (failures: number): number => {
  const longest = doubled(failures + 1, SHORTEST_WAIT_MS, LONGEST_WAIT_MS);
  return SHORTEST_WAIT_MS + Math.random() * (longest - SHORTEST_WAIT_MS);
};

/** Resolves to the body, however slow the link is; aborts once nothing more comes. */
export const readBody = async (response: Response, abort: AbortController): Promise<Blob> => {
  const reader = response.body?.getReader();
  const parts: BlobPart[] = [];
  for (;;) {
    const stalled = setTimeout(() => abort.abort(), STALL_MS);
    const part = await reader?.read().finally(() => clearTimeout(stalled));
    if (part?.value === undefined) break;
    parts.push(part.value);
  }
  return new Blob(parts, { type: response.headers.get('Content-Type') ?? '' });
};

/**
 * `fetch` without caches and with a timeout of 10 s, which includes reading the response unless `read` takes it by `body`,
 * as what can be large. Phones of 2020 have no `AbortSignal.timeout`.
 */
export const patientFetch = async <Answer>(
  path: string,
  init: RequestInit,
  read: (response: Response, body: () => Promise<Blob>) => Answer | Promise<Answer>,
): Promise<Answer> => {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), ANSWER_MS);
  try {
    const response = await fetch(path, { cache: 'no-store', ...init, signal: abort.signal });
    return await read(response, () => {
      clearTimeout(timer);
      return readBody(response, abort);
    });
  } finally {
    clearTimeout(timer);
  }
};

/**
 * Navigates to a page if it responds, so that the browser's error page is never shown.
 * @param isWanted asked once it has responded, for it may take long: whether to go there still
 * @returns false if it does not respond
 */
export const leaveFor = async (url: string, isWanted = () => true): Promise<boolean> => {
  const ok = await patientFetch(url, { method: 'HEAD' }, (response) => response.ok).catch(() => false);
  if (!ok) return false;
  if (!isWanted()) return true;
  if (new URL(url, location.href).href === location.href) location.reload();
  else location.assign(url);
  return true;
};
