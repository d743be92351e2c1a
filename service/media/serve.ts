import { finished } from 'node:stream';
import send from 'send';
import { CodedError } from '../contract/errors.ts';
import { framedByOwnPages } from '../domain/framing.ts';
import { OPAQUE } from '../domain/media-types.ts';
import type { Context } from '../http/routes.ts';
import type { OpenFile } from './library.ts';

/** What `send` can do besides what its types say: it answers on `res`, from a file that is open already. */
type Sending = send.SendStream & { res: Context['res'] };

/** `send` refuses by status. */
const refusal = (error: Error & { status?: number }, headers: Record<string, string>): Error => {
  if (error.status === 412) return new CodedError('precondition_failed');
  if (error.status === 416) return new CodedError('range_not_satisfiable', undefined, { headers });
  return error;
};

/** Hands the answer over to `send`; resolves when it is out, or when the client is gone. */
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
    // Not `pipe`, which would look the name up again and could find another file.
    sending.send(name, stats);
  });

/** What a file goes out as. */
interface Guise {
  name: string;
  /** Its media type; {@link OPAQUE} goes out as an attachment. */
  type: string;
  /** RFC 9110 entity tag, without the quotes. */
  etag: string;
  /** SHA-256 (hex), where it is known. */
  sha256?: string | undefined;
}

/**
 * Answers with an open file, and closes it: ranges, validators and conditions as in RFC 9110. Names are used again, so
 * every use of a cached copy is to be checked.
 *
 * @throws `precondition_failed`, `range_not_satisfiable`
 */
export const serve = async (ctx: Context, { name, type, etag, sha256 }: Guise, file: OpenFile): Promise<void> => {
  try {
    // fetch() asks for no-cache whenever it asks conditionally; the condition is judged afresh here in any case.
    delete ctx.req.headers['cache-control'];
    // RFC 9110, 14.1.2: of a file that is shorter than the suffix that was asked for, the whole is the answer.
    const [, suffix = 0] = /^bytes=-(\d+)$/.exec(ctx.get('Range')) ?? [];
    if (Number(suffix) > file.stats.size) ctx.req.headers.range = 'bytes=0-';
    if (type === OPAQUE) ctx.attachment(name);
    ctx.set({
      'Content-Type': type,
      ETag: `"${etag}"`,
      // RFC 9530: of the whole, whatever part of it goes out.
      ...(sha256 !== undefined && { 'Repr-Digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:` }),
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': `default-src 'none'; sandbox; ${framedByOwnPages.directive}`,
      'X-Frame-Options': framedByOwnPages['X-Frame-Options'],
      // Pages of others, such as those that a screen shows, may use them.
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'X-Content-Type-Options': 'nosniff',
    });
    // Without its own phrase, which would stand beside 206 too.
    ctx.res.statusCode = 200;
    await transfer(ctx, name, file);
    ctx.respond = false;
  } finally {
    await file.handle.close();
  }
};
