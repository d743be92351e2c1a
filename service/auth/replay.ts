/** Accepts each nonce once, also across restarts and clock steps. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { CodedError } from '../contract/errors.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { createDurable, type Durable } from '../platform/store/durable.ts';
import { advance, fenceAtStart, freshMs, isFresh, isPast, nextFresh, stepMs } from './fence.ts';
import { createNonces, type Sender } from './nonces.ts';

/** Maximum number of saved nonces with future timestamps. They would still be fresh after a restart. */
const MAX_AHEAD = 10_000;
/** Of people together, and of one of them: with the key of a viewer nobody must keep boxes from being heard. */
const MAX_AHEAD_OF_PEOPLE = 2_000;
const MAX_AHEAD_OF_PERSON = 200;

/** A timestamp this far ahead or less is waited for, which is faster than saving its nonce. */
const MAX_WAIT_MS = 50;

/** Interval at which the highest reading of the clock is saved. */
const SAVE_MS = 10_000;

const time = z.int().nonnegative();

const savedSchema = z.object({
  spent: z.array(z.object({ from: time, to: time })).describe('intervals in which no timestamp is accepted again'),
  start: time.describe('of the clock since it was last set'),
  highest: time.describe('reading of the clock since then'),
  unsavedMs: time.describe('for how long the clock may have been read after that'),
  savedAt: time.describe('then, since the machine was started'),
  offset: z.int().describe('then, of the clock from the time since the machine was started'),
  ahead: z.array(z.tuple([z.string(), time])).describe('nonces and timestamps that are not before the highest reading'),
});
export type SavedReplayState = z.infer<typeof savedSchema>;

export const initialReplayState = (now: number): SavedReplayState => ({
  spent: [],
  start: now,
  highest: now,
  unsavedMs: 0,
  savedAt: 0,
  offset: now,
  ahead: [],
});

interface Options {
  store: Pick<Durable<SavedReplayState>, 'read' | 'update'>;
  /** The wall clock, ms since the epoch. */
  now: () => number;
  /** Since the machine was started, whole ms: it goes on from one process to the next. */
  machineNow: () => number;
  nonces?: ReturnType<typeof createNonces>;
}

export type ReplayGuard = ReturnType<typeof createReplayGuard>;

