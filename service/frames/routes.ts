import { CodedError } from '../errors.ts';
import type { Routes } from '../http/routes.ts';
import { type FrameVerdict, frameQuery } from '../wire/frames.ts';
import type { Frames } from './frames.ts';

/** Whether a page of somebody else's can be framed. */
export const frameRoutes = (frames: Pick<Frames, 'refusal'>): Routes => ({
  'GET /api/frames': async (ctx) => {
    const { success, data, error } = frameQuery.safeParse(ctx.query);
    if (!success) {
      const field = String(error.issues[0]?.path[0]);
      const code = ctx.query[field] === undefined ? 'missing_field' : 'invalid_field';
      throw new CodedError(code, 'url and origin are required, once each: addresses.', { field });
    }
    const { url, origin } = data;
    const reason = await frames.refusal(url, new URL(origin));
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { url, framable: reason === null, reason } satisfies FrameVerdict;
  },
});
