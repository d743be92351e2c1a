/**
 * Calls `work` with a signal that is aborted as soon as one of `signals` is, for its reason. AbortSignal.any would leave an
 * entry in a long-lived signal each time, which Node.js 20 never removes.
 */
export const withAny = async <Result>(
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const either = new AbortController();
  const follow = (): void => either.abort(signals.find(({ aborted }) => aborted)?.reason);
  for (const signal of signals) signal.addEventListener('abort', follow);
  if (signals.some(({ aborted }) => aborted)) follow();
  try {
    return await work(either.signal);
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', follow);
  }
};

/**
 * What `work` resolves to; work that cannot be aborted goes on after the signal, unobserved. The signal must be short-lived.
 * @throws what the work throws, and the reason of the signal
 */
export const untilAborted = <Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> =>
  Promise.race([
    work,
    new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
  ]);
