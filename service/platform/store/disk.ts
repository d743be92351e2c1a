import { link, open, readdir, readFile, rename, stat, statfs, unlink } from 'node:fs/promises';

/** An open file. */
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

/** Whether the disk, or the user's quota, is full. */
export const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '');

/** Whether the disk cannot be written at all: it is mounted read-only or failing. */
export const isUnavailable = (error: unknown): boolean => ['EROFS', 'EIO'].includes(codeOf(error) ?? '');
