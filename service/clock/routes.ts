import { answerPeer } from '../http/peer-answer.ts';
import type { Routes } from '../http/routes.ts';
import type { Sync } from './sync.ts';

/** The site's time, for peers. */
export const syncRoutes = (sync: Pick<Sync, 'time'>): Routes => ({
  'GET /api/peers/time': (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    answerPeer(ctx, sync.time());
  },
});
