import type { Stats } from 'node:fs';

/** Changes whenever a file is replaced or written: its size, time of change (below a millisecond) and inode. */
export const fingerprint = ({ size, mtimeMs, ino }: Pick<Stats, 'size' | 'mtimeMs' | 'ino'>): string =>
  [size, mtimeMs, ino].map((part) => part.toString(36)).join('-');
