import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createQueue } from '../platform/queue.ts';

/** A file as it was last looked at; bytes, ms since the epoch. */
interface FoundFile {
  size: number;
  mtimeMs: number;
  ino: number;
}

/** The files of one folder by name, hidden ones too; folders are left out. */
type Files = ReadonlyMap<string, FoundFile>;

/** Files that are added or removed by hand count after this long, in ms. */
export const KEPT_MS = 60_000;
/** Files that are looked at side by side: the rest of the service waits for the same few threads. */
const AT_ONCE = 16;

/** What the media folders hold, kept between requests, so that no upload has to look at every file. */
export interface Folders {
  /** The files of each folder, as they were no longer than `maxAgeMs` ago. */
  read(maxAgeMs?: number): Promise<ReadonlyMap<string, Files>>;
  /** Bytes of all files together. */
  bytes(): Promise<number>;
  /** This service has written, renamed or removed these files: looks at them again. */
  changed(...paths: string[]): Promise<void>;
}

const look = async (path: string): Promise<FoundFile | null> => {
  const stats = await stat(path).catch(() => null);
  return stats?.isFile() ? { size: stats.size, mtimeMs: stats.mtimeMs, ino: stats.ino } : null;
};

/**
 * The folders are walked when what is known of them is too old; what the service itself changes is told, file by file.
 * @param now a monotonic clock, in ms
 */
export const createFolders = (paths: readonly string[], now: () => number = () => performance.now()): Folders => {
  let known = new Map(paths.map((folder) => [folder, new Map<string, FoundFile>()]));
  let sum = 0;
  /** When the walk began that `known` is from. */
  let walkedAt = Number.NEGATIVE_INFINITY;
  let walking: Promise<void> | null = null;
  /** Files that changed during a walk, which may have looked at them before. */
  const suspect = new Set<string>();
  const inTurn = createQueue();

  /** Answers how many bytes more there are. */
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
    const add = async (path: string): Promise<void> => {
      const found = await look(path);
      bytes += note(files, path, found);
    };
    suspect.clear();
    for (const folder of paths) {
      const names = await readdir(folder).catch((): string[] => []);
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
  };

  const startWalk = (): Promise<void> => {
    walking ??= walk().finally(() => {
      walking = null;
    });
    return walking;
  };

  const refresh = async (maxAgeMs: number): Promise<void> => {
    const wanted = now() - maxAgeMs;
    // In good time, so that a busy service hardly ever waits for it.
    if (maxAgeMs > 0 && walkedAt >= wanted && walkedAt < wanted + maxAgeMs / 2) void startWalk();
    while (walkedAt < wanted) await startWalk();
  };

  return {
    async read(maxAgeMs = KEPT_MS) {
      await refresh(maxAgeMs);
      return known;
    },
    async bytes() {
      await refresh(KEPT_MS);
      return sum;
    },
    async changed(...changed) {
      if (walking !== null) for (const path of changed) suspect.add(path);
      await inTurn(async () => {
        for (const path of changed) {
          const found = await look(path);
          sum += note(known, path, found);
        }
      });
    },
  };
};
