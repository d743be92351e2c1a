import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { type PeerState, peerBindings, peerContentQuery, peerQuery } from '../contract/peers.ts';
import { readJson } from '../http/body.ts';
import type { Routes } from '../http/routes.ts';
import { hostOf } from './advertised.ts';
import type { MediaReplication } from './media-replication.ts';
import type { Registry } from './registry.ts';
import type { Replication } from './replication.ts';

interface Dependencies {
  registry: Pick<Registry, 'onContact'>;
  /** The state of this box. */
  state(knowsTags: boolean): PeerState;
  replication: Pick<Replication, 'document' | 'bindings' | 'merge'>;
  mediaReplication: Pick<MediaReplication, 'media'>;
}

export const peerRoutes = ({ registry, state, replication, mediaReplication }: Dependencies): Routes => ({
  'GET /api/peers/state': (ctx) => {
    const { from, port, news, knows } = readFields(peerQuery.partial(), ctx.query);
    const host = hostOf(ctx.req.socket.remoteAddress ?? '');
    if (from !== undefined && port !== undefined && host !== null) registry.onContact(from, host, port, news === '1');
    ctx.set('Cache-Control', 'no-store');
    ctx.body = state(knows === 'tags');
  },
  'GET /api/peers/content': (ctx) => {
    const { knows } = readFields(peerContentQuery, ctx.query);
    const document = replication.document(knows === 'tags');
    if (document === null) throw new CodedError('not_found', 'There is no content to share.');
    ctx.body = document;
  },
  'GET /api/peers/bindings': (ctx) => {
    ctx.body = { bindings: replication.bindings() };
  },
  'POST /api/peers/bindings': async (ctx) => {
    await replication.merge(readFields(peerBindings, await readJson(ctx)).bindings);
    ctx.body = {};
  },
  'GET /api/peers/media': (ctx) => {
    ctx.body = mediaReplication.media();
  },
});
