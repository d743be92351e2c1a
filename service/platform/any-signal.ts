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
