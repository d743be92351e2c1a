import send from 'send';
import { CodedError } from '../contract/errors.ts';
import type { Context } from './routes.ts';

/**
 * Answers with a file of a folder; resolves when it is out, or when the client is gone.
 * @param path as it was sent, encoded
 * @throws `not_found`, also for a path that leads out of the folder
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
      // Without a listener it redirects to the path with a slash at its end.
      .on('directory', () => fail(new CodedError('not_found')))
      .on('error', (error: { status?: number }) => {
        // 403 is what it answers to a path that leads out of the folder.
        fail([403, 404].includes(error.status ?? 0) ? new CodedError('not_found') : error);
      })
      .on('end', resolve)
      .pipe(ctx.res);
    ctx.res.on('close', resolve);
  });
