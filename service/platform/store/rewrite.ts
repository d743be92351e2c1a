import { randomUUID } from 'node:crypto';
import { chmod, chown, readdir, realpath, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemDisk } from './disk.ts';
import { isLeftover, renamePatiently, writeDurably } from './file.ts';

/** Sweeps what is left beside a file of rewriting it, where the power went meanwhile. */
export const sweepRewrites = async (path: string): Promise<void> => {
  const target = await realpath(path).catch(() => path);
  const folder = dirname(target);
  for (const name of (await readdir(folder)).filter((each) => isLeftover(each, basename(target)))) {
    await unlink(join(folder, name)).catch(() => undefined);
  }
};

/**
 * Replaces the operator's file, whole and for good. It stays the operator's: behind a link it is the link's target that
 * is replaced, and who may read and write it goes on to.
 *
 * @param mode of a file that was not there before
 * @throws the system's error; the file is the old one then
 */
export const rewriteFile = async (path: string, bytes: Uint8Array, mode = 0o644): Promise<void> => {
  const target = await realpath(path).catch(() => path);
  const before = await stat(target).catch(() => null);
  const temporary = `${target}.${randomUUID()}.tmp`;
  try {
    await writeDurably(systemDisk, temporary, 'wx', bytes);
    await chmod(temporary, (before?.mode ?? mode) & 0o777);
    // Only root may give a file away; for everybody else it is their own in any case, or belongs to a shared group.
    if (before !== null) await chown(temporary, before.uid, before.gid).catch(() => undefined);
    await renamePatiently(systemDisk, temporary, target);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await systemDisk.syncFolder(dirname(target));
};
