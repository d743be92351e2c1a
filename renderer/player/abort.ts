/** Resolves or rejects like `work`; rejects with the signal's reason if it aborts first. */
export const within = async <T>(signal: AbortSignal, work: T | PromiseLike<T>): Promise<T> => {
  const done = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { signal: done.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    done.abort();
  }
};
