/** Long computations in short slices, between which the event loop answers requests. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A computation that yields between its steps, of a few ms each if possible. */
export type Steps<Result> = Generator<void, Result>;

/** Longest slice, ms: other work waits this long plus one step. A shorter computation is not interrupted. */
const SLICE_MS = 4;

/** Runs the steps, and yields to the event loop after each {@link SLICE_MS}. */
export const inSlices = async <Result>(steps: Steps<Result>): Promise<Result> => {
  for (;;) {
    const startedAt = performance.now();
    while (performance.now() - startedAt < SLICE_MS) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
    await nextTurn();
  }
};
