import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

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
