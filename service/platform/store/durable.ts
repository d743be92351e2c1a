import { basename, dirname, join } from 'node:path';
import { Low } from 'lowdb';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { CodedError } from '../../contract/errors.ts';
import { createAdapter } from './adapter.ts';
import { codeOf, type Disk, isFull, systemDisk } from './disk.ts';
import type { Reserve } from './reserve.ts';

/** How many generations were written since the start. */
export interface Writes {
  ok: number;
  failed: number;
}

/** A value that survives crashes and power cuts. */
export interface Durable<T> {
  /** The durable state; a change is visible only once it is on disk. */
  read(): T;
  /**
   * Applies a change to the newest state and resolves once it is durable. Changes are applied in the order of the calls;
   * those that arrive while a generation is being written share the next one.
   *
   * @throws what `change` throws
   * @throws {CodedError} `insufficient_storage` if the disk is full
   * @throws the system's error if the disk fails; the change may or may not be present after a restart
   */
  update(change: (current: T) => T): Promise<void>;
  /** One sentence per issue that needs attention. */
  faults(): string[];
  writes(): Writes;
  /** Refuses further changes and resolves when those in progress are settled. */
  close(): Promise<void>;
}

interface Options<T> {
  path: string;
  /** Decodes the state when it is read and encodes it when it is written. */
  schema: z.ZodType<T>;
  /** Reads a state of a newer version that the schema rejects, as far as possible; null: not at all. */
  salvage?: (body: unknown) => T | null;
  /** The state if there is no file; written immediately, so that generated values are kept. */
  initial: T;
  /** Default: true; false: nothing is written before the first change. */
  isInitialKept?: boolean;
  log: Pick<Logger, 'error'>;
  /** Released when the disk is full. */
  reserve?: Pick<Reserve, 'release'>;
  disk: Disk;
  /** ms since the epoch */
  now: () => number;
}

/** {@link createDurable} for a file of the data directory. */
export const openDurable = <T extends object>(
  { dirs, log, now }: Pick<Options<T>, 'log' | 'now'> & { dirs: { data: string } },
  file: string,
  rest: Pick<Options<T>, 'schema' | 'initial' | 'isInitialKept' | 'reserve'>,
): Promise<Durable<T>> => createDurable({ path: join(dirs.data, file), log, now, disk: systemDisk, ...rest });

interface Waiting<T> {
  change: (current: T) => T;
  resolve: () => void;
  reject: (reason: unknown) => void;
}

/**
 * Opens the file at `path`, or the previous generation if it is damaged, else starts with the initial state.
 * @throws the system's error if the folder cannot be read
 */
export async function createDurable<T extends object>(options: Options<T>): Promise<Durable<T>> {
  const { path, schema, salvage, initial, isInitialKept = true, log, reserve, disk, now } = options;
  const adapter = createAdapter({ path, schema, salvage, disk, reserve, log, now });
  const low = new Low<T>(adapter, initial);
  await low.read();

  let durable = low.data;
  let queue: Waiting<T>[] = [];
  let writer: Promise<void> | null = null;
  let closed = false;
  let fault: string | null = null;
  const writes: Writes = { ok: 0, failed: 0 };

  const note = (error: unknown): void => {
    // A disk that takes no writes would fill the log: some callers try again several times a second.
    if (fault === null) log.error({ err: error, file: path }, 'the state could not be written');
    fault = `${basename(path)} cannot be written (${codeOf(error) ?? 'see the log'})`;
  };

  /** Applies the changes in order; one that throws rejects only its own call. */
  function apply(batch: Waiting<T>[]): { next: T; applied: Waiting<T>[] } {
    let next = durable;
    const applied = batch.filter((waiting) => {
      try {
        next = waiting.change(next);
        return true;
      } catch (error) {
        waiting.reject(error);
        return false;
      }
    });
    return { next, applied };
  }

  async function commit(batch: Waiting<T>[]): Promise<void> {
    const { next, applied } = apply(batch);
    if (applied.length === 0) return;
    try {
      low.data = next;
      await low.write();
    } catch (error) {
      writes.failed += 1;
      note(error);
      const reason = isFull(error) ? new CodedError('insufficient_storage', undefined, { cause: error }) : error;
      for (const { reject } of applied) reject(reason);
      return;
    }
    durable = next;
    fault = null;
    writes.ok += 1;
    for (const { resolve } of applied) resolve();
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      // Changes of the same tick share a generation.
      await Promise.resolve();
      const batch = queue;
      queue = [];
      await commit(batch);
    }
    writer = null;
  }

  const update = (change: (current: T) => T): Promise<void> =>
    new Promise((resolve, reject) => {
      if (closed) return reject(new Error(`${basename(path)} is closed`));
      queue.push({ change, resolve, reject });
      writer ??= drain();
    });

  // A box continues to play with a disk that is not writable: faults() reports the error.
  if (durable !== initial) {
    // The previous process may have been killed between the rename and the sync of the folder.
    await disk.syncFolder(dirname(path)).catch(note);
  } else if (isInitialKept) await update((state) => state).catch(() => {});

  return {
    read: () => durable,
    update,
    faults: () => [...adapter.faults(), ...(fault === null ? [] : [fault])],
    writes: () => writes,
    async close() {
      closed = true;
      await writer;
    },
  };
}
