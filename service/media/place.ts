/** Gives a complete file its name. */
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { CodedError } from '../contract/errors.ts';
import { codeOf, statIfTold, systemDisk } from '../platform/store/disk.ts';
import { renamePatiently } from '../platform/store/file.ts';
import type { MediaContext } from './context.ts';

/** Precedes the name of a file that is being replaced. */
const ASIDE = '.aside-';

/** Ends the replacements that the end of the service has cut off. @param names of all files of the folder */
export const endReplacements = async (folder: string, names: readonly string[], log: Logger): Promise<void> => {
  for (const aside of names.filter((each) => each.startsWith(ASIDE))) {
    const name = aside.slice(ASIDE.length);
    const ended = names.includes(name)
      ? rm(join(folder, aside))
      : systemDisk.rename(join(folder, aside), join(folder, name));
    await ended.catch((err: unknown) => log.warn({ err, name }, 'the replacement of a file could not be ended'));
  }
};

/**
 * Replaces a medium, which may be open. Windows replaces no open file, but lets one be renamed that this service has open.
 * @throws `storage_unavailable` if a program outside the player has it open, or the system's error
 */
export const placeFile = async (temporary: string, path: string, release: MediaContext['release']): Promise<void> => {
  try {
    await renamePatiently(systemDisk, temporary, path);
  } catch (error) {
    if (codeOf(error) !== 'EPERM' && codeOf(error) !== 'EBUSY') throw error;
    if (!(await statIfTold(path))?.isFile()) throw error;
    // On Windows ffmpeg lets nobody rename what it reads.
    await release(path);
    const aside = join(dirname(path), `${ASIDE}${basename(path)}`);
    await systemDisk.rename(path, aside).catch((cause: unknown) => {
      if (codeOf(cause) !== 'EBUSY') throw error;
      const message = 'A program outside the player has the file open; try again in a moment.';
      throw new CodedError('storage_unavailable', message, { cause });
    });
    await systemDisk.rename(temporary, path).catch(async (cause: unknown) => {
      await systemDisk.rename(aside, path);
      throw cause;
    });
    await rm(aside, { force: true }).catch(() => {});
  }
};
