/** Gives a complete file its name. */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CodedError } from '../contract/errors.ts';
import { codeOf, systemDisk } from '../platform/store/disk.ts';
import { renamePatiently } from '../platform/store/file.ts';

/**
 * Replaces a medium, which may be open. Windows replaces no open file, but lets one be renamed that this service has open.
 * @throws `storage_unavailable` if another program has it open, or the system's error
 */
export const placeFile = async (temporary: string, path: string): Promise<void> => {
  try {
    await renamePatiently(systemDisk, temporary, path);
  } catch (error) {
    if (codeOf(error) !== 'EPERM' && codeOf(error) !== 'EBUSY') throw error;
    // The next start removes files of this name.
    const aside = join(dirname(path), `.upload-${randomUUID()}`);
    await systemDisk.rename(path, aside).catch((cause: unknown) => {
      if (codeOf(cause) !== 'EBUSY') throw error;
      throw new CodedError('storage_unavailable', 'Another program has the file open; try again in a moment.', {
        cause,
      });
    });
    await systemDisk.rename(temporary, path).catch(async (cause: unknown) => {
      await systemDisk.rename(aside, path);
      throw cause;
    });
    await rm(aside, { force: true }).catch(() => {});
  }
};
