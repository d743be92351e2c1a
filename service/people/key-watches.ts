/** Watches the keys of what is still running (sockets, exports, uploads), so that it ends with them. */
import type { Keyring } from '../auth/person-keys.ts';

export const createKeyWatches = (find: Keyring['find'], endMs: number) => {
  const watches = new Map<string, Set<() => void>>();
  const timers = new Set<NodeJS.Timeout>();

  return {
    /** Calls `end` soon after a key stops counting. @returns a function that ends the watch */
    watch: (keyId: string, end: () => void): (() => void) => {
      const ends = watches.get(keyId) ?? new Set();
      watches.set(keyId, ends.add(end));
      return () => {
        ends.delete(end);
        if (ends.size === 0 && watches.get(keyId) === ends) watches.delete(keyId);
      };
    },
    /** Ends what has a key that does not count any more. The request that has removed it still gets its answer. */
    check: (): void => {
      for (const [keyId, ends] of watches) {
        if (find(keyId)?.signer != null) continue;
        watches.delete(keyId);
        const timer = setTimeout(() => {
          timers.delete(timer);
          for (const end of ends) end();
        }, endMs).unref();
        timers.add(timer);
      }
    },
    close: (): void => {
      for (const timer of timers) clearTimeout(timer);
    },
  };
};
