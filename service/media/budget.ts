import type { FileHandle } from 'node:fs/promises';

/** What looking into one file may cost, whatever is in it. */
const MOST_STEPS = 1_000;
const MOST_BYTES = 4 * 1024 ** 2;
const MOST_MS = 1_000;

/** One budget for a whole file, shared by everything that parses it. */
export interface Budget {
  /** Pays for one box or element, and the bytes that it takes to read. @returns false once the budget is used up */
  spend(bytes?: number): boolean;
}

/** @param now a monotonic clock, in ms */
export const createBudget = (now: () => number = () => performance.now()): Budget => {
  const endsAt = now() + MOST_MS;
  let steps = 0;
  let spent = 0;
  return {
    spend(bytes = 0) {
      steps += 1;
      spent += bytes;
      return steps <= MOST_STEPS && spent <= MOST_BYTES && now() < endsAt;
    },
  };
};

/** Reads up to `length` bytes from an offset on; fewer where the file ends, none once its budget is used up. */
export type ReadAt = (at: number, length: number) => Promise<Buffer>;

/** Reads a file within a budget: a parser meets its end as the end of the file. */
export const createReader =
  (handle: FileHandle, budget: Budget): ReadAt =>
  async (at, length) => {
    if (!budget.spend(length)) return Buffer.alloc(0);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
    return buffer.subarray(0, bytesRead);
  };
