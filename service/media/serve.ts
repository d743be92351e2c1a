import { finished } from 'node:stream';
import send from 'send';
import { CodedError } from '../contract/errors.ts';
import { framedByOwnPages } from '../domain/framing.ts';
import { OPAQUE } from '../domain/media-types.ts';
import type { Context } from '../http/routes.ts';
import type { OpenFile } from './open.ts';

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
