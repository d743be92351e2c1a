import { z } from 'zod';
import { createOver } from '../../domain/over.ts';
import { openDurable } from './durable.ts';
import type { Reserve } from './reserve.ts';

/** Marks of what is over, as `createOver` makes them. */
export const storedOver = z.codec(z.array(z.string()), z.set(z.string()), {
  decode: (list) => new Set(list),
  encode: (set) => [...set],
});
const schema = z.object({ over: storedOver });

/** `createOver` with marks that are kept over restarts, in a file of the data directory. */
export const openOver = async (
  context: Parameters<typeof openDurable>[0] & { reserve: Pick<Reserve, 'release'> },
  file: string,
  kept?: number,
) => {
  const { reserve } = context;
  const initial = { over: new Set<string>() };
  const { read, update, ...durable } = await openDurable(context, file, {
    schema,
    initial,
    isInitialKept: false,
    reserve,
  });
  const over = createOver(read().over, kept);
  let isUnwritten = false;
  return {
    ...durable,
    has: over.has,
    relearn: over.relearn,
    /** As that of `createOver`. */
    look: (...given: Parameters<typeof over.look>): void => {
      isUnwritten = over.look(...given) || isUnwritten;
      if (!isUnwritten) return;
      isUnwritten = false;
      // The marks count at once; the store reports a disk that takes no writes, and the next look tries again.
      update(() => ({ over: over.all() })).catch(() => {
        isUnwritten = true;
      });
    },
  };
};
