import { sha256Hex } from '../auth/sign.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { type PeerState, peerQuery } from '../contract/peers.ts';
import { matchesWeakly } from '../http/conditions.ts';
import type { Routes } from '../http/routes.ts';
import { hostOf } from './advertised.ts';
import type { MediaReplication } from './media-replication.ts';
import type { Registry } from './registry.ts';
import type { Replication } from './replication.ts';

interface Answers {
  registry: Pick<Registry, 'onContact'>;
  /** The state of this box. */
  state(asking: { isBrief: boolean }): PeerState;
  replication: Pick<Replication, 'document'>;
  mediaReplication: Pick<MediaReplication, 'media'>;
}

export const peerRoutes = ({ registry, state, replication, mediaReplication }: Answers): Routes => ({
  'GET /api/peers/state': (ctx) => {
    const { from, port, instance, news, brief } = readFields(peerQuery.partial(), ctx.query);
    const host = hostOf(ctx.req.socket.remoteAddress ?? '');
    if (from !== undefined && port !== undefined && host !== null) {
      registry.onContact(from, host, port, news === '1', instance);
    }
    const { serverTime, ...rest } = state({ isBrief: brief === '1' });
    const etag = `"${sha256Hex(JSON.stringify(rest)).slice(0, 16)}"`;
    ctx.set({ 'Cache-Control': 'no-cache', ETag: etag });
    if (matchesWeakly(ctx.get('If-None-Match'), etag)) ctx.status = 304;
    else ctx.body = { ...rest, serverTime };
  },
  'GET /api/peers/content': (ctx) => {
    const document = replication.document();
    if (document === null) throw new CodedError('not_found', 'There is no content to share.');
    ctx.body = document;
  },
  'GET /api/peers/media': async (ctx) => {
    ctx.body = await mediaReplication.media();
  },
});
