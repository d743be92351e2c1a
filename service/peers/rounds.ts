/** Questions that many readers have, asked together: once for all that is wanted, and no more often than the interval. */
interface Options<Answer> {
  /** Shortest time from the start of a round to the start of the next, ms. */
  intervalMs: number;
  /** Asks for all keys at once. */
  ask(keys: readonly string[]): Promise<ReadonlyMap<string, Answer>>;
}

interface Reader<Answer> {
  key: string;
  resolve(answer: Answer | undefined): void;
  reject(reason: unknown): void;
}

/** Readers that are answered in one turn of the event loop. A thousand at once would hold up everything else. */
const MOST_A_TURN = 16;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Returns a function that resolves with the answer for one key. The answer is of the first round that starts after the
 * call, so it is never older than the question; the wait for that round is at most the interval.
 */
export const createRounds = <Answer>({ intervalMs, ask }: Options<Answer>) => {
  let next: Reader<Answer>[] | null = null;
  let startedAt = Number.NEGATIVE_INFINITY;

  const run = async (readers: readonly Reader<Answer>[]): Promise<void> => {
    // Readers of the same turn of the event loop share a round.
    await nextTurn();
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
    const asking = ask([...new Set(readers.map(({ key }) => key))]);
    const hand = await asking.then(
      (answers) => (reader: Reader<Answer>) => reader.resolve(answers.get(reader.key)),
      (reason: unknown) => (reader: Reader<Answer>) => reader.reject(reason),
    );
    for (let from = 0; from < readers.length; from += MOST_A_TURN) {
      for (const reader of readers.slice(from, from + MOST_A_TURN)) hand(reader);
      await nextTurn();
    }
  };

  return (key: string): Promise<Answer | undefined> =>
    new Promise((resolve, reject) => {
      if (next === null) {
        next = [];
        void run(next);
      }
      next.push({ key, resolve, reject });
    });
};
