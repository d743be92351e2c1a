import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream';
import send from 'send';
import { CodedError } from '../contract/errors.ts';
import { framedByOwnPages } from '../domain/framing.ts';
import { isMediaName } from '../domain/media-names.ts';
import { OPAQUE } from '../domain/media-types.ts';
import type { Context } from '../http/routes.ts';
import { codeOf } from '../platform/store/disk.ts';
import { fingerprint } from './folders.ts';
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
const ABSENT: readonly string[] = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ENXIO', 'ELOOP', 'ENAMETOOLONG'];

const isAbsent = (error: unknown): boolean => ABSENT.includes(codeOf(error) ?? '');

/** The `stat` of a file; null: there is none. @throws the system's error where it does not tell */
export const fileAt = async (folder: string, name: string): Promise<Stats | null> => {
  const stats = await stat(join(folder, name)).catch((error: unknown) => {
    if (isAbsent(error)) return null;
    throw error;
  });
  return stats?.isFile() ? stats : null;
};

/** @param folders searched in this order */
export const createOpener =
  (folders: readonly string[], catalog: { hashOf(path: string, stats: Stats): string | undefined }) =>
  /**
   * Opens a file for reading. The caller closes it.
   * @throws CodedError `file_not_found`
   */
  async (name: string): Promise<OpenMedium> => {
    if (!isMediaName(name)) throw new CodedError('file_not_found');
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
        if (!isAbsent(error)) throw error;
      }
    }
    throw new CodedError('file_not_found');
  };

/** An undocumented ability of `send`: it responds on `res` from a file that is already open. */
type Sending = send.SendStream & { res: Context['res'] };

/** Converts an error of `send`, which has an HTTP status, into an API error. */
const refusal = (error: Error & { status?: number }, headers: Record<string, string>): Error => {
  if (error.status === 412) return new CodedError('precondition_failed');
  if (error.status === 416) return new CodedError('range_not_satisfiable', undefined, { headers });
  return error;
};

/** Calls `send` to respond; resolves when the response is sent or the client has disconnected. */
const transfer = ({ req, res }: Context, name: string, { handle, stats }: OpenFile): Promise<void> =>
  new Promise((resolve, reject) => {
    if (res.destroyed) return resolve();
    const sending = send(req, name, { fd: handle } as send.SendOptions) as Sending;
    finished(res, () => resolve());
    sending.on('error', (error: Error) => {
      if (res.headersSent) return res.destroy(error);
      const range = String(res.getHeader('Content-Range'));
      for (const header of ['Content-Type', 'Content-Disposition', 'Content-Range']) res.removeHeader(header);
      reject(refusal(error, { 'Content-Range': range }));
    });
    sending.res = res;
    // Not `pipe`, which would open the name again and could find a different file.
    sending.send(name, stats);
  });

/** The metadata that a file is served with. */
interface Representation {
  name: string;
  /** The media type; {@link OPAQUE} is served as an attachment. */
  type: string;
  /** RFC 9110 entity tag, without the quotes. */
  etag: string;
  /** SHA-256 (hex); undefined if not known. */
  sha256?: string | undefined;
}

/**
 * Serves an open file and closes it: ranges, validators and conditions as in RFC 9110. File names are reused, so clients
 * must revalidate a cached response before each use.
 *
 * @throws `precondition_failed`, `range_not_satisfiable`
 */
export const serve = async (
  ctx: Context,
  { name, type, etag, sha256 }: Representation,
  file: OpenFile,
): Promise<void> => {
  try {
    // fetch() adds no-cache to every conditional request, which would make `send` ignore the condition.
    delete ctx.req.headers['cache-control'];
    // RFC 9110, 14.1.2: a suffix range longer than the file selects the whole file.
    const [, suffix = 0] = /^bytes=-(\d+)$/.exec(ctx.get('Range')) ?? [];
    if (Number(suffix) > file.stats.size) ctx.req.headers.range = 'bytes=0-';
    if (type === OPAQUE) ctx.attachment(name);
    ctx.set({
      'Content-Type': type,
      ETag: `"${etag}"`,
      // RFC 9530: the digest covers the whole file, also in a range response.
      ...(sha256 !== undefined && { 'Repr-Digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:` }),
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': `default-src 'none'; sandbox; ${framedByOwnPages.directive}`,
      'X-Frame-Options': framedByOwnPages['X-Frame-Options'],
      // External pages, such as those that a screen shows, may use the files.
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'X-Content-Type-Options': 'nosniff',
    });
    // Set on `res` and not on `ctx`: Koa would add a reason phrase that stays when `send` changes the status to 206.
    ctx.res.statusCode = 200;
    await transfer(ctx, name, file);
    ctx.respond = false;
  } finally {
    await file.handle.close();
  }
};
