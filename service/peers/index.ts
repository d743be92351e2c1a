/** The other boxes of the site: discovery, requests and replication. */

import type { Content } from '../content/index.ts';
import type { ContentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import type { MediaProgress } from '../contract/onboarding.ts';
import type { DeviceBinding, PeerState, TakeoverRecord } from '../contract/peers.ts';
import { countBy } from '../domain/collections.ts';
import { createEmitter } from '../domain/emitter.ts';
import { listensAlone } from '../domain/network-scope.ts';
import { type SiteTime, unconfirmed } from '../domain/time.ts';
import { heldIssues, type Media } from '../media/index.ts';
import type { Module, ServiceContext } from '../module.ts';
import { openAbsence } from './absence.ts';
import { type AskPeers, createAskPeers } from './ask.ts';
import type { ReplicatedDevices } from './binding-replication.ts';
import { createCaller } from './call.ts';
import { takesNewId } from './clones.ts';
import { createCommandTransport } from './command-transport.ts';
import { type CommandRelay, createCommandRelay } from './commands.ts';
import type { Discovery } from './discovery.ts';
import { createGossip } from './gossip.ts';
import { baselineNotes, externalNotes, limitIssues, misdatedNotes, peerIssues } from './health.ts';
import { createMediaReplication, type ReplicatedMedia } from './media-replication.ts';
import { createMisdated } from './misdated.ts';
import { createMissingMedia } from './missing-media.ts';
import { createNews } from './news.ts';
import { createOwnRecord } from './own-record.ts';
import type { Peers as Registered } from './peer.ts';
import { createRegistry } from './registry.ts';
import { createReplication } from './replication.ts';
import { peerRoutes } from './routes.ts';
import { createSharedCopies } from './shared-copies.ts';
import { createOwnState } from './state.ts';
import { createTakeoverExchange, type ReplicatedTakeovers } from './takeovers.ts';

export type { Peer } from './peer.ts';
export type { PeerAnswer } from './reply.ts';

interface Dependencies {
  content: Pick<
    Content,
    'document' | 'observeCounter' | 'accept' | 'onDocument' | 'onChange' | 'lost' | 'mediaNames' | 'mediaUses'
  >;
  media: ReplicatedMedia & Pick<Media, 'followSite'>;
  devices: ReplicatedDevices;
  takeovers: ReplicatedTakeovers;
}

export interface Peers
  extends Module,
    AskPeers,
    Pick<Registered, 'all' | 'alive' | 'find' | 'isAlone' | 'settled' | 'call' | 'refresh'> {
  /** Base URLs of the release folders on the reachable peers. */
  updateFeeds(): string[];
  /** As in {@link LandingMessage}. */
  mediaProgress(): MediaProgress;
  /** One warning per medium that the content names and no box of the site has. */
  missingMedia(content: ContentFile): Promise<ContentIssue[]>;
  /** Calls `listener` with the bindings that another box has made, once they are stored here. */
  onBindings(listener: (bindings: readonly DeviceBinding[]) => void): void;
  /** Calls `listener` when media that the content names have arrived: from a peer, by upload or by hand. */
  onMedia(listener: () => void): void;
  /** Relays a command to all peers. */
  relayCommand: CommandRelay['relay'];
  /** Adds to the state that this box sends to its peers. */
  addState(part: () => Pick<PeerState, 'devices' | 'alerts'>): void;
  /** Dates the start of this box by the site's clock. */
  followClock(clock: SiteTime): void;
  /** Calls `listener` once another box, at a base URL, has the node id of this one, which must change its own. */
  onClone(listener: (url: string) => void): void;
  /** Sends a changed takeover to all peers; those that do not answer fetch it later. Never rejects. */
  sendTakeover(record: TakeoverRecord): Promise<void>;
}

/** A smaller change of the start time, ms, is not sent. */
const MAX_SLEW_MS = 50;

export const createPeers = async (
  context: ServiceContext,
  { content, media, devices, takeovers }: Dependencies,
): Promise<Peers> => {
  const { options, version, log, logs, now, monotonicNow, ids } = context;
  const { nodeId, instance } = ids;
  const { site, variant } = options;
  const caller = createCaller({ secret: options.sharedSecret, nodeId, now });
  // The baseline variant has no peers.
  const staticPeers = variant === 'extended' ? options.peers : [];
  const createdAt = monotonicNow();
  let followed = unconfirmed(now);
  const siteTime: SiteTime = {
    now: () => followed.now(),
    isEstablished: () => followed.isEstablished(),
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
  const onClone = (state: PeerState, url: string): void => {
    if (takesNewId({ startedAt: startedAt(), instance }, state)) clones.emit(url);
  };
  const registry = createRegistry(
    { logs, caller, onClone, isReachedByOthers: (id) => gossip.isReachedByOthers(id), now, monotonicNow },
    { nodeId, instance, site, staticPeers },
  );
  const asking = createAskPeers(registry, nodeId);
  const bindings = createEmitter<[readonly DeviceBinding[]]>();
  const arrivals = createEmitter();
  const stateParts: (() => Pick<PeerState, 'devices' | 'alerts'>)[] = [];
  const misdated = createMisdated(logs, now);
  const replication = createReplication({
    log,
    logs,
    peers: registry,
    asking,
    content,
    devices,
    misdated,
    now,
    onBindings: bindings.emit,
    onEdit: (version) => void news.spread({ content: version }),
    onNews: () => gossip.tell(),
  });
  /** Sends the record of this box to all boxes. */
  const announce = (): Promise<void> => news.spread({ record: record.current(true) });
  const mediaReplication = createMediaReplication({
    logs,
    peers: { ...registry, announce },
    asking,
    content,
    media,
    misdated,
    siteTime,
    absence: await openAbsence(context, { media, siteTime }),
    onArrival: arrivals.emit,
  });
  media.followSite({ ...mediaReplication, copyOf: createSharedCopies({ peers: registry, asking, nodeId }) });
  const missingMedia = createMissingMedia({ log, content, mediaReplication });
  const transport = createCommandTransport(asking, options.sharedSecret !== null);
  const commandRelay = createCommandRelay({ peers: registry, transport, monotonicNow });
  const exchange = createTakeoverExchange({
    logs,
    peers: registry,
    asking,
    takeovers,
    misdated,
    now,
    onNews: () => gossip.tell(),
  });
  const parts = () => Object.assign(mediaReplication.state(), ...stateParts.map((part) => part()));
  const record = createOwnRecord({ nodeId, parts, now, monotonicNow });
  const summary = () => ({ ...replication.state(), ...takeovers.state() });
  const gossip = createGossip({ registry, asking, record, summary, siteNow: siteTime.now }, ids);
  const news = createNews(
    { registry, asking, replication, tell: gossip.tell, isSecret: options.sharedSecret !== null, monotonicNow },
    ids,
  );
  const state = createOwnState(
    {
      peers: registry,
      replication,
      takeovers,
      siteNow: siteTime.now,
      startedAt,
      record: () => record.current(true),
    },
    { ...ids, site, version },
  );
  let discovery: Discovery | undefined;
  const { all, alive, find, isAlone, settled, call } = registry;
  const refresh = async () => void (await Promise.all([registry.refresh(), gossip.ask()]));

  return {
    all,
    alive,
    find,
    isAlone,
    settled,
    call,
    refresh,
    ...asking,
    updateFeeds: () => alive().map(({ url }) => `${url}/updates/`),
    sendTakeover: exchange.send,
    relayCommand: commandRelay.relay,
    onClone: clones.on,
    followClock: (clock) => {
      followed = clock;
    },
    mediaProgress: mediaReplication.progress,
    missingMedia: missingMedia.of,
    onBindings: bindings.on,
    onMedia: arrivals.on,
    addState: (part) => void stateParts.push(part),
    routes: {
      ...peerRoutes({ registry, state, replication, mediaReplication }),
      ...exchange.routes,
      ...gossip.routes,
      ...news.routes,
    },
    health: async () => {
      const peers = registry.health();
      const mediaHealth = mediaReplication.health();
      return {
        fields: {
          peers,
          replication: { ...(await replication.health()), media: mediaHealth, lostUploads: await media.lost() },
        },
        issues: {
          boxes: [...peerIssues(peers, monotonicNow() - createdAt), ...limitIssues(registry.isFull())],
          media: [...heldIssues(mediaReplication.held(), media.heldReason()), ...mediaReplication.issues()],
        },
        notes: [
          ...misdatedNotes(misdated.list()),
          ...externalNotes(registry.externalBoxes()),
          ...baselineNotes(options),
        ],
        contentWarnings: missingMedia.warnings(),
      };
    },
    metrics: () => ({ signage_peers: countBy(registry.health().map(({ state }) => state)) }),
    start: async ({ port }) => {
      replication.start();
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
      const announces = !listensAlone(options.host);
      discovery = startDiscovery({ log, registry }, { nodeId, site, version, port, announces });
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
