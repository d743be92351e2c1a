import { link, open, readdir, readFile, rename, stat, statfs, unlink } from 'node:fs/promises';

/** An open file. */
interface Handle {
  /** May write less than it was given, as write(2) does. */
  write(bytes: Uint8Array, offset: number): Promise<{ bytesWritten: number }>;
  stat(): Promise<{ size: number }>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** What the store asks of a disk: little enough that every single step can be made to fail. */
export interface Disk {
  open(path: string, flags: 'w' | 'wx', mode: number): Promise<Handle>;
  readFile(path: string): Promise<Buffer>;
  readdir(folder: string): Promise<string[]>;
  stat(path: string): Promise<{ size: number }>;
  link(path: string, other: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Makes the folder's names durable. */
  syncFolder(folder: string): Promise<void>;
  /** Bytes that this process may still take. */
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
    // Windows opens no folders; NTFS journals its names by itself.
    if (process.platform === 'win32') return;
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } catch (error) {
      // Some network and shared folders can't sync names at all; PostgreSQL lets that pass as well.
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

/** The system's name for what went wrong, such as `ENOENT`. */
export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | null)?.code;

/** Whether there was no room: the disk is full, or this user's share of it. */
export const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '');

/** Whether the disk takes no writes at all: it is mounted read-only, or it is failing. */
export const isUnavailable = (error: unknown): boolean => ['EROFS', 'EIO'].includes(codeOf(error) ?? '');
