/**
 * Calls `work` for each item, at most `limit` concurrently. After the first error no further item is started.
 * @returns the results in the order of the items
 * @throws the first error
 */
export const inParallel = async <Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> => {
  const results: Result[] = [];
  const entries = items.entries();
  const errors: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) {
      if (errors.length > 0) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  if (errors.length > 0) throw errors[0];
  return results;
};
