import { readFields } from '../fields.ts';
import type { Routes } from '../http/routes.ts';
import { type PeerState, peerQuery } from '../wire/peers.ts';
import type { Registry } from './registry.ts';
import { hostOf } from './told.ts';

interface Dependencies {
  registry: Pick<Registry, 'heard'>;
  /** What this box tells of itself. */
  state(): PeerState;
}

export const peerRoutes = ({ registry, state }: Dependencies): Routes => ({
  'GET /api/peers/state': (ctx) => {
    const { from, port, news } = readFields(peerQuery.partial(), ctx.query);
    const host = hostOf(ctx.req.socket.remoteAddress ?? '');
    if (from !== undefined && port !== undefined && host !== null) registry.heard(from, host, port, news === '1');
    ctx.set('Cache-Control', 'no-store');
    ctx.body = state();
  },
});
