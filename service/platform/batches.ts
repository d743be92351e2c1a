/** Work in batches: what arrives while a batch is processed becomes the next batch. */

interface Waiting<Item, Result> {
  items: readonly Item[];
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

/**
 * Returns a function that adds items and resolves with the result of the batch they were in.
 * @param work carries out one batch at a time, in the order of the calls; where it throws, all calls of the batch reject
 */
export const createBatches = <Item, Result>(work: (items: readonly Item[]) => Promise<Result>) => {
  let waiting: Waiting<Item, Result>[] = [];
  let running = false;

  const drain = async (): Promise<void> => {
    running = true;
    while (waiting.length > 0) {
      // Calls of the same tick share a batch.
      await Promise.resolve();
      const batch = waiting;
      waiting = [];
      try {
        const result = await work(batch.flatMap(({ items }) => items));
        for (const { resolve } of batch) resolve(result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    running = false;
  };

  return (items: readonly Item[]): Promise<Result> =>
    new Promise((resolve, reject) => {
      waiting.push({ items, resolve, reject });
      if (!running) void drain();
    });
};
