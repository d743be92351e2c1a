import send from 'send';
import { CodedError } from '../contract/errors.ts';
import type { Context } from './routes.ts';

/**
 * Sends a file of a folder; resolves when it is sent, or when the client disconnects.
 * @param path percent-encoded, as requested
 * @throws CodedError `not_found`, also for a path that leads out of the folder
 */
export const sendFile = (ctx: Context, path: string, options: send.SendOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    if (ctx.res.destroyed) return resolve();
    ctx.respond = false;
    ctx.status = 200;
    const fail = (error: unknown): void => {
      ctx.respond = true;
      reject(error);
    };
    send(ctx.req, path, options)
      // Without a listener, `send` redirects to the path with a trailing slash.
      .on('directory', () => fail(new CodedError('not_found')))
      .on('error', (error: { status?: number }) => {
        // `send` reports a path that leads out of the folder as 403.
        fail([403, 404].includes(error.status ?? 0) ? new CodedError('not_found') : error);
      })
      .on('end', resolve)
      .pipe(ctx.res);
    ctx.res.on('close', resolve);
  });
