import { randomUUID } from 'node:crypto';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf, type Disk } from './disk.ts';

const temporaryName = (path: string): string => `${path}.${randomUUID()}.tmp`;

/** The path of the previous generation. */
export const previousOf = (path: string): string => `${path}.prev`;

/** Whether `name` is a temporary file that an interrupted write of `base` left behind. */
export const isLeftover = (name: string, base: string): boolean =>
  name.startsWith(`${base}.`) && /^[0-9a-f-]{36}\.tmp$/.test(name.slice(base.length + 1));

/** What a file is to hold: all of it, or chunks of it that are not all in memory. */
type Content = Uint8Array | AsyncIterable<Uint8Array>;

/**
 * Writes a file and makes its content durable; its name is durable once the folder is synced.
 * @throws the system's error, also if a full disk truncated the file silently
 */
export async function writeDurably(disk: Disk, path: string, flags: 'w' | 'wx', content: Content): Promise<void> {
  const handle = await disk.open(path, flags, 0o600);
  try {
    let length = 0;
    for await (const bytes of content instanceof Uint8Array ? [content] : content) {
      length += bytes.length;
      for (let offset = 0; offset < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, offset);
        if (bytesWritten === 0) throw new Error(`${path} could not be written completely`);
        offset += bytesWritten;
      }
    }
    const { size } = await handle.stat();
    if (size !== length) throw new Error(`${path} is ${size} bytes long instead of ${length}`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes the content of a file durable. @throws the system's error */
export const syncFile = async (path: string): Promise<void> => {
  // Windows syncs only what may be written.
  const handle = await open(path, 'r+');
  await handle.sync().finally(() => handle.close());
};

/**
 * Replaces a file atomically and keeps the previous one as `.prev`. At any time, even after a power cut, the name refers to
 * the complete old or the complete new file. Once this resolves the new file is durable; if it rejects, the file is one of
 * both.
 */
export async function replaceFile(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  await keepCopy(disk, path, bytes, () => keepPrevious(disk, path));
  await disk.syncFolder(dirname(path));
}

/**
 * Writes a copy of a file under another name, which it replaces.
 * @param prepare called with the path of what is written, before it has the name
 * @throws the system's error
 */
export async function keepCopy(
  disk: Disk,
  path: string,
  content: Content,
  prepare?: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = temporaryName(path);
  try {
    await writeDurably(disk, temporary, 'wx', content);
    await prepare?.(temporary);
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
    // The first file has no predecessor, and some file systems (exFAT) have no links: then none is kept.
  }
  // A rename between two names of one file does nothing (POSIX), so the temporary name may still exist.
  await disk.unlink(temporary).catch(() => {});
}

/** Renames a file; retries for 0.6 s while another program has it open, as virus scanners on Windows do. */
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

/**
 * Creates a folder and its parents. Node's `recursive` never returns below a folder in which `mkdir` fails with ENOENT
 * (`/proc`).
 * @throws the system's error
 */
export const makeFolder = (path: string): Promise<void> =>
  mkdir(path).catch(async (error: NodeJS.ErrnoException) => {
    const found = await stat(path).catch(() => null);
    if (found?.isDirectory()) return;
    if (error.code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await mkdir(path);
  });
