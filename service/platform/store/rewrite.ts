import { chmod, chown, mkdir, readdir, realpath, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemDisk } from './disk.ts';
import { isLeftover, keepCopy, previousOf } from './file.ts';

/** Removes the temporary files of interrupted rewrites of a file and its copy. */
export const sweepRewrites = async (path: string): Promise<void> => {
  const target = await realpath(path).catch(() => path);
  const folder = dirname(target);
  const bases = [basename(target), basename(previousOf(path))];
  for (const name of (await readdir(folder)).filter((each) => bases.some((base) => isLeftover(each, base)))) {
    await unlink(join(folder, name)).catch(() => undefined);
  }
};

/**
 * Replaces the operator's file atomically and durably. Preserves its permissions and owner; of a symbolic link the target
 * is replaced.
 * @param mode of a new file
 * @throws the system's error; the old file is intact then
 */
export const rewriteFile = async (path: string, bytes: Uint8Array, mode = 0o644): Promise<void> => {
  const target = await realpath(path).catch(() => path);
  const before = await stat(target).catch(() => null);
  await keepCopy(systemDisk, target, bytes, async (temporary) => {
    await chmod(temporary, (before?.mode ?? mode) & 0o777);
    // Only root may change the owner; other users own the file anyway, or share its group.
    if (before !== null) await chown(temporary, before.uid, before.gid).catch(() => undefined);
  });
  await systemDisk.syncFolder(dirname(target));
};

/**
 * As {@link rewriteFile}, for a file of secrets or keys: a new one is only for this user. Creates its folder.
 * @throws the system's error; the old file is intact then
 */
export const writePrivate = async (path: string, bytes: string | Uint8Array): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  await rewriteFile(path, Buffer.from(bytes), 0o600);
};

/**
 * As {@link writePrivate}, with a second copy as `.prev`, from which the file is read where a damaged block has taken it. It
 * is no older generation, so that it holds all keys, and no secret that was replaced.
 */
export const writeTwice = async (path: string, bytes: string | Uint8Array): Promise<void> => {
  await writePrivate(path, bytes);
  // The file itself is written.
  await writePrivate(previousOf(path), bytes).catch(() => unlink(previousOf(path)).catch(() => undefined));
};
