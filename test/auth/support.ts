import type { createNonces } from '../../service/auth/nonces.ts';
import { createReplayGuard, initialReplayState, type SavedReplayState } from '../../service/auth/replay.ts';
import type { HeaderLines } from '../../service/auth/signatures.ts';
import { CodedError } from '../../service/contract/errors.ts';

export const secret = 'correct horse battery staple';
export const otherSecret = 'a secret that was never set here';

/** A wall clock that can be stepped, beside one that can't. */
export const createClock = () => {
  let wall = Date.UTC(2026, 0, 1);
  let monotonic = 12_345;
  return {
    now: () => wall,
    monotonicNow: () => monotonic,
    pass(ms: number): void {
      wall += ms;
      monotonic += ms;
    },
    step(ms: number): void {
      wall += ms;
    },
  };
};

/** `accepted`, or the code of the error. */
export const outcome = async (judge: () => unknown): Promise<string> => {
  try {
    await judge();
    return 'accepted';
  } catch (error) {
    if (error instanceof CodedError) return error.code;
    throw error;
  }
};

/** Headers as Node hands them on. */
export const linesOf = (headers: Record<string, string>): HeaderLines =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));

/** A disk that keeps what a guard writes, and takes nothing while it is broken. */
export const createMemoryStore = (now: number) => {
  let state = initialReplayState(now);
  let isBroken = false;
  let writes = 0;
  return {
    read: () => state,
    update: async (change: (current: SavedReplayState) => SavedReplayState) => {
      await Promise.resolve();
      if (isBroken) throw Object.assign(new Error('the disk takes nothing'), { code: 'EROFS' });
      writes += 1;
      state = structuredClone(change(state));
    },
    breakDown: () => {
      isBroken = true;
    },
    writes: () => writes,
  };
};

/** A guard of its own for a test; its timers do not keep the process. */
export const createTestGuard = (
  clock: { now: () => number; monotonicNow: () => number },
  nonces?: ReturnType<typeof createNonces>,
) =>
  createReplayGuard({
    store: createMemoryStore(clock.now()),
    now: clock.now,
    machineNow: clock.monotonicNow,
    ...(nonces === undefined ? {} : { nonces }),
  });

/** What of an operation's rule the access policy uses, for a request of another machine. */
export const noRule = { role: null, scope: null, forSecret: false, isLocal: false } as const;
