import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder, and those above it. Not by Node's `recursive`, which never comes back from below a folder that takes none
 * and says that it is not there (`/proc`).
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
