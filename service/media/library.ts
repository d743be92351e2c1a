import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { checkBody } from '../auth/body.ts';
import { CodedError } from '../contract/errors.ts';
import type { UploadResult } from '../contract/media.ts';
import { areMet, type Conditions } from '../http/conditions.ts';
import { createQueue } from '../platform/queue.ts';
import { codeOf, isFull, systemDisk } from '../platform/store/disk.ts';
import { renamePatiently } from '../platform/store/file.ts';
import { fingerprint } from './fingerprint.ts';
import type { Folders } from './folders.ts';
import type { FileHash } from './hasher.ts';
import { type Facts, inspect, typeOfFile } from './inspect.ts';
import { receive } from './receive.ts';
import { removeUpload } from './shadowed.ts';

/** Keeps the metadata of media files, so that they are not read again. */
interface Catalog {
  record(path: string, facts: Facts & { sha256: string }): void;
  hashOf(path: string, stats: Stats): string | undefined;
}

interface StorageQuota {
  /**
   * Rejects with `insufficient_storage` unless the folder has room for `wanted` bytes, `replaced` of which overwrite
   * existing files.
   */
  require(folder: string, wanted: number, replaced: number): Promise<void>;
}

interface Options {
  folders: Pick<Folders, 'changed'>;
  uploadDir: string;
  mediaDir: string;
  maxUploadBytes: number;
  hasher: { hashFile(path: string): FileHash };
  catalog: Catalog;
  storage: StorageQuota;
  /** The modification time of the newest file of a name, here or on a peer, ms since the epoch; 0: there is none. */
  newest(name: string): number;
  log: Logger;
}

interface Upload {
  /** The Content-Length; null if the client sends none. */
  expectedLength: number | null;
  /** The SHA-256 (hex) in the request's signature; null for an unsigned request. */
  bodySha256: string | null;
  conditions: Conditions;
}

/** An upload that is synced to disk. */
interface Written {
  result: UploadResult;
  /** Whether no upload had this name before. */
  isNew: boolean;
  /** The RFC 9110 entity tag that the file is served with, without the quotes. */
  etag: string;
}

/** An open file. It stays readable if the file is replaced or deleted meanwhile. */
export interface OpenFile {
  handle: FileHandle;
  stats: Stats;
}

/** An open media file and its metadata. */
export interface OpenMedium extends OpenFile {
  path: string;
  /** RFC 9110 entity tag, without the quotes: another one for each version of the file. */
  etag: string;
  /** The media type that it is served with. */
  type: string;
  /** SHA-256 (hex); undefined if not known. */
  sha256: string | undefined;
}

export type Library = Awaited<ReturnType<typeof createLibrary>>;

const LEFTOVER = /^\.upload-[0-9a-f-]{36}$/;

const isCode = (error: unknown, ...codes: string[]): boolean => codes.includes(codeOf(error) ?? '');

/** Converts a file system error into an API error where the client can act on it. */
const toCodedError = (error: unknown): unknown => {
  if (isFull(error)) return new CodedError('insufficient_storage', undefined, { cause: error });
  if (!isCode(error, 'EISDIR', 'ENAMETOOLONG')) return error;
  const message = 'This disk has no place for a file of that name.';
  return new CodedError('invalid_field', message, { field: 'filename', cause: error });
};

/**
 * The media files of this box: the upload directory, which clients write to, and the media directory, which holds
 * copies of remote media. Both must exist. Deletes the temporary files of interrupted uploads at the start. Every
 * `name` must have passed `mediaName`.
 */
