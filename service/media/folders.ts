import type { Stats } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { EpochMs } from '../domain/time.ts';
import { createQueue } from '../platform/queue.ts';
import { isMissing, statIfTold } from '../platform/store/disk.ts';

/** Changes whenever a file is replaced or written: size, modification time (finer than 1 ms) and inode. */
export const fingerprint = ({ size, mtimeMs, ino }: Pick<Stats, 'size' | 'mtimeMs' | 'ino'>): string =>
  [size, mtimeMs, ino].map((part) => part.toString(36)).join('-');

/**
 * The date of a file, ms since the epoch, as records have it: `utimes` cuts off after the µs, so that a whole ms may be
 * read as a little less.
 */
export const dateOf = ({ mtimeMs }: Pick<Stats, 'mtimeMs'>): EpochMs => Math.round(mtimeMs);

/** The last known `stat` of a file; bytes, ms since the epoch. */
interface FoundFile {
  size: number;
  mtimeMs: number;
  ino: number;
}

/** The files of one folder by name, including hidden files but not subfolders. */
type Files = ReadonlyMap<string, FoundFile>;

/** Files that are added or removed by hand are noticed within this time, in ms. */
export const KEPT_MS = 60_000;
/** A file that has not changed for so long is no longer being written, ms. */
const STILL_MS = 5_000;
/** Concurrent `stat` calls: the rest of the service shares the same small thread pool. */
const AT_ONCE = 16;

/** A cached listing of the media folders, so that an upload does not have to `stat` every file. */
export type Folders = ReturnType<typeof createFolders>;

/** @returns null: there is none; undefined: as that of {@link statIfTold} */
const statFile = async (path: string): Promise<FoundFile | null | undefined> => {
  const stats = await statIfTold(path);
  if (stats === undefined) return undefined;
  return stats?.isFile() ? { size: stats.size, mtimeMs: stats.mtimeMs, ino: stats.ino } : null;
};

type Replace = (from: string, to: string) => Promise<void>;

/** Gives a file the composed form of its name. Of two files of one name that which arrived last counts, once it is complete. */
const composeName = async (from: string, to: string, replace: Replace): Promise<void> => {
  const [file, taken] = [await statIfTold(from), await statIfTold(to)];
  if (taken === null) return rename(from, to);
  // Some file systems find one file by both forms.
  if (!file?.isFile() || !taken?.isFile() || file.ino === taken.ino || file.ctimeMs <= taken.ctimeMs) return;
  if (Math.abs(Date.now() - file.ctimeMs) > STILL_MS) await replace(from, to);
};

/**
 * The names of a folder by which its files are asked for, which those that were put there by hand get. Hidden ones are left
 * to the programs that write them, such as rsync, and rename them when they are complete.
 */
const composeNames = async (folder: string, entries: readonly string[], replace: Replace): Promise<string[]> => {
  const names = new Set<string>();
  for (const entry of entries) {
    const name = entry.startsWith('.') ? entry : entry.normalize('NFC');
    if (name !== entry) await composeName(join(folder, entry), join(folder, name), replace).catch(() => undefined);
    names.add(name);
  }
  return [...names];
};

/**
 * Walks the folders when the listing is too old. Changes by the service itself are reported through `changed`.
 * @param now a monotonic clock, in ms
 * @param replace gives a file the name of another one
 */
export const createFolders = (
  paths: readonly string[],
  now: () => number = () => performance.now(),
  replace: Replace = rename,
) => {
  let known = new Map(paths.map((folder) => [folder, new Map<string, FoundFile>()]));
  let sum = 0;
  /** When the walk that produced `known` began. */
  let walkedAt = Number.NEGATIVE_INFINITY;
  let walking: Promise<void> | null = null;
  let isComplete = false;
  /** Files that changed during a walk, possibly after the walk visited them. */
  const suspect = new Set<string>();
  const enqueue = createQueue();

  /** Updates one file of a listing. @returns the change of the total size, in bytes */
  const note = (files: typeof known, path: string, found: FoundFile | null): number => {
    const folder = files.get(dirname(path));
    const before = folder?.get(basename(path))?.size ?? 0;
    if (found === null) folder?.delete(basename(path));
    else folder?.set(basename(path), found);
    return folder === undefined ? 0 : (found?.size ?? 0) - before;
  };

  const walk = async (): Promise<void> => {
    const beganAt = now();
    const files: typeof known = new Map(paths.map((folder) => [folder, new Map()]));
    let bytes = 0;
    let isWhole = true;
    /** Where the system does not tell, what was known stays. */
    const add = async (path: string): Promise<void> => {
      const found = await statFile(path);
      isWhole &&= found !== undefined;
      const before = known.get(dirname(path))?.get(basename(path)) ?? null;
      bytes += note(files, path, found === undefined ? before : found);
    };
    const list = (folder: string): Promise<string[]> =>
      readdir(folder).catch((error: unknown) => {
        isWhole &&= isMissing(error);
        return isMissing(error) ? [] : [...(known.get(folder)?.keys() ?? [])];
      });
    suspect.clear();
    for (const folder of paths) {
      const names = await composeNames(folder, await list(folder), replace);
      for (let at = 0; at < names.length; at += AT_ONCE) {
        await Promise.all(names.slice(at, at + AT_ONCE).map((name) => add(join(folder, name))));
      }
    }
    for (const path of suspect) {
      suspect.delete(path);
      await add(path);
    }
    known = files;
    sum = bytes;
    walkedAt = beganAt;
    isComplete ||= isWhole;
  };

  const startWalk = (): Promise<void> => {
    walking ??= walk().finally(() => {
      walking = null;
    });
    return walking;
  };

  const refresh = async (maxAgeMs: number): Promise<void> => {
    const wanted = now() - maxAgeMs;
    // Refreshes ahead of expiry, so that requests to a busy service rarely wait for a walk.
    if (maxAgeMs > 0 && walkedAt >= wanted && walkedAt < wanted + maxAgeMs / 2) void startWalk();
    while (walkedAt < wanted) await startWalk();
  };

  return {
    /** The files of each folder; the listing is at most `maxAgeMs` old. */
    async read(maxAgeMs = KEPT_MS): Promise<ReadonlyMap<string, Files>> {
      await refresh(maxAgeMs);
      return known;
    },
    /** Whether all folders have been read without an error; before that, a file that is not listed may be there. */
    isComplete: (): boolean => isComplete,
    /** Whether a file was there when the folder was last listed. */
    has: (path: string): boolean => known.get(dirname(path))?.has(basename(path)) === true,
    /** The total size of all files, in bytes. */
    async bytes(): Promise<number> {
      await refresh(KEPT_MS);
      return sum;
    },
    /** Updates the listing for files that this service has written, renamed or removed. */
    async changed(...changed: string[]): Promise<void> {
      if (walking !== null) for (const path of changed) suspect.add(path);
      await enqueue(async () => {
        for (const path of changed) {
          const found = await statFile(path);
          if (found !== undefined) sum += note(known, path, found);
        }
      });
    },
  };
};
