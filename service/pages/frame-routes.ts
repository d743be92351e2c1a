import { readFields } from '../contract/fields.ts';
import { type FrameVerdict, frameQuery } from '../contract/frames.ts';
import { isDeliberate } from '../http/caller.ts';
import type { Routes } from '../http/routes.ts';
import type { Frames } from './frames.ts';

/** `GET /api/frames`: whether an external page can be shown in a frame. */
export const frameRoutes = (frames: Pick<Frames, 'refusal'>): Routes => ({
  'GET /api/frames': async (ctx) => {
    const { url, origin } = readFields(frameQuery, ctx.query);
    const reason = await frames.refusal(url, new URL(origin), isDeliberate(ctx.req));
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { url, framable: reason === null, reason } satisfies FrameVerdict;
  },
});
