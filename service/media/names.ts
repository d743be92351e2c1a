/** Gives files of this box other names. */
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { copyFile, link, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, systemDisk } from '../platform/store/disk.ts';
import { renamePatiently, syncFile } from '../platform/store/file.ts';
import type { Catalog } from './catalog.ts';
import type { MediaContext } from './context.ts';
import { dateOf } from './folders.ts';
import type { StorageQuota } from './quota.ts';
import { fileAt } from './serve.ts';

interface Dependencies {
  catalog: Pick<Catalog, 'again'>;
  storage: Pick<StorageQuota, 'require'>;
}

const areSpellings = (name: string, other: string): boolean =>
  name !== other && name.toLowerCase() === other.toLowerCase();

/** Whether two names are of one file, because the disk ignores case, as those of Windows do. */
export const isOneFile = async (folder: string, name: string, other: string): Promise<boolean> => {
  if (!areSpellings(name, other)) return false;
  const listed = await readdir(folder);
  if (listed.includes(name) && listed.includes(other)) return false;
  return (await fileAt(folder, name)) !== null && (await fileAt(folder, other)) !== null;
};

/** Whether a folder has `to` but not `name`, by which a disk that ignores case finds it, too. */
export const isRespelled = async (folder: string, name: string, to: string): Promise<boolean> => {
  if (!areSpellings(name, to)) return false;
  const listed = await readdir(folder);
  return listed.includes(to) && !listed.includes(name);
};

export const createNames = ({ folders }: Pick<MediaContext, 'folders'>, { catalog, storage }: Dependencies) => ({
  /**
   * Gives a file a second name in its folder, or in another one.
   * @param isApart whether the two may not share a date, and so the bytes are copied
   * @throws the system's error; `EEXIST`: the name is taken
   */
  async addName(
    path: string,
    stats: Stats,
    target: string,
    { modifiedAt, isApart = false }: { modifiedAt: Date; isApart?: boolean },
  ): Promise<void> {
    const temporary = join(dirname(target), `.upload-${randomUUID()}`);
    const copy = async (): Promise<void> => {
      await storage.require(dirname(target), stats.size);
      await copyFile(path, temporary);
      await utimes(temporary, modifiedAt, modifiedAt);
      await syncFile(temporary);
      await rename(temporary, target);
    };
    try {
      if (isApart) await copy();
      else
        await link(path, target).catch((error: unknown) => {
          if (codeOf(error) === 'EEXIST') throw error;
          // Another disk, or one that has no second names.
          return copy();
        });
      const linked = await stat(target);
      // The modification time is kept if possible, so that caches and pages that are in the middle of the file go on.
      if (dateOf(linked) !== modifiedAt.getTime()) await utimes(target, modifiedAt, modifiedAt);
      const [named, kept] = [await stat(target), await stat(path)];
      // The catalog forgets names that no folder has. The old name is looked at last, or the hash would have no file.
      await folders.changed(target, path);
      catalog.again(path, stats, target, named);
      if (kept.mtimeMs !== stats.mtimeMs) catalog.again(target, named, path, kept);
      await systemDisk.syncFolder(dirname(target));
    } finally {
      await rm(temporary, { force: true });
      await folders.changed(path, target);
    }
  },

  /** Renames a file of {@link isOneFile}, of which there is only one name at a time. @throws the system's error */
  async respell(folder: string, name: string, to: string, modifiedAt: Date): Promise<void> {
    const [path, target] = [join(folder, name), join(folder, to)];
    const stats = await stat(path);
    await renamePatiently(systemDisk, path, target);
    // Some file systems of Linux do nothing where both names are of one file.
    if (!(await isRespelled(folder, name, to))) {
      const between = join(folder, `${randomUUID()} ${to}`);
      await rename(path, between);
      await rename(between, target);
    }
    if (dateOf(stats) !== modifiedAt.getTime()) await utimes(target, modifiedAt, modifiedAt);
    await folders.changed(target);
    catalog.again(path, stats, target, await stat(target));
    await systemDisk.syncFolder(folder);
    // The disk would tell that the old name is still there.
    await folders.read(0);
  },
});
