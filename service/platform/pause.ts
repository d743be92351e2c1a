/** Pauses of a loop that can be cut short. */
import { setTimeout as delay } from 'node:timers/promises';
import { withAny } from './any-signal.ts';

export const createPause = () => {
  let woken = new AbortController();
  /** Forgets a wake for which no pause has ended yet. */
  const clear = (): void => {
    woken = new AbortController();
  };
  return {
    clear,
    /** Ends the pauses, or the next one if there is none. */
    wake: (): void => woken.abort(),
    /** Resolves after `ms`, when it is woken, or when `ended` is aborted. */
    wait: async (ms: number, ended: AbortSignal): Promise<void> => {
      const sleep = (signal: AbortSignal): Promise<unknown> => delay(ms, undefined, { signal, ref: false });
      await withAny([ended, woken.signal], sleep).catch(() => undefined);
      clear();
    },
  };
};
