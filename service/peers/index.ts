/** The other boxes of the site: discovery, requests and replication. */
import { sha256Hex } from '../auth/sign.ts';
import type { Content } from '../content/index.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import {
  type BindingNews,
  type MediaDeletion,
  type PeerState,
  peerContentQuery,
  peerDeletions,
  peerQuery,
  protocol,
} from '../contract/peers.ts';
import { countBy, shuffled } from '../domain/collections.ts';
import { createEmitter } from '../domain/emitter.ts';
import { type SiteTime, unconfirmed } from '../domain/time.ts';
import { readJson } from '../http/body.ts';
import { matchesWeakly } from '../http/conditions.ts';
import type { Routes } from '../http/routes.ts';
import { heldIssues, type Media } from '../media/index.ts';
import type { ServiceContext } from '../module.ts';
import type { Shared } from '../shared/index.ts';
import { openAbsence } from './absence.ts';
import { createCaller } from './call.ts';
import { createCommandRelay } from './commands.ts';
import type { Discovery } from './discovery.ts';
import { createGossip, createOwnRecord, takesNewId } from './gossip.ts';
import { boxIssues, boxNotes, unreadNotes } from './health.ts';
import { openKnownBoxes } from './known-boxes.ts';
import { createMediaReplication, createMissingMedia } from './media-replication.ts';
import { createNews } from './news.ts';
import { createAskPeers, createOverdue } from './operations.ts';
import {
  createMisdated,
  createRecordExchange,
  type ReplicatedDevices,
  type ReplicatedDrafts,
  type ReplicatedTakeovers,
} from './records.ts';
import { createRegistry } from './registry.ts';
import { createReplication } from './replication.ts';
import { createSharedCopies, createSharedRenditions } from './shared-records.ts';

export type { Peer } from './registry.ts';
export type { PeerAnswer } from './reply.ts';

interface Dependencies {
  content: Content;
  media: Media;
  devices: ReplicatedDevices;
  takeovers: ReplicatedTakeovers;
  drafts: ReplicatedDrafts;
  shared: Shared;
}

export type Peers = Awaited<ReturnType<typeof createPeers>>;

type StatePart = () => Pick<PeerState, 'devices' | 'alerts' | 'mqtt' | 'timeZone'>;

/** A smaller change of the start time, ms, is not sent. */
const MAX_SLEW_MS = 50;
/** Boxes that are asked for their shared records at once. */
const MOST_CAUGHT_UP = 20;

