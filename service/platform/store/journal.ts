/** Append-only files of lines (JSON Lines), and lines that are appended together. */
import { constants, type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, systemDisk } from './disk.ts';

/** A file whose lines are durable once they are appended. */
export type Journal = Awaited<ReturnType<typeof openJournal>>;

const NEWLINE = 0x0a;
const CHUNK_BYTES = 64 * 1024;

/** Where the last whole line ends. */
const endOfLines = async (handle: FileHandle, size: number): Promise<number> => {
  const buffer = Buffer.alloc(CHUNK_BYTES);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - CHUNK_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, end - start, start);
    const last = buffer.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (last !== -1) return start + last + 1;
    end = start;
  }
  return 0;
};

const writeAll = async (handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> => {
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, offset, bytes.length - offset, position + offset);
    if (bytesWritten === 0) throw Object.assign(new Error('the disk takes no more'), { code: 'ENOSPC' });
    offset += bytesWritten;
  }
};

/**
 * Opens the file, which is created if it is missing. A line that a crash or a power cut broke off is removed.
 * @throws the system's error
 */
export const openJournal = async (path: string) => {
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  let size: number;
  try {
    const { size: found } = await handle.stat();
    size = await endOfLines(handle, found);
    if (size < found) await handle.truncate(size);
    await handle.sync();
    if (found === 0) await systemDisk.syncFolder(dirname(path));
  } catch (error) {
    await handle.close();
    throw error;
  }
  /** Whether the file may hold more than the durable lines. */
  let isDirty = false;

  return {
    /** Bytes of the durable lines. */
    size: (): number => size,
    /**
     * Appends lines, each without its line end. The caller waits for one call before the next. A power cut may take lines that
     * are not synced.
     * @throws the system's error; then none of the lines is stored
     */
    append: async (lines: readonly string[], { isSynced = true }: { isSynced?: boolean } = {}): Promise<void> => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      if (isDirty) await handle.truncate(size);
      isDirty = true;
      try {
        await writeAll(handle, bytes, size);
        if (isSynced) await handle.datasync();
      } catch (error) {
        // On a full disk a part of the lines may have been written.
        await handle.truncate(size).catch(() => undefined);
        throw error;
      }
      isDirty = false;
      size += bytes.length;
    },
    close: (): Promise<void> => handle.close(),
  };
};

interface Waiting<Item, Result> {
  items: readonly Item[];
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

/**
 * Returns a function that adds items and resolves with the result of the batch they were in.
 * @param work carries out one batch at a time, in the order of the calls; where it throws, all calls of the batch reject
 */
export const createBatches = <Item, Result>(work: (items: readonly Item[]) => Promise<Result>) => {
  let waiting: Waiting<Item, Result>[] = [];
  let running = false;

  const drain = async (): Promise<void> => {
    running = true;
    while (waiting.length > 0) {
      // Calls of the same tick share a batch.
      await Promise.resolve();
      const batch = waiting;
      waiting = [];
      try {
        const result = await work(batch.flatMap(({ items }) => items));
        for (const { resolve } of batch) resolve(result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    running = false;
  };

  return (items: readonly Item[]): Promise<Result> =>
    new Promise((resolve, reject) => {
      waiting.push({ items, resolve, reject });
      if (!running) void drain();
    });
};

interface PatientOptions {
  path: string;
  /** Lines that wait for a disk that takes none; further ones replace the oldest. Absent: all of them wait. */
  maxWaiting?: number;
  /** Renames the file, which is closed, once it is larger than `maxBytes`. */
  rotation?: { maxBytes: number; rotate(): Promise<void> };
  /** Called with the first of several errors of the disk. */
  onError(error: unknown): void;
  /** The sentence for `/healthz`. @param cause what the system calls it; @param waiting lines */
  describe(cause: string, waiting: number): string;
}

/**
 * A journal whose lines wait while the disk takes no writes. Its file is opened by the first line, so a failing disk does
 * not keep the box from starting.
 */
export const createPatientJournal = ({ path, maxWaiting, rotation, onError, describe }: PatientOptions) => {
  let journal: Journal | null = null;
  let waiting: string[] = [];
  let fault: string | null = null;

  const close = async (): Promise<void> => {
    await journal?.close();
    journal = null;
  };

  const save = createBatches<{ line: string; isSynced: boolean }, void>(async (added) => {
    waiting.push(...added.map(({ line }) => line));
    if (maxWaiting !== undefined) waiting = waiting.slice(-maxWaiting);
    const isSynced = added.length === 0 || added.some((each) => each.isSynced);
    try {
      if (rotation !== undefined && (journal?.size() ?? 0) > rotation.maxBytes) {
        await close();
        await rotation.rotate();
      }
      journal ??= await openJournal(path);
      await journal.append(waiting, { isSynced });
      waiting = [];
      fault = null;
    } catch (error) {
      if (fault === null) onError(error);
      fault = describe(codeOf(error) ?? 'see the log', waiting.length);
    }
  });

  return {
    /**
     * Resolves when the line is durable, or waits for a disk that takes no writes now. Never rejects.
     * @param isSynced false: a power cut may take the line; it outlives the process
     */
    write: (line: string, { isSynced = true } = {}): Promise<void> => save([{ line, isSynced }]),
    /** The lines that wait, oldest first. */
    waiting: (): readonly string[] => waiting,
    faults: (): string[] => (fault === null ? [] : [fault]),
    close: async (): Promise<void> => {
      if (waiting.length > 0) await save([]);
      await close();
    },
  };
};
