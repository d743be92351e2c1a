import type { Stats } from 'node:fs';

/** Changes whenever a file is replaced or written: size, modification time (finer than 1 ms) and inode. */
export const fingerprint = ({ size, mtimeMs, ino }: Pick<Stats, 'size' | 'mtimeMs' | 'ino'>): string =>
  [size, mtimeMs, ino].map((part) => part.toString(36)).join('-');
