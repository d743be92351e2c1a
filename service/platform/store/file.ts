import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf, type Disk } from './disk.ts';

const temporaryName = (path: string): string => `${path}.${randomUUID()}.tmp`;

/** Where the generation before the current one is kept. */
export const previousOf = (path: string): string => `${path}.prev`;

/** Whether `name` is what a write of the file `base` leaves behind when the power goes. */
export const isLeftover = (name: string, base: string): boolean =>
  name.startsWith(`${base}.`) && /^[0-9a-f-]{36}\.tmp$/.test(name.slice(base.length + 1));

/**
 * Writes a whole file and makes its bytes durable (not its name: that is the folder's).
 *
 * @throws the system's error, also where a full disk cut the file short without saying so
 */
export async function writeDurably(disk: Disk, path: string, flags: 'w' | 'wx', bytes: Uint8Array): Promise<void> {
  const handle = await disk.open(path, flags, 0o600);
  try {
    let offset = 0;
    while (offset < bytes.length) {
      const { bytesWritten } = await handle.write(bytes, offset);
      if (bytesWritten === 0) throw new Error(`the disk takes no more of ${path}`);
      offset += bytesWritten;
    }
    const { size } = await handle.stat();
    if (size !== bytes.length) throw new Error(`${path} is ${size} bytes long instead of ${bytes.length}`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Replaces the file by `bytes` and keeps what was there as `.prev`. At every moment, a power cut included, the name
 * stands for either the old file or the new one, whole. When this resolves it is the new one for good; when it
 * rejects it may be either.
 */
export async function replaceFile(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  const temporary = temporaryName(path);
  try {
    await writeDurably(disk, temporary, 'wx', bytes);
    await keepPrevious(disk, path);
    await renamePatiently(disk, temporary, path);
  } catch (error) {
    await disk.unlink(temporary).catch(() => {});
    throw error;
  }
  await disk.syncFolder(dirname(path));
}

/** Writes `bytes` to another name, in place of what is there. @throws the system's error */
export async function keepCopy(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  const temporary = temporaryName(path);
  try {
    await writeDurably(disk, temporary, 'wx', bytes);
    await renamePatiently(disk, temporary, path);
  } catch (error) {
    await disk.unlink(temporary).catch(() => {});
    throw error;
  }
}

async function keepPrevious(disk: Disk, path: string): Promise<void> {
  const temporary = temporaryName(path);
  try {
    await disk.link(path, temporary);
    await disk.rename(temporary, previousOf(path));
  } catch {
    // The first file has no predecessor, and some file systems (exFAT) have no links: then there is no second net.
  }
  // A rename between two names of one file does nothing (POSIX), so the first name may still be there.
  await disk.unlink(temporary).catch(() => {});
}

/** Renames, waiting up to 0.6 s for whoever holds the file open: on Windows virus scanners and indexers do. */
export async function renamePatiently(disk: Disk, from: string, to: string): Promise<void> {
  for (const wait of [10, 20, 40, 80, 160, 320]) {
    try {
      return await disk.rename(from, to);
    } catch (error) {
      if (codeOf(error) !== 'EPERM' && codeOf(error) !== 'EBUSY') throw error;
    }
    await pause(wait);
  }
  return disk.rename(from, to);
}
