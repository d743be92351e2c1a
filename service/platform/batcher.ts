/** Batches the questions of many readers: one request for all keys, at most once per interval. */
interface Options<Answer> {
  /** Minimum time from the start of a round to the start of the next, ms. */
  intervalMs: number;
  /** Requests the answers for all keys together. */
  ask(keys: readonly string[]): Promise<ReadonlyMap<string, Answer>>;
}

interface Reader<Answer> {
  key: string;
  resolve(answer: Answer | undefined): void;
  reject(reason: unknown): void;
}

/** Readers that are answered in one turn of the event loop. A thousand at once would block it. */
const MAX_PER_TURN = 16;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Returns a function that resolves with the answer for one key. The answer is from the first round that starts after the
 * call, so it is never older than the question; that round starts within the interval.
 */
export const createBatcher = <Answer>({ intervalMs, ask }: Options<Answer>) => {
  let next: Reader<Answer>[] | null = null;
  let startedAt = Number.NEGATIVE_INFINITY;

  const run = async (readers: readonly Reader<Answer>[]): Promise<void> => {
    // Readers in the same turn of the event loop share a round.
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
    const settle = await asking.then(
      (answers) => (reader: Reader<Answer>) => reader.resolve(answers.get(reader.key)),
      (reason: unknown) => (reader: Reader<Answer>) => reader.reject(reason),
    );
    for (let from = 0; from < readers.length; from += MAX_PER_TURN) {
      for (const reader of readers.slice(from, from + MAX_PER_TURN)) settle(reader);
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
