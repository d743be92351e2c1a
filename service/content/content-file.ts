/** The operator's `content.json`: how it is read and watched, its backups, and the demo that it is first. */
import { unwatchFile, watch, watchFile } from 'node:fs';
import { copyFile, cp, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createDebounce } from '../domain/debounce.ts';
import { fileTime } from '../domain/time.ts';
import { isMissing } from '../platform/store/disk.ts';
import { makeFolder } from '../platform/store/file.ts';
import { type Reserve, writeWithReserve } from '../platform/store/reserve.ts';
import { rewriteFile } from '../platform/store/rewrite.ts';
import type { Tempo } from '../tempo.ts';
import { readDocument } from './lenient.ts';
import { checkContent, type Reading } from './validate.ts';

interface ReadFile {
  /** Empty if the file can't be read. */
  bytes: Buffer;
  /** Null: the bytes are those that play. */
  reading: Reading | null;
  /** The file's modification time, but never in the future. */
  changedAt: Date;
}

interface Known {
  /** The bytes that play, which are not validated again. */
  playing: Buffer | null;
  /** The text of the stored document, which another box may have made. */
  stored: string | null;
}

const read = async (path: string, { playing, stored }: Known): Promise<ReadFile> => {
  try {
    const [bytes, { mtimeMs }] = await Promise.all([readFile(path), stat(path)]);
    const isStored = stored !== null && bytes.equals(Buffer.from(stored));
    const reading = playing?.equals(bytes) === true ? null : isStored ? readDocument(bytes) : checkContent(bytes);
    return { bytes, reading, changedAt: new Date(Math.min(mtimeMs, Date.now())) };
  } catch (error) {
    const message = isMissing(error)
      ? 'content.json is missing'
      : `content.json cannot be read: ${(error as Error).message}`;
    return { bytes: Buffer.alloc(0), reading: { ok: false, issues: [{ path: '', message }] }, changedAt: new Date() };
  }
};

/** Reads and validates the file; never throws. An invalid file is read again, after a delay. */
export const readContentFile = async (
  { content: { settle } }: Tempo,
  path: string,
  known: Known,
): Promise<ReadFile> => {
  let found = await read(path, known);
  for (const ms of settle) {
    if (found.reading?.ok !== false) break;
    await delay(ms);
    found = await read(path, known);
  }
  return found;
};

/** Calls `listener` on events of the file system. @returns a function that ends the watch */
const watchEvents = (path: string, listener: () => void, quietMs: number): (() => void) => {
  const changed = createDebounce(listener, { quietMs, longestMs: Number.POSITIVE_INFINITY });
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
export const watchContentFile = (
  { poll, quiet }: Pick<Tempo['content'], 'poll' | 'quiet'>,
  path: string,
  listener: () => void,
): (() => void) => {
  watchFile(path, { interval: poll }, listener);
  const unwatch = watchEvents(path, listener, quiet);
  return () => {
    unwatch();
    unwatchFile(path, listener);
  };
};

const PREFIX = 'content.json.lost-';
const MAX_BACKUPS = 10;
/** What one rewrite of the file can destroy: an edit that was loaded, and an invalid one. */
const AT_ONCE = 2;

/** @param reserve released when the disk is full; absent: there is none */
export const createBackups = (dataDir: string, reserve?: Pick<Reserve, 'release'>) => {
  // An unreadable folder lists nothing; writing a backup reports the error.
  const list = async (): Promise<string[]> =>
    (await readdir(dataDir).catch((): string[] => []))
      .filter((name) => name.startsWith(PREFIX) && !name.endsWith('.tmp'))
      .toSorted();

  return {
    /** File names, oldest first. */
    list,
    /**
     * Writes a backup, durable once this resolves, and deletes the oldest beyond {@link MAX_BACKUPS}. A rewrite that
     * fails is tried again and again, and what it has backed up then is not written again.
     * @returns the file name; null: it is backed up already
     * @throws the system's error
     */
    async keep(text: Uint8Array, lostAt: Date): Promise<string | null> {
      const taken = await list();
      for (const newest of taken.slice(-AT_ONCE)) {
        const known = await readFile(join(dataDir, newest)).catch(() => null);
        if (known?.equals(text) === true) return null;
      }
      let at = lostAt.getTime();
      const nameAt = () => PREFIX + fileTime(at);
      while (taken.includes(nameAt())) at += 1;
      const name = nameAt();
      await writeWithReserve(reserve, () => rewriteFile(join(dataDir, name), text));
      for (const old of taken.slice(0, 1 - MAX_BACKUPS)) await unlink(join(dataDir, old));
      return name;
    },
  };
};

interface Demo {
  /** `content.json` and `media/`. */
  demoDir: string;
  /** The media are copied to this folder. */
  mediaDir: string;
}

const demoOf = ({ demoDir }: Pick<Demo, 'demoDir'>): string => join(demoDir, 'content.json');

/** Writes the demo if there is no file at `path`. */
export const writeDemo = async (path: string, demo: Demo): Promise<void> => {
  const isAbsent = await stat(path).then(() => false, isMissing);
  if (!isAbsent) return;
  const { demoDir, mediaDir } = demo;
  await makeFolder(mediaDir);
  await cp(join(demoDir, 'media'), mediaDir, { recursive: true, force: false });
  // Last, and atomic: after an interrupted first start the next start writes the demo again.
  await copyFile(demoOf(demo), `${path}.new`);
  await rename(`${path}.new`, path);
};

/** Whether the bytes are those of the unedited demo. */
export const isDemo = async (bytes: Buffer, demo: Pick<Demo, 'demoDir'>): Promise<boolean> =>
  readFile(demoOf(demo)).then(
    (demoFile) => bytes.equals(demoFile),
    () => false,
  );
