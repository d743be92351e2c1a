/** The deadline of a request to another box. */

const SLICE_MS = 50;

/**
 * Aborts after `ms` in which this box could have read an answer. Each slice counts once, however long this box was busy in
 * it: a busy box must not consider the others late.
 */
export const createDeadline = (ms: number): { signal: AbortSignal; clear(): void } => {
  const controller = new AbortController();
  let left = Math.ceil(ms / SLICE_MS);
  const clear = (): void => clearInterval(timer);
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clear();
    controller.abort();
  }, SLICE_MS).unref();
  return { signal: controller.signal, clear };
};
