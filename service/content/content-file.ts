/** Reads and watches the operator's `content.json`. */

import { unwatchFile, watch, watchFile } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createDebounce } from '../domain/debounce.ts';
import { isMissing } from '../platform/store/disk.ts';
import { checkContent, type Reading } from './validate.ts';

interface ReadFile {
  /** Empty if the file can't be read. */
  bytes: Buffer;
  /** Null: the bytes are those that play. */
  reading: Reading | null;
  /** The file's modification time, but never in the future. */
  changedAt: Date;
}

/** Polling interval, for changes that cause no event. */
const POLL_MS = 500;
/** Debounce of events: a file that is written in place is briefly empty. */
const QUIET_MS = 10;
/** Delays before an invalid file, which an editor may still be writing, is read again. */
const SETTLE_MS = [20, 130];

const read = async (path: string, playing: Buffer | null): Promise<ReadFile> => {
  try {
    const [bytes, { mtimeMs }] = await Promise.all([readFile(path), stat(path)]);
    const reading = playing?.equals(bytes) === true ? null : await checkContent(bytes);
    return { bytes, reading, changedAt: new Date(Math.min(mtimeMs, Date.now())) };
  } catch (error) {
    const message = isMissing(error)
      ? 'content.json is missing'
      : `content.json cannot be read: ${(error as Error).message}`;
    return { bytes: Buffer.alloc(0), reading: { ok: false, issues: [{ path: '', message }] }, changedAt: new Date() };
  }
};

/**
 * Reads and validates the file; never throws. An invalid file is read again, after a delay.
 * @param playing the bytes that play, which are not validated again
 */
export const readContentFile = async (path: string, playing: Buffer | null): Promise<ReadFile> => {
  let found = await read(path, playing);
  for (const ms of SETTLE_MS) {
    if (found.reading?.ok !== false) break;
    await delay(ms);
    found = await read(path, playing);
  }
  return found;
};

/** Calls `listener` on events of the file system. @returns a function that ends the watch */
const watchEvents = (path: string, listener: () => void): (() => void) => {
  const changed = createDebounce(listener, { quietMs: QUIET_MS, longestMs: Number.POSITIVE_INFINITY });
  try {
    // The folder, because an editor that replaces the file ends the watch of the file itself.
    const watcher = watch(dirname(path), (_, name) => {
      if (name !== null && name !== basename(path)) return;
      changed();
    });
    // For example a deleted folder: polling continues.
    watcher.on('error', () => watcher.close());
    return () => {
      changed.cancel();
      watcher.close();
    };
  } catch {
    // The system has no more watches.
    return () => {};
  }
};

/**
 * Calls `listener` when the file changes, and sometimes without a change. File-system events are only a hint: they miss
 * changes on network folders and mounts, and through links, so the file is also polled.
 * @returns a function that ends the watch
 */
export const watchContentFile = (path: string, listener: () => void, pollMs = POLL_MS): (() => void) => {
  watchFile(path, { interval: pollMs }, listener);
  const unwatch = watchEvents(path, listener);
  return () => {
    unwatch();
    unwatchFile(path, listener);
  };
};
