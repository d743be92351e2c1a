import { execFileSync } from 'node:child_process';
import { mkdtempSync, openSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRootOfCi } from './machine.ts';

/**
 * A real file system of `mebibytes` MiB that ends with this process; null where this machine does not allow one.
 */
export const mountSmallDisk = (mebibytes: number): string | null => {
  const folder = mkdtempSync(join(tmpdir(), 'signage-disk-'));
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder], { stdio: 'ignore' });
    const handle = openSync(folder, 'r');
    // Detached, it lasts as long as the handle: nothing stays mounted, however this process ends.
    execFileSync('/bin/umount', ['--lazy', folder]);
    return `/proc/self/fd/${handle}`;
  } catch (error) {
    if (isRootOfCi) throw error;
    return null;
  } finally {
    rmdirSync(folder);
  }
};
