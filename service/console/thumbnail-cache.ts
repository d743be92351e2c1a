/** Thumbnails on the disk, up to a limit; the oldest are deleted first. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disk } from '../platform/store/disk.ts';
import { keepCopy, makeFolder } from '../platform/store/file.ts';

/** A site has some thousand media; a thumbnail has 20 to 80 kB. */
const MAX_FILES = 5_000;
const MAX_BYTES = 256 * 1024 ** 2;

const NAME = /^[0-9a-f]{64}\.jpg$/;

export interface ThumbnailCache {
  /** Null: there is none. */
  read(key: string): Promise<Buffer | null>;
  /** @throws the system's error */
  write(key: string, bytes: Buffer): Promise<void>;
}

/** @param folder made at the first write; keys are SHA-256 in hex */
export const createThumbnailCache = (folder: string, disk: Disk): ThumbnailCache => {
  /** Sizes in bytes by key, oldest first. */
  let sizes: Map<string, number> | undefined;
  const pathOf = (key: string): string => join(folder, `${key}.jpg`);

  const load = async (): Promise<Map<string, number>> => {
    await makeFolder(folder);
    const found: { key: string; size: number; mtimeMs: number }[] = [];
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      if (NAME.test(name)) found.push({ key: name.slice(0, 64), ...(await stat(path)) });
      // Left of a write that a power cut interrupted.
      else await disk.unlink(path).catch(() => undefined);
    }
    return new Map(found.toSorted((a, b) => a.mtimeMs - b.mtimeMs).map(({ key, size }) => [key, size]));
  };

  return {
    read: (key) => readFile(pathOf(key)).catch(() => null),
    write: async (key, bytes) => {
      sizes ??= await load();
      await keepCopy(disk, pathOf(key), bytes);
      sizes.set(key, bytes.length);
      let total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
      for (const [oldest, size] of sizes) {
        if (sizes.size <= MAX_FILES && total <= MAX_BYTES) break;
        sizes.delete(oldest);
        total -= size;
        await disk.unlink(pathOf(oldest)).catch(() => undefined);
      }
    },
  };
};
