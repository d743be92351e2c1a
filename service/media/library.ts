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
import type { Following } from './hasher.ts';
import { type Facts, inspect, typeOfFile } from './inspect.ts';
import { receive } from './receive.ts';
import { removeUpload } from './shadowed.ts';

/** Where the facts of media are kept, so that nobody has to read a file again for them. */
interface Catalog {
  record(path: string, facts: Facts & { sha256: string }): void;
  hashOf(path: string, stats: Stats): string | undefined;
}

/** What media may take. */
interface Room {
  /** Rejects with `insufficient_storage` where a folder can't take so many bytes more, of which so many replace others. */
  require(folder: string, wanted: number, replaced: number): Promise<void>;
}

interface Options {
  folders: Pick<Folders, 'changed'>;
  uploadDir: string;
  mediaDir: string;
  maxUploadBytes: number;
  hasher: { follow(path: string): Following };
  catalog: Catalog;
  room: Room;
  /** When the newest file of a name was made, here or on another box, ms since the epoch; 0: there is none. */
  newest(name: string): number;
  log: Logger;
}

interface Upload {
  /** The Content-Length; null where the client doesn't say. */
  expectedLength: number | null;
  /** The SHA-256 (hex) that the request is signed with; null where it isn't signed. */
  bodySha256: string | null;
  conditions: Conditions;
}

/** An upload that is on the disk. */
interface Written {
  result: UploadResult;
  /** Whether there was no upload of this name before. */
  isNew: boolean;
  /** RFC 9110 entity tag, without the quotes, as the file is served with. */
  etag: string;
}

/** An open file. It can be replaced and deleted meanwhile: what is open stays whole. */
export interface OpenFile {
  handle: FileHandle;
  stats: Stats;
}

/** An open medium, and what is known of it. */
interface OpenMedium extends OpenFile {
  /** The media type that it goes out under. */
  type: string;
  /** SHA-256 (hex), where it is known. */
  sha256: string | undefined;
}

export type Library = Awaited<ReturnType<typeof createLibrary>>;

const LEFTOVER = /^\.upload-[0-9a-f-]{36}$/;

const isCode = (error: unknown, ...codes: string[]): boolean => codes.includes(codeOf(error) ?? '');

/** What the file system says, as a client should hear it. */
const coded = (error: unknown): unknown => {
  if (isFull(error)) return new CodedError('insufficient_storage', undefined, { cause: error });
  if (!isCode(error, 'EISDIR', 'ENAMETOOLONG')) return error;
  const message = 'This disk has no place for a file of that name.';
  return new CodedError('invalid_field', message, { field: 'filename', cause: error });
};

/**
 * The media of this box: the upload directory, which clients write to, and the media directory, which holds copies of
 * remote media; both are there. Sweeps what broken uploads left. Every `name` has passed `mediaName`.
 */
export const createLibrary = async ({
  folders,
  uploadDir,
  mediaDir,
  maxUploadBytes,
  hasher,
  catalog,
  room,
  newest,
  log,
}: Options) => {
  for (const name of await readdir(uploadDir)) {
    if (!LEFTOVER.test(name)) continue;
    await rm(join(uploadDir, name), { force: true });
    log.info({ name }, 'swept an upload that was cut off');
  }

  /** One change of a name at a time: what a condition is judged by must still be there when the change is made. */
  const oneAtATime = createQueue();

  /** The file that `/media/{name}` serves; null: there is none. */
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
     * Writes a file whole or not at all, and answers once it would survive a power cut. Of two writes to one name, the
     * one that finishes last wins, whole.
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
        await room.require(uploadDir, 0, replaced);
      };
      try {
        await room.require(uploadDir, expectedLength ?? 0, replaced);
        const { size, sha256 } = await receive(stream, temporary, {
          limit: maxUploadBytes,
          follow: hasher.follow,
          requireRoom,
        });
        checkBody(sha256, bodySha256);
        // Uploads that run side by side may have found the same room.
        await requireRoom();
        // Whatever the clocks of the boxes say: what is uploaded later is newer.
        if (newest(name) >= Date.now()) await utimes(temporary, new Date(newest(name) + 1), new Date(newest(name) + 1));
        const facts = await inspect(temporary, name);
        const isNew = await oneAtATime(async () => {
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
        throw coded(error);
      }
    },

    /**
     * Deletes an upload for good.
     *
     * @throws `file_not_found`, `precondition_failed`
     */
    async remove(name: string, conditions: Conditions): Promise<void> {
      try {
        await oneAtATime(async () => {
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
     * Opens a file for reading, an upload before a copy. The caller closes it.
     *
     * @throws `file_not_found`
     */
    async open(name: string): Promise<OpenMedium> {
      for (const folder of [uploadDir, mediaDir]) {
        try {
          // Not to wait: whatever lies in the folder, a pipe for one, no request hangs on it.
          const path = join(folder, name);
          const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
          const stats = await handle.stat();
          if (stats.isFile()) {
            return { handle, stats, type: await typeOfFile(handle, name), sha256: catalog.hashOf(path, stats) };
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