export const createPeers = async (
  context: ServiceContext,
  { content, media, devices, takeovers, drafts, shared }: Dependencies,
) => {
  const { options, now, monotonicNow, random, ids } = context;
  const { site, variant } = options;
  const createdAt = monotonicNow();
  let followed = unconfirmed(now);
  const siteTime: SiteTime = {
    now: () => followed.now(),
    isEstablished: () => followed.isEstablished(),
    timeOfDay: () => followed.timeOfDay(),
    isConfirmed: () => followed.isConfirmed(),
  };
  let started = 0;
  /** By the site's clock, which is slewed: small changes are not sent, so that all boxes compare the same values. */
  const startedAt = (): number => {
    const exact = Math.round(siteTime.now() - (monotonicNow() - createdAt));
    if (Math.abs(exact - started) > MAX_SLEW_MS) started = exact;
    return started;
  };
  const clones = createEmitter<[string]>();
  const knownBoxes = await openKnownBoxes(context);
  // From here on nothing waits: an edit while the parts below are made would find only some of them.
  const absence = await openAbsence(context, { media, siteTime });
  const registry = createRegistry(context, {
    site,
    known: variant === 'extended' ? knownBoxes.list() : [],
    // The baseline variant has no peers.
    staticPeers: variant === 'extended' ? options.peers : [],
    caller: createCaller(context),
    onClone: (state, url) => {
      if (takesNewId({ startedAt: startedAt(), instance: ids.instance }, state)) clones.emit(url);
    },
    isReachedByOthers: (id) => gossip.isReachedByOthers(id),
  });
  registry.onState(knownBoxes.add);
  registry.onReachabilityChange(() => knownBoxes.keepOnly(registry.all()));
  const overdue = createOverdue(context, registry);
  const asking = createAskPeers(registry, overdue, ids.nodeId);
  const bindings = createEmitter<[readonly BindingNews[]]>();
  const arrivals = createEmitter();
  const stateParts: StatePart[] = [];
  const misdated = createMisdated(context);
  const common = { peers: registry, asking, overdue, misdated, onNews: () => gossip.tell() };
  const replication = createReplication(context, {
    ...common,
    content,
    onEdit: (version) => void news.spread({ content: version }),
  });
  const exchange = createRecordExchange(context, {
    ...common,
    devices,
    takeovers,
    drafts,
    shared,
    onBindings: bindings.emit,
  });
  const mediaReplication = createMediaReplication(context, {
    ...common,
    content,
    media,
    siteTime,
    absence,
    onArrival: arrivals.emit,
    announce: () => news.spread({ record: record.current(true) }),
  });
  media.onRendition(arrivals.emit);
  media.followSite({
    ...mediaReplication,
    copyOf: createSharedCopies(ids.nodeId, registry, asking),
    renditionsOf: createSharedRenditions(registry, asking),
  });
  const missingMedia = createMissingMedia(context, content, mediaReplication);
  const commandRelay = createCommandRelay(context, common);
  const parts = () => Object.assign({ media: mediaReplication.digest() }, ...stateParts.map((part) => part()));
  const record = createOwnRecord(context, parts);
  const summary = () => ({
    content: replication.version(),
    bindings: devices.digest(),
    takeovers: takeovers.state().takeovers,
    drafts: drafts.digest(),
    shared: exchange.sharedDigest(),
  });
  drafts.onShare(() => gossip.tell());
  const gossip = createGossip(context, { registry, asking, record, summary, siteTime });
  const news = createNews(context, { registry, asking, replication, tell: gossip.tell });
  const state = (): PeerState => ({
    ...ids,
    site,
    protocol,
    version: context.version,
    serverTime: siteTime.now(),
    startedAt: startedAt(),
    peers: registry.advertised(),
    ...summary(),
    ...record.current(true),
  });
  let discovery: Discovery | undefined;
  const { all, alive, find, isAlone, settled, call } = registry;

  return {
    all,
    alive,
    find,
    isAlone,
    settled,
    call,
    ...asking,
    /** Asks some boxes, and the static addresses without a box, for what they have. */
    refresh: async (): Promise<void> => void (await Promise.all([registry.refresh(null), gossip.ask()])),
    /** Fetches the shared records of some reachable boxes now; those that do not answer are left out. */
    catchUp: async (): Promise<void> => {
      await Promise.all(registry.alive().slice(0, MOST_CAUGHT_UP).map(exchange.fetchShared));
    },
    /** Base URLs of the release folders on the reachable peers, in another order each time: only some of them are asked. */
    updateFeeds: (): string[] => shuffled(registry.alive(), random).map(({ url }) => `${url}/updates/`),
    sendTakeover: exchange.sendTakeover,
    /** Tells all boxes of a medium that was renamed or deleted; those that do not answer learn of it later. Never rejects. */
    sendDeletion: async (deletion: MediaDeletion): Promise<void> =>
      void (await asking.broadcast('media.sendDeletions', [deletion])),
    relayCommand: commandRelay.relay,
    /** Calls `listener` once another box, at a base URL, has the node id of this one, which must change its own. */
    onClone: clones.on,
    /** Dates the start of this box by the site's clock. */
    followClock: (clock: SiteTime): void => {
      followed = clock;
    },
    /** As in {@link LandingMessage}. */
    mediaProgress: mediaReplication.progress,
    /** One warning per medium that the content names and no box of the site has. */
    missingMedia: missingMedia.of,
    /** Calls `listener` with the bindings that another box has made, once they are stored here. */
    onBindings: bindings.on,
    /** Calls `listener` when media that the content names have arrived: from a peer, by upload or by hand. */
    onMedia: arrivals.on,
    /** Adds to the state that this box sends to its peers. */
    addState: (part: StatePart): void => void stateParts.push(part),
    routes: {
      'GET /api/peers/state': (ctx) => {
        const { from, port, instance, news: hasNews, brief } = readFields(peerQuery.partial(), ctx.query);
        if (from !== undefined && port !== undefined) {
          registry.onContact(from, ctx.req.socket.remoteAddress, port, hasNews === '1', instance);
        }
        const { serverTime, ...full } = state();
        // A box that asks briefly learns of other peers by gossip.
        const rest = brief === '1' ? { ...full, peers: [] } : full;
        const etag = `"${sha256Hex(JSON.stringify(rest)).slice(0, 16)}"`;
        ctx.set({ 'Cache-Control': 'no-cache', ETag: etag });
        if (matchesWeakly(ctx.get('If-None-Match'), etag)) ctx.status = 304;
        else ctx.body = { ...rest, serverTime };
      },
      'GET /api/peers/content': (ctx) => {
        const document = content.document(readFields(peerContentQuery, ctx.query).sha256);
        if (document === null) throw new CodedError('not_found', 'There is no content to share.');
        ctx.body = document;
      },
      'GET /api/peers/media': async (ctx) => {
        ctx.body = await mediaReplication.media();
      },
      'POST /api/peers/deletions': async (ctx) => {
        await media.deletions.merge(readFields(peerDeletions, await readJson(ctx)).deleted);
        ctx.body = {};
      },
      ...exchange.routes,
      ...gossip.routes,
      ...news.routes,
    } satisfies Routes,
    health: async () => {
      const peers = registry.health();
      const content = await replication.health();
      const refused = [...content.refused, ...misdated.list()];
      return {
        fields: {
          peers,
          replication: { ...content, refused, media: mediaReplication.health(), lostUploads: await media.lost() },
        },
        issues: {
          content: replication.issues(),
          boxes: boxIssues({
            peers,
            uptimeMs: monotonicNow() - createdAt,
            overdue: overdue.urls(registry.all()),
            clones: registry.clones(),
            isFull: registry.isFull(),
          }),
          media: [...heldIssues(mediaReplication.held(), media.heldReason()), ...mediaReplication.issues()],
        },
        notes: [
          ...boxNotes(misdated.list(), registry.externalBoxes(), options),
          ...unreadNotes(devices.unread() + takeovers.unread() + drafts.unread() + shared.unread()),
        ],
        contentWarnings: missingMedia.warnings(),
      };
    },
    metrics: () => ({ signage_peers: countBy(registry.health().map(({ state }) => state)) }),
    start: async ({ port }: { port: number }): Promise<void> => {
      missingMedia.start();
      registry.start(port);
      gossip.start(port);
      news.start(port);
      // Finds files that were added to the folders while the service was not running.
      mediaReplication.start();
      void mediaReplication.scan();
      if (!options.discovery || variant === 'baseline') return;
      // Loaded on demand: a box without discovery starts faster.
      const { startDiscovery } = await import('./discovery.ts');
      discovery = startDiscovery(context, registry, port);
    },
    close: async () => {
      commandRelay.close();
      gossip.close();
      missingMedia.close();
      mediaReplication.close();
      registry.close();
      await discovery?.close();
    },
  };
};
