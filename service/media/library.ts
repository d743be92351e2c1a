import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, statfs as systemStatfs, unlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { CodedError } from '../errors.ts';
import type { UploadResult } from '../wire.ts';
import { fingerprint } from './fingerprint.ts';
import type { Following } from './hasher.ts';
import { type Facts, inspect } from './inspect.ts';
import { receive } from './receive.ts';
import { requireSpace, type Volume } from './space.ts';

/** Where an upload's facts are kept, so that nobody has to read the file again for them. */
interface Catalog {
  record(path: string, facts: Facts & { fingerprint: string; sha256: string }): void;
}

interface Options {
  uploadDir: string;
  mediaDir: string;
  maxUploadBytes: number;
  hasher: { follow(path: string): Following };
  catalog: Catalog;
  log: Logger;
  statfs?: (path: string) => Promise<Volume>;
}

interface Upload {
  /** The Content-Length; null where the client doesn't say. */
  expectedLength: number | null;
  /** The SHA-256 (hex) that the request is signed with; null where it isn't signed. */
  bodySha256: string | null;
}

/** An open file. It can be replaced and deleted meanwhile: what is open stays whole. */
export interface OpenFile {
  handle: FileHandle;
  stats: Stats;
}

export type Library = Awaited<ReturnType<typeof createLibrary>>;

const leftover = /^\.upload-[0-9a-f-]{36}$/;

const isCode = (error: unknown, ...codes: string[]): boolean =>
  codes.includes((error as NodeJS.ErrnoException).code ?? '');

/** What the file system says, as a client should hear it. */
const coded = (error: unknown): unknown => {
  if (isCode(error, 'ENOSPC', 'EDQUOT')) return new CodedError('insufficient_storage', undefined, { cause: error });
  if (isCode(error, 'EISDIR', 'ENAMETOOLONG')) {
    const message = 'This disk has no place for a file of that name.';
    return new CodedError('invalid_field', message, { field: 'filename', cause: error });
  }
  return error;
};

/** Makes a rename or a removal last; Windows knows no such thing. */
const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === 'win32') return;
  const handle = await open(path);
  await handle.sync().finally(() => handle.close());
};

/**
 * The media of this box: the upload directory, which clients write to, and the media directory, which holds copies of
 * remote media. Makes both directories and sweeps what broken uploads left. Every `name` has passed `mediaName`.
 */
export const createLibrary = async ({
  uploadDir,
  mediaDir,
  maxUploadBytes,
  hasher,
  catalog,
  log,
  statfs = systemStatfs,
}: Options) => {
  const folders = { uploadDir: resolve(uploadDir), mediaDir: resolve(mediaDir) };
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true });
  for (const name of await readdir(folders.uploadDir)) {
    if (!leftover.test(name)) continue;
    await rm(join(folders.uploadDir, name), { force: true });
    log.info({ name }, 'swept an upload that was cut off');
  }

  const requireRoom = async (wanted = 0) => requireSpace(await statfs(folders.uploadDir), wanted);

  /** The facts of a file that nobody else writes to any more. */
  const examine = async (path: string, name: string) => {
    const handle = await open(path);
    try {
      return { ...(await inspect(handle, name)), fingerprint: fingerprint(await handle.stat()) };
    } finally {
      await handle.close();
    }
  };

  return {
    /** Absolute paths. */
    folders,

    /**
     * Writes a file whole or not at all, and answers once it would survive a power cut. Of two writes to one name, the
     * one that finishes last wins, whole.
     *
     * @throws `payload_too_large`, `insufficient_storage`, `request_timeout`, `signature_invalid`, `invalid_request`
     */
    async write(name: string, stream: Readable, { expectedLength, bodySha256 }: Upload): Promise<UploadResult> {
      if (expectedLength !== null && expectedLength > maxUploadBytes) {
        throw new CodedError('payload_too_large', `The file is larger than ${maxUploadBytes} bytes.`);
      }
      const temporary = join(folders.uploadDir, `.upload-${randomUUID()}`);
      const path = join(folders.uploadDir, name);
      try {
        await requireRoom(expectedLength ?? 0);
        const { size, sha256 } = await receive(stream, temporary, {
          limit: maxUploadBytes,
          follow: hasher.follow,
          requireRoom,
        });
        if (bodySha256 !== null && bodySha256 !== sha256) throw new CodedError('signature_invalid');
        const facts = { sha256, ...(await examine(temporary, name)) };
        await rename(temporary, path);
        await syncFolder(folders.uploadDir);
        catalog.record(path, facts);
        return { filename: name, size, sha256, url: `/media/${encodeURIComponent(name)}`, media_type: facts.mediaType };
      } catch (error) {
        await rm(temporary, { force: true });
        throw coded(error);
      }
    },

    /**
     * Deletes an upload for good.
     *
     * @throws `file_not_found`
     */
    async remove(name: string): Promise<void> {
      try {
        await unlink(join(folders.uploadDir, name));
      } catch (error) {
        throw isCode(error, 'ENOENT', 'EISDIR') ? new CodedError('file_not_found') : error;
      }
      await syncFolder(folders.uploadDir);
    },

    /**
     * Opens a file for reading, an upload before a copy. The caller closes it.
     *
     * @throws `file_not_found`
     */
    async open(name: string): Promise<OpenFile> {
      for (const folder of [folders.uploadDir, folders.mediaDir]) {
        try {
          // Not to wait: whatever lies in the folder, a pipe for one, no request hangs on it.
          const handle = await open(join(folder, name), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
          const stats = await handle.stat();
          if (stats.isFile()) return { handle, stats };
          await handle.close();
        } catch (error) {
          if (!isCode(error, 'ENOENT', 'EISDIR', 'ENXIO', 'ELOOP', 'ENAMETOOLONG')) throw error;
        }
      }
      throw new CodedError('file_not_found');
    },
  };
};
