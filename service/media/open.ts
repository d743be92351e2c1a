/** Opens the media files of this box for reading. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '../contract/errors.ts';
import { codeOf } from '../platform/store/disk.ts';
import { fingerprint } from './fingerprint.ts';
import { typeOfFile } from './inspect.ts';

/** An open file. It stays readable if the file is replaced or deleted meanwhile. */
export interface OpenFile {
  handle: FileHandle;
  stats: Stats;
}

/** An open media file and its metadata. */
export interface OpenMedium extends OpenFile {
  path: string;
  /** RFC 9110 entity tag, without the quotes: a new one for each version of the file. */
  etag: string;
  /** The media type that it is served with. */
  type: string;
  /** SHA-256 (hex); undefined if not known. */
  sha256: string | undefined;
}

/** The error codes of a missing or unreadable file. */
const ABSENT: readonly string[] = ['ENOENT', 'EISDIR', 'ENXIO', 'ELOOP', 'ENAMETOOLONG'];

/** @param folders searched in this order */
export const createOpener =
  (folders: readonly string[], catalog: { hashOf(path: string, stats: Stats): string | undefined }) =>
  /**
   * Opens a file for reading. The caller closes it.
   * @throws CodedError `file_not_found`
   */
  async (name: string): Promise<OpenMedium> => {
    for (const folder of folders) {
      try {
        // Non-blocking, so that a named pipe in the folder does not hang the request.
        const path = join(folder, name);
        const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
        const stats = await handle.stat();
        if (stats.isFile()) {
          const type = await typeOfFile(handle, name);
          return { handle, stats, path, etag: fingerprint(stats), type, sha256: catalog.hashOf(path, stats) };
        }
        await handle.close();
      } catch (error) {
        if (!ABSENT.includes(codeOf(error) ?? '')) throw error;
      }
    }
    throw new CodedError('file_not_found');
  };
