/** Carries out each identified request once: a repeat gets the first result. */

/** For how long an id is remembered, ms. */
const REMEMBER_MS = 300_000;
/** Maximum number of remembered ids; beyond it the oldest is forgotten early. */
const MAX_IDS = 20_000;

interface First<Result> {
  result: Promise<Result>;
  at: number;
}

/** @param now ms, monotonic */
export const createRepeats = <Result>(now: () => number) => {
  const known = new Map<string, First<Result>>();

  const forgetOld = (): void => {
    for (const [id, { at }] of known) {
      if (known.size < MAX_IDS && now() - at < REMEMBER_MS) return;
      known.delete(id);
    }
  };

  /**
   * Runs `job`, or returns the result of the job that ran with this id in the last 5 minutes, which may still be running.
   * A job that failed is not remembered.
   */
  return (id: string, job: () => Promise<Result>): Promise<Result> => {
    const first = known.get(id);
    if (first !== undefined && now() - first.at < REMEMBER_MS) return first.result;
    known.delete(id);
    forgetOld();
    const result = job();
    known.set(id, { result, at: now() });
    result.catch(() => known.delete(id));
    return result;
  };
};
