/** Questions that many readers have, asked together: once for all that is wanted, and no more often than the interval. */
interface Options<Answer> {
  /** Shortest time from the start of a round to the start of the next, ms. */
  intervalMs: number;
  /** Asks for all keys at once. */
  ask(keys: readonly string[]): Promise<ReadonlyMap<string, Answer>>;
}

interface Round<Answer> {
  keys: Set<string>;
  answers: Promise<ReadonlyMap<string, Answer>>;
}

/**
 * Returns a function that resolves with the answer for one key. The answer is of the first round that starts after the
 * call, so it is never older than the question; the wait for that round is at most the interval.
 */
export const createRounds = <Answer>({ intervalMs, ask }: Options<Answer>) => {
  let next: Round<Answer> | null = null;
  let startedAt = Number.NEGATIVE_INFINITY;

  const begin = async (keys: ReadonlySet<string>): Promise<ReadonlyMap<string, Answer>> => {
    // Readers of the same turn of the event loop share a round.
    await new Promise(setImmediate);
    // A timer may fire a little early.
    for (
      let rest = startedAt + intervalMs - performance.now();
      rest > 0;
      rest = startedAt + intervalMs - performance.now()
    ) {
      await new Promise((resolve) => setTimeout(resolve, Math.ceil(rest)).unref());
    }
    next = null;
    startedAt = performance.now();
    return ask([...keys]);
  };

  return async (key: string): Promise<Answer | undefined> => {
    if (next === null) {
      const keys = new Set<string>();
      next = { keys, answers: begin(keys) };
    }
    next.keys.add(key);
    return (await next.answers).get(key);
  };
};