export const createReplayGuard = ({ store, now, machineNow, nonces = createNonces() }: Options) => {
  const startedAt = machineNow();
  const saved = store.read();
  let offset = now() - startedAt;
  const isSteppedBack = startedAt < saved.savedAt || offset < saved.offset - stepMs;
  const latestSaved = Math.max(saved.highest, ...saved.ahead.map(([, timestamp]) => timestamp));
  let fence = fenceAtStart({ ...saved, latest: latestSaved, isSteppedBack }, now());
  let readAt = startedAt;
  const ahead = new Map(saved.ahead.filter(([, timestamp]) => !isPast(fence, timestamp)));
  let latest = Math.max(fence.start, ...ahead.values());
  for (const [nonce, timestamp] of ahead)
    nonces.use(nonce, timestamp, fence.oldest, { kind: 'operator', name: 'disk' });

  /** Who has signed those of people, by nonce. */
  const aheadOfPeople = new Map<string, string>();

  const dropPassed = (): void => {
    for (const [nonce, timestamp] of ahead) {
      if (timestamp >= fence.highest) continue;
      ahead.delete(nonce);
      aheadOfPeople.delete(nonce);
    }
  };

  const hasRoom = ({ kind, name }: Sender): boolean => {
    if (ahead.size >= MAX_AHEAD) return false;
    if (kind !== 'person') return true;
    const own = [...aheadOfPeople.values()].filter((each) => each === name).length;
    return aheadOfPeople.size < MAX_AHEAD_OF_PEOPLE && own < MAX_AHEAD_OF_PERSON;
  };

  /** The state of the write that is queued; changes after it belong to the next write. */
  let unsaved: SavedReplayState | null = null;
  let unsavedMs = SAVE_MS;
  const save = (): Promise<void> => {
    unsaved = null;
    return store.update(() => {
      if (unsaved === null) {
        dropPassed();
        const { spent, start, highest } = fence;
        unsaved = { spent: [...spent], start, highest, unsavedMs, savedAt: readAt, offset, ahead: [...ahead] };
      }
      return unsaved;
    });
  };

  let runSaved = save().catch(() => {});

  const read = (): void => {
    const at = machineNow();
    const reading = now();
    const next = advance(fence, { now: reading, elapsed: at - readAt, age: at - startedAt, latest });
    readAt = at;
    const isNewRun = next.start !== fence.start;
    const isStepped = Math.abs(reading - at - offset) > stepMs;
    fence = next;
    if (isStepped) offset = reading - at;
    if (isNewRun) {
      nonces.clear();
      ahead.clear();
      aheadOfPeople.clear();
      latest = next.start;
    } else if (!isStepped) return;
    // A step must be saved before any request after it. A disk that cannot be written does not block requests here.
    runSaved = save().catch(() => {});
  };

  const timer = setInterval(() => {
    read();
    void save().catch(() => {});
  }, SAVE_MS);
  timer.unref();

  return {
    /** Whether a request with this timestamp may be accepted now. */
    isFresh: (timestamp: number): boolean => {
      read();
      return isFresh(fence, timestamp);
    },
    /** The time that clients should sign with, ms since the epoch. */
    clock: (): number => {
      read();
      const next = nextFresh(fence);
      return next - fence.reading > freshMs ? fence.reading : next;
    },
    /**
     * Marks a nonce as used synchronously; resolves when a restart cannot make it valid again.
     * @param timestamp must be fresh
     * @throws CodedError `signature_replayed`, or `busy` if the memory is full or the disk cannot be written
     */
    use: async (nonce: string, timestamp: number, sender: Sender): Promise<void> => {
      const lead = timestamp - fence.highest;
      nonces.use(nonce, timestamp, fence.oldest, sender);
      latest = Math.max(latest, timestamp);
      if (lead > 0 && !hasRoom(sender)) dropPassed();
      if (lead > MAX_WAIT_MS && !hasRoom(sender)) {
        throw new CodedError(
          'busy',
          'Too many requests have timestamps ahead of the clock of this box; synchronize the clocks.',
        );
      }
      if (lead >= 0) ahead.set(nonce, timestamp);
      if (lead >= 0 && sender.kind === 'person') aheadOfPeople.set(nonce, sender.name);
      if (lead > 0 && lead <= MAX_WAIT_MS) await new Promise((resolve) => setTimeout(resolve, lead));
      else if (lead > 0) {
        await save().catch((cause: unknown) => {
          const message = 'The timestamp is ahead of the clock of this box, and the nonce could not be saved.';
          throw new CodedError('busy', message, { cause });
        });
      }
      await runSaved;
    },
    /** One sentence per problem that needs attention; empty: no problem. */
    faults: (): string[] => {
      const next = nextFresh(fence);
      if (next - fence.reading <= freshMs) return [];
      const until = new Date(next).toISOString();
      return [`the clock was set back: signed requests are refused until it is ${until}, so that none is replayed`];
    },
    /** Saves the reading of the clock; no nonce is accepted afterwards. */
    close: async (): Promise<void> => {
      clearInterval(timer);
      read();
      unsavedMs = 0;
      await save().catch(() => {});
    },
  };
};

const machineNow = (): number => Number(process.hrtime.bigint() / 1_000_000n);

interface Files {
  dataDir: string;
  log: Pick<Logger, 'error'>;
  now: () => number;
}

/**
 * Opens `nonces.json` in the data directory.
 * @throws the system's error if the folder can't be read
 */
export const openReplayGuard = async ({ dataDir, log, now }: Files) => {
  const durable = await createDurable({
    path: join(dataDir, 'nonces.json'),
    schema: savedSchema,
    initial: initialReplayState(now()),
    log,
    disk: systemDisk,
    now,
  });
  const guard = createReplayGuard({ store: durable, now, machineNow });
  return {
    ...guard,
    faults: () => [...durable.faults(), ...guard.faults()],
    writes: durable.writes,
    close: async () => {
      await guard.close();
      await durable.close();
    },
  };
};
