import { execFileSync } from 'node:child_process';
import { mkdtempSync, openSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A real file system of so many MiB that goes with this process; null where this machine does not let us have one.
 */
export const mountSmallDisk = (mebibytes: number): string | null => {
  const folder = mkdtempSync(join(tmpdir(), 'signage-disk-'));
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder], { stdio: 'ignore' });
    const handle = openSync(folder, 'r');
    // Detached, it lasts as long as the handle: nothing stays mounted, however this process ends.
    execFileSync('/bin/umount', ['--lazy', folder]);
    return `/proc/self/fd/${handle}`;
  } catch {
    return null;
  } finally {
    rmdirSync(folder);
  }
};
