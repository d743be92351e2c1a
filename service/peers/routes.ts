import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import {
  mostAskedDevices,
  type PeerConnections,
  type PeerState,
  peerConnectionsQuery,
  peerDevicesQuery,
  peerQuery,
} from '../contract/peers.ts';
import type { Routes } from '../http/routes.ts';
import { hostOf } from './advertised.ts';
import type { MediaReplication } from './media-replication.ts';
import type { Registry } from './registry.ts';
import type { Replication } from './replication.ts';

interface Dependencies {
  registry: Pick<Registry, 'onContact'>;
  /** The state of this box. */
  state(): PeerState;
  /** The connections on this box to these screens; null for all screens. */
  connections(slugs: readonly string[] | null): PeerConnections['screens'];
  replication: Pick<Replication, 'document' | 'bindings'>;
  mediaReplication: Pick<MediaReplication, 'media'>;
  isKnownHere(deviceId: string): boolean;
}

export const peerRoutes = ({
  registry,
  state,
  connections,
  replication,
  mediaReplication,
  isKnownHere,
}: Dependencies): Routes => ({
  'GET /api/peers/state': (ctx) => {
    const { from, port, news } = readFields(peerQuery.partial(), ctx.query);
    const host = hostOf(ctx.req.socket.remoteAddress ?? '');
    if (from !== undefined && port !== undefined && host !== null) registry.onContact(from, host, port, news === '1');
    ctx.set('Cache-Control', 'no-store');
    ctx.body = state();
  },
  'GET /api/peers/connections': (ctx) => {
    const { screens } = readFields(peerConnectionsQuery, ctx.query);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { screens: connections(screens?.split(',') ?? null) } satisfies PeerConnections;
  },
  'GET /api/peers/content': (ctx) => {
    const document = replication.document();
    if (document === null) throw new CodedError('not_found', 'There is no content to share.');
    ctx.body = document;
  },
  'GET /api/peers/bindings': (ctx) => {
    ctx.body = { bindings: replication.bindings() };
  },
  'GET /api/peers/devices': (ctx) => {
    const { deviceIds } = readFields(peerDevicesQuery, ctx.query);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { known: deviceIds.split(',', mostAskedDevices).filter(isKnownHere) };
  },
  'GET /api/peers/media': (ctx) => {
    ctx.body = { media: mediaReplication.media() };
  },
});
