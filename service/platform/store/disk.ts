import type { Stats } from 'node:fs';
import { link, open, readdir, readFile, rename, rm, stat, statfs, unlink } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Logger } from 'pino';

interface Handle {
  /** May write fewer bytes than given, as write(2). */
  write(bytes: Uint8Array, offset: number): Promise<{ bytesWritten: number }>;
  stat(): Promise<{ size: number }>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The disk operations of the store; so few that tests can make each of them fail. */
export interface Disk {
  open(path: string, flags: 'w' | 'wx', mode: number): Promise<Handle>;
  readFile(path: string): Promise<Buffer>;
  readdir(folder: string): Promise<string[]>;
  stat(path: string): Promise<{ size: number }>;
  link(path: string, other: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Makes the names in the folder durable. */
  syncFolder(folder: string): Promise<void>;
  /** How many bytes this process may still write. */
  free(folder: string): Promise<number>;
}

/** The machine's own disk. */
export const systemDisk: Disk = {
  open,
  readFile: (path) => readFile(path),
  readdir: (folder) => readdir(folder),
  stat: (path) => stat(path),
  link,
  rename,
  unlink,
  async syncFolder(folder) {
    // Windows cannot open folders; NTFS journals names.
    if (process.platform === 'win32') return;
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } catch (error) {
      // Some network file systems cannot sync folders; PostgreSQL ignores that too.
      if (!['EBADF', 'EINVAL', 'ENOTSUP'].includes(codeOf(error) ?? '')) throw error;
    } finally {
      await handle.close();
    }
  },
  async free(folder) {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  },
};

/** The system's error code, such as `ENOENT`. */
export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | null)?.code;

/** Whether the file or folder does not exist. */
export const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT';

/** What is at a path; null: nothing; undefined: the system does not tell, as where too many files are open. */
export const statIfTold = (path: string): Promise<Stats | null | undefined> =>
  stat(path).catch((error: unknown) => (isMissing(error) ? null : undefined));

/**
 * Removes a file or folder that an earlier run of the service left. One that cannot be removed, as on a disk that takes no
 * writes, is logged and stays: the service starts in any case.
 */
export const removeLeftover = (path: string, log: Pick<Logger, 'warn'>): Promise<void> =>
  rm(path, { recursive: true, force: true }).catch((error: unknown) =>
    log.warn({ err: error, path }, 'a file that is not needed any more could not be removed'),
  );

/** Whether the process or the machine was out of something for a moment, which says nothing of the file or program. */
export const isShortage = (error: unknown): boolean =>
  ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'].includes(codeOf(error) ?? '');

/** Whether the disk, or the user's quota, is full. */
export const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '');

/** What an operator does about a disk or a file that takes no writes, by the system's error code. */
const remedies: Readonly<Record<string, string>> = {
  EROFS: 'mount its disk writable',
  EIO: 'check the health of its disk',
  EACCES: 'let the user that runs the player write to it and to its folder',
  EPERM: 'remove its protection, or let the user that runs the player own it',
};

/**
 * A sentence that names the file that cannot be written or read, and what to do; null: the error is of another kind.
 * @param error of the system
 */
export const unavailability = (error: unknown): string | null => {
  const code = codeOf(error) ?? '';
  const { path, syscall } = error as { path?: unknown; syscall?: unknown };
  // Programs that cannot be started and ports that cannot be opened have these codes too.
  if (!Object.hasOwn(remedies, code) || /^(?:spawn|listen|bind|connect)/.test(String(syscall))) return null;
  // Files are written under a temporary name first.
  const name = typeof path === 'string' ? basename(path).replace(/\.[0-9a-f-]{36}\.tmp$/, '') : 'A file';
  return `${name} cannot be written or read (${code}): ${remedies[code]}.`;
};