export const createLibrary = async ({
  folders,
  uploadDir,
  mediaDir,
  maxUploadBytes,
  hasher,
  catalog,
  storage,
  newest,
  log,
}: Options) => {
  for (const name of await readdir(uploadDir)) {
    if (!LEFTOVER.test(name)) continue;
    await rm(join(uploadDir, name), { force: true });
    log.info({ name }, 'deleted the temporary file of an interrupted upload');
  }

  /** Serializes changes, so that the file that a condition was checked against is the one that is changed. */
  const enqueue = createQueue();

  /** The `stat` of the file that `/media/{name}` serves; null: there is none. */
  const current = async (name: string): Promise<Stats | null> => {
    for (const folder of [uploadDir, mediaDir]) {
      const stats = await stat(join(folder, name)).catch(() => null);
      if (stats?.isFile()) return stats;
    }
    return null;
  };

  /** @throws `precondition_failed` */
  const checkConditions = async (name: string, conditions: Conditions): Promise<void> => {
    const stats = await current(name);
    if (!areMet(conditions, stats && `"${fingerprint(stats)}"`)) throw new CodedError('precondition_failed');
  };

  return {
    folders: { uploadDir, mediaDir },

    /**
     * Writes a file atomically and resolves once it would survive a power cut. Of two concurrent writes to one name, the
     * one that finishes last wins.
     *
     * @throws `payload_too_large`, `insufficient_storage`, `request_timeout`, `signature_invalid`, `invalid_request`,
     *   `precondition_failed`
     */
    async write(name: string, stream: Readable, upload: Upload): Promise<Written> {
      const { expectedLength, bodySha256, conditions } = upload;
      await checkConditions(name, conditions);
      if (expectedLength !== null && expectedLength > maxUploadBytes) {
        throw new CodedError('payload_too_large', `The file is larger than ${maxUploadBytes} bytes.`);
      }
      const temporary = join(uploadDir, `.upload-${randomUUID()}`);
      const path = join(uploadDir, name);
      const { size: replaced } = await systemDisk.stat(path).catch(() => ({ size: 0 }));
      const requireRoom = async (): Promise<void> => {
        await folders.changed(temporary);
        await storage.require(uploadDir, 0, replaced);
      };
      try {
        await storage.require(uploadDir, expectedLength ?? 0, replaced);
        const { size, sha256 } = await receive(stream, temporary, {
          limit: maxUploadBytes,
          hashFile: hasher.hashFile,
          requireRoom,
        });
        checkBody(sha256, bodySha256);
        // Concurrent uploads may each have been promised the same free space.
        await requireRoom();
        // The clocks of the boxes may differ: a later upload must still count as newer.
        if (newest(name) >= Date.now()) await utimes(temporary, new Date(newest(name) + 1), new Date(newest(name) + 1));
        const facts = await inspect(temporary, name);
        const isNew = await enqueue(async () => {
          await checkConditions(name, conditions);
          const before = await stat(path).catch(() => null);
          await renamePatiently(systemDisk, temporary, path);
          return before === null;
        });
        await systemDisk.syncFolder(uploadDir);
        await folders.changed(temporary, path);
        catalog.record(path, { ...facts, sha256 });
        const url = `/media/${encodeURIComponent(name)}`;
        const result = { filename: name, size, sha256, url, media_type: facts.mediaType };
        return { result, isNew, etag: facts.fingerprint };
      } catch (error) {
        await rm(temporary, { force: true });
        await folders.changed(temporary);
        throw toCodedError(error);
      }
    },

    /**
     * Deletes an upload and syncs the deletion to disk.
     *
     * @throws `file_not_found`, `precondition_failed`
     */
    async remove(name: string, conditions: Conditions): Promise<void> {
      try {
        await enqueue(async () => {
          await stat(join(uploadDir, name));
          await checkConditions(name, conditions);
          await removeUpload(uploadDir, name);
        });
        await folders.changed(join(uploadDir, name));
      } catch (error) {
        throw isCode(error, 'ENOENT', 'EISDIR') ? new CodedError('file_not_found') : error;
      }
    },

    /**
     * Opens a file for reading; uploads take precedence over copies. The caller closes it.
     *
     * @throws `file_not_found`
     */
    async open(name: string): Promise<OpenMedium> {
      for (const folder of [uploadDir, mediaDir]) {
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
          if (!isCode(error, 'ENOENT', 'EISDIR', 'ENXIO', 'ELOOP', 'ENAMETOOLONG')) throw error;
        }
      }
      throw new CodedError('file_not_found');
    },
  };
};
