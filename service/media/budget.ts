import type { FileHandle } from 'node:fs/promises';

/** Limits on parsing one file, so that a hostile file cannot block the service. */
const MAX_STEPS = 1_000;
const MAX_BYTES = 4 * 1024 ** 2;
const MAX_MS = 1_000;

/** The parsing budget of one file, shared by all its parsers. */
export interface Budget {
  /** Counts one parsed box or element and the bytes read for it. @returns false once the budget is used up */
  spend(bytes?: number): boolean;
}

/** @param now a monotonic clock, in ms */
export const createBudget = (now: () => number = () => performance.now()): Budget => {
  const endsAt = now() + MAX_MS;
  let steps = 0;
  let spent = 0;
  return {
    spend(bytes = 0) {
      steps += 1;
      spent += bytes;
      return steps <= MAX_STEPS && spent <= MAX_BYTES && now() < endsAt;
    },
  };
};

/** Reads up to `length` bytes at offset `at`; fewer at the end of the file, none once the budget is used up. */
export type ReadAt = (at: number, length: number) => Promise<Buffer>;

/** Reads a file within a budget. An exhausted budget looks to a parser like the end of the file. */
export const createReader =
  (handle: FileHandle, budget: Budget): ReadAt =>
  async (at, length) => {
    if (!budget.spend(length)) return Buffer.alloc(0);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
    return buffer.subarray(0, bytesRead);
  };
