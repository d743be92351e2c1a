/**
 * The registry of peers. A candidate is an address; a peer is a box that answered at one, with its node id and the same
 * site. A box with several addresses is one peer.
 */

import type { z } from 'zod';
import type { MemberRecord, SiteSummary } from '../contract/gossip.ts';
import type { PeerHealth } from '../contract/health.ts';
import { type ContentVersion, mostPeers, mostPeersOfOlder, type PeerState, peerState } from '../contract/peers.ts';
import { createEmitter } from '../domain/emitter.ts';
import { remember } from '../domain/recent.ts';
import { shuffled } from '../domain/shuffle.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import { type Address, createAddresses, type Source } from './addresses.ts';
import { acceptedUrl, advertisedUrl, hostOf } from './advertised.ts';
import { isOpen } from './breaker.ts';
import type { Caller, PeerRequest } from './call.ts';
import { isPlausibleSeq } from './own-record.ts';
import { createProber } from './prober.ts';
import type { PeerAnswer } from './reply.ts';
import { createSuspicions } from './suspicions.ts';

/** A box of the same site, or a static address where no box has answered yet. */
export interface Peer {
  /** Null for a static peer that has never answered. */
  nodeId: string | null;
  /** Base URL at which it answered last. */
  url: string;
  /** Whether it answered and no call has failed since. */
  alive: boolean;
  /** The last state that it sent. */
  state: PeerState | null;
  /** Time of its last answer, ms since the epoch. */
  contactAt: number | null;
  /** Whether it takes part in gossip; one of an older version is polled. */
  gossips: boolean;
  /** Why it is not alive; completes "the box ...". Null while it is alive, or was never called. */
  reason: string | null;
}

export type LivePeer = Peer & { nodeId: string; alive: true; state: PeerState };

/** Whom to call: a peer, or a static address at which no peer has answered yet. */
export type PeerAddress = { nodeId: string; url?: string } | { nodeId: null; url: string };

export interface Peers {
  /** Static peers always; discovered peers until an hour after their last answer. */
  all(): Peer[];
  alive(): LivePeer[];
  /** Whether {@link all} is empty; cheap enough for every request. */
  isAlone(): boolean;
  /** Resolves once every static peer has been probed, at the latest a second after `start`. */
  settled(): Promise<void>;
  /**
   * Calls a peer. A peer that does not answer is not alive until a probe succeeds; meanwhile calls fail at once. A static
   * peer without a node id is called too if its address is reachable: the operator configured it as a peer.
   */
  call<Schema extends z.ZodType>(
    peer: PeerAddress,
    request: PeerRequest<Schema>,
  ): Promise<PeerAnswer<z.output<Schema>>>;
  /** Calls `listener` each time a peer has sent its state. */
  onState(listener: (peer: LivePeer) => void): void;
  /** Requests the state of every peer of an older version now; resolves when all have answered or failed. */
  refresh(): Promise<void>;
  /** As {@link refresh}, and makes those peers request the state of this box, which has changed. */
  announce(): Promise<void>;
  health(): PeerHealth[];
}

/** A box that this one reaches, with the version of its record. */
interface Member {
  nodeId: string;
  url: string;
  seq: number;
}

export interface Registry extends Peers {
  /** Starts probing. @param port on which this box listens */
  start(port: number): void;
  /** Adds an address at which a box may be. */
  addCandidate(url: string, source: Source): void;
  /** Handles the goodbye of a box. */
  goodbye(url: string): void;
  /** Static peers that are boxes of other sites. */
  foreignBoxes(): { url: string; reason: string }[];
  /** The live peers that this box advertises to another one. @param isOlder it takes fewer of them */
  advertised(isOlder: boolean): PeerState['peers'];
  /** The live peers that take part in gossip. */
  gossiping(): LivePeer[];
  /** The peers that are not away. */
  reached(): Member[];
  /** What a peer says of itself; null where that is not known. */
  record(nodeId: string): MemberRecord | null;
  /** Takes over a newer record of a peer, which another one passed on. @returns whether it was newer */
  learn(record: MemberRecord): boolean;
  /** Handles an answer of a peer to gossip. */
  heard(nodeId: string, instance: string, summary: SiteSummary): void;
  /** Handles the content that a peer says it has. @returns whether it is a live peer */
  offered(nodeId: string, content: ContentVersion): boolean;
  /** Probes a box that another one reaches. @param advertiser base URL of the other one */
  hint(nodeId: string, url: string, advertiser: string): void;
  /** Probes a peer that another one does not reach; resolves with whether this box does. */
  verify(nodeId: string): Promise<boolean>;
  /** Handles a peer that does not know gossip: it is polled until its next start. */
  outdated(nodeId: string): void;
  /** Calls `listener` when a peer is away, and when it is back. */
  onTurn(listener: () => void): void;
  /** Whether there are more boxes than a box can know. */
  isFull(): boolean;
  /**
   * Handles a request from another box.
   * @param host its address, as in a URL
   * @param instance its start of the service; absent: an older version
   */
  onContact(from: string, host: string, port: number, hasNews: boolean, instance?: string): void;
  close(): void;
}

interface Dependencies {
  logs: SourceLogs;
  caller: Caller;
  /** Called with the state of a box at `url` that has the node id of this one. */
  onClone?: (state: PeerState, url: string) => void;
  /** Whether other boxes reach a box that this one does not; null: there is nobody to ask. */
  isReachedByOthers?: (nodeId: string) => Promise<boolean | null>;
  /** ms, monotonic. */
  monotonicNow?: () => number;
  random?: () => number;
}

interface Options {
  nodeId: string;
  /** Id of this start of the service. */
  instance: string;
  site: string;
  /** Base URLs. */
  staticPeers: readonly string[];
}

const OTHER_SITE = 'is of site';
const TICK_MS = 250;
const SETTLE_MS = 1_000;
/** A box that starts tells others so with its first requests within this time. */
const STARTING_MS = 60_000;
/** How often the talk of others makes this box probe an address. */
const HINT_MS = 5_000;
/** Addresses of this box that are remembered. */
const MAX_OWN_URLS = 64;

/** The last state that a peer sent, with what others passed on since. */
interface Report {
  state: PeerState;
  contactAt: number;
  seq: number;
  gossips: boolean;
}

export const createRegistry = (
  {
    logs,
    caller,
    onClone = () => {},
    isReachedByOthers = async () => null,
    monotonicNow = () => performance.now(),
    random = Math.random,
  }: Dependencies,
  { nodeId: self, instance, site, staticPeers }: Options,
): Registry => {
  const addresses = createAddresses();
  const reports = new Map<string, Report>();
  /** Addresses of this box itself. */
  const ownUrls = new Map<string, true>();
  const states = createEmitter<[LivePeer]>();
  const turns = createEmitter();
  /** By node id: the start of a peer that does not know gossip. */
  const outdated = new Map<string, string>();
  /** By URL: when the talk of others was followed last. */
  const hinted = new Map<string, number>();
  const createdAt = monotonicNow();
  let isFull = false;
  let port: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  for (const url of staticPeers) addresses.add(url, 'static', monotonicNow(), random());

  const isLive = (peer: Peer | undefined): peer is LivePeer => peer?.alive === true;
  const find = (nodeId: string): Peer | undefined => {
    const report = reports.get(nodeId);
    const [best] = addresses.of(nodeId);
    if (report === undefined || best === undefined) return undefined;
    const { url, breaker, reason } = best;
    const { state, contactAt, gossips } = report;
    return { nodeId, url, alive: !isOpen(breaker), state, contactAt, gossips, reason };
  };

  const warn = ({ url, nodeId }: Pick<Address, 'url' | 'nodeId'>, reason: string, message = 'a peer is away'): void =>
    logs(`peer ${url}`).warn({ url, nodeId, reason }, message);

  const suspicions = createSuspicions({
    isReachedByOthers,
    monotonicNow,
    onAway: (nodeId) => {
      const peer = find(nodeId);
      if (peer !== undefined) warn(peer, peer.reason ?? '');
      turns.emit();
    },
  });

  const fail = (address: Address, reason: string): void => {
    const wasOpen = isOpen(address.breaker);
    addresses.failed(address, reason, monotonicNow(), random());
    const { nodeId } = address;
    if (nodeId !== null && find(nodeId)?.alive === false) suspicions.add(nodeId);
    if (wasOpen || nodeId !== null || address.source !== 'static') return;
    warn(address, reason, address.external ? 'the box at this address is not a peer' : undefined);
  };

  /** Rejects a box that answered. @param external whether it is this box itself or of another site */
  const reject = (address: Address, reason: string, external: boolean): void => {
    address.external = external;
    address.nodeId = null;
    fail(address, reason);
  };

  /** Adds a candidate that a peer advertises. */
  const addAdvertised = (advertised: PeerState['peers'][number], from: string): void => {
    if (find(advertised.nodeId)?.alive) return;
    const url = acceptedUrl(advertised.url, from);
    // A box with the id of this one at another address is a copy of it.
    if (url !== null && !ownUrls.has(url) && addresses.get(url) === undefined)
      addresses.add(url, 'advertised', monotonicNow(), random());
  };

  const emit = (nodeId: string): void => {
    const peer = find(nodeId);
    if (isLive(peer)) states.emit(peer);
  };

  const accept = (address: Address, state: PeerState): void => {
    const { nodeId } = state;
    if (state.site !== site) return reject(address, `${OTHER_SITE} ${JSON.stringify(state.site)}, not of ours`, true);
    if (nodeId === self && state.instance === instance) {
      remember(ownUrls, address.url, true, MAX_OWN_URLS);
      return reject(address, 'is this box itself', true);
    }
    if (nodeId === self) {
      reject(address, 'has the same node id as this one: remove state.json from one of them', false);
      return onClone(state, address.url);
    }
    isFull = !reports.has(nodeId) && reports.size >= mostPeers;
    if (isFull) return reject(address, `is one more than the ${mostPeers} boxes that a box can know`, false);
    const wasAlive = find(nodeId)?.alive === true;
    const isNew = address.nodeId !== nodeId;
    const gossips = state.gossip === 1 && outdated.get(nodeId) !== state.instance;
    addresses.answered(address, nodeId, !gossips, monotonicNow(), random());
    reports.set(nodeId, { state, contactAt: Date.now(), seq: state.seq ?? 0, gossips });
    if (suspicions.clear(nodeId)) turns.emit();
    // It may have moved to this address from another one.
    if (isNew) for (const other of addresses.of(nodeId)) if (other !== address) void prober.ask(other);
    if (!wasAlive)
      logs(`peer ${address.url}`).info({ nodeId, url: address.url, version: state.version }, 'a peer is there');
    for (const advertised of state.peers) addAdvertised(advertised, address.url);
    emit(nodeId);
  };

  const probe = async (address: Address, hasNews: boolean): Promise<void> => {
    if (port === null || closed) return;
    // A box that asked is told by this request already.
    const isFirst = address.nodeId === null && address.source !== 'contact' && monotonicNow() - createdAt < STARTING_MS;
    const news = hasNews || isFirst ? '&news=1' : '';
    const path = `/api/peers/state?from=${self}&port=${port}&instance=${instance}&knows=tags&gossip=1${news}`;
    const answer = await caller.call(address.url, { path, schema: peerState });
    if (closed) return;
    if (answer.ok) {
      address.host = hostOf(answer.address);
      accept(address, answer.body);
    } else {
      address.reachable = answer.answered;
      address.older = answer.isOlder === true;
      address.late = answer.isLate === true;
      fail(address, answer.reason);
    }
    addresses.forget(monotonicNow());
    for (const nodeId of reports.keys()) {
      if (addresses.of(nodeId).length > 0) continue;
      reports.delete(nodeId);
      outdated.delete(nodeId);
      suspicions.clear(nodeId);
    }
  };

  const prober = createProber({ addresses, probe, monotonicNow });

  /** The best address of each older peer, and static addresses at which no peer has been found. */
  const targets = (): Address[] => [
    ...[...reports].flatMap(([nodeId, { gossips }]) => (gossips ? [] : addresses.of(nodeId).slice(0, 1))),
    ...addresses.all().filter(({ source, nodeId }) => source === 'static' && nodeId === null),
  ];

  const probeAll = async (hasNews: boolean): Promise<void> => {
    await Promise.all(targets().map((address) => prober.ask(address, hasNews)));
  };

  const addCandidate: Registry['addCandidate'] = (url, source) => {
    const address = addresses.add(url, source, monotonicNow(), random());
    if (address === undefined) return;
    address.leaving = false;
    if (isOpen(address.breaker)) address.breaker = { ...address.breaker, retryAt: monotonicNow() };
    prober.tick();
  };

  let settling: Promise<void> | null = null;

  const unnamed = (): Address[] =>
    addresses
      .all()
      .filter(({ source, nodeId, external, older }) => (source === 'static' || older) && nodeId === null && !external);

  const all = (): Peer[] => [
    ...[...reports.keys()].flatMap((nodeId) => find(nodeId) ?? []),
    ...unnamed().map(({ url, reason }) => ({
      ...{ nodeId: null, url, alive: false, state: null, contactAt: null, gossips: false, reason },
    })),
  ];

  const reached = (): (Peer & { nodeId: string })[] =>
    [...reports.keys()].flatMap((nodeId) => {
      const peer = find(nodeId);
      return peer !== undefined && (peer.alive || suspicions.isPending(nodeId)) ? [{ ...peer, nodeId }] : [];
    });
  const toldUrl = (url: string): string => advertisedUrl(url, addresses.get(url)?.host ?? null);

  /** Whether the talk of others may make this box probe the address now. */
  const mayFollow = (url: string): boolean => {
    const now = monotonicNow();
    if (now - (hinted.get(url) ?? Number.NEGATIVE_INFINITY) < HINT_MS) return false;
    remember(hinted, url, now, 2 * mostPeers);
    return true;
  };

  return {
    all,
    alive: () => all().filter(isLive),
    isAlone: () => reports.size === 0 && unnamed().length === 0,
    advertised: (isOlder) => {
      const live = all().filter(isLive);
      const chosen = isOlder && live.length > mostPeersOfOlder ? shuffled(live, random) : live;
      return chosen
        .slice(0, isOlder ? mostPeersOfOlder : mostPeers)
        .map(({ nodeId, url }) => ({ nodeId, url: toldUrl(url) }));
    },
    gossiping: () => all().filter((peer): peer is LivePeer => isLive(peer) && peer.gossips),
    reached: () =>
      reached().map(({ nodeId, url }) => ({ nodeId, url: toldUrl(url), seq: reports.get(nodeId)?.seq ?? 0 })),
    record: (nodeId) => {
      const report = reports.get(nodeId);
      if (report === undefined || report.seq === 0) return null;
      const { media, devices, alerts } = report.state;
      return { nodeId, seq: report.seq, media, ...(devices && { devices }), ...(alerts && { alerts }) };
    },
    learn: ({ nodeId, seq, media, devices, alerts }) => {
      const report = reports.get(nodeId);
      if (report === undefined || seq <= report.seq || !isPlausibleSeq(seq, Date.now())) return false;
      reports.set(nodeId, { ...report, seq, state: { ...report.state, media, devices, alerts } });
      emit(nodeId);
      return true;
    },
    heard: (nodeId, theirInstance, summary) => {
      const [address] = addresses.of(nodeId);
      const report = reports.get(nodeId);
      if (address === undefined || report === undefined) return;
      if (theirInstance !== report.state.instance) return void prober.ask(address);
      addresses.answered(address, nodeId, !report.gossips, monotonicNow(), random());
      reports.set(nodeId, { ...report, state: { ...report.state, ...summary }, contactAt: Date.now() });
      emit(nodeId);
    },
    offered: (nodeId, content) => {
      const report = reports.get(nodeId);
      if (report === undefined || find(nodeId)?.alive !== true) return false;
      reports.set(nodeId, { ...report, state: { ...report.state, content } });
      return true;
    },
    hint: (nodeId, url, advertiser) => {
      const [known] = addresses.of(nodeId);
      if (nodeId === self || (known !== undefined && !isOpen(known.breaker))) return;
      if (known === undefined) addAdvertised({ nodeId, url }, advertiser);
      else if (mayFollow(known.url)) void prober.ask(known);
    },
    verify: async (nodeId) => {
      const [address] = addresses.of(nodeId);
      if (address === undefined) return false;
      const contactAt = reports.get(nodeId)?.contactAt ?? 0;
      if (Date.now() - contactAt > HINT_MS && mayFollow(address.url)) await prober.ask(address);
      return find(nodeId)?.alive === true;
    },
    outdated: (nodeId) => {
      const report = reports.get(nodeId);
      const [address] = addresses.of(nodeId);
      if (report === undefined || address === undefined) return;
      remember(outdated, nodeId, report.state.instance, mostPeers);
      reports.set(nodeId, { ...report, gossips: false, seq: 0 });
      void prober.ask(address);
    },
    onTurn: turns.on,
    isFull: () => isFull,
    settled: () => settling ?? Promise.resolve(),
    call: async (peer, request) => {
      const { nodeId } = peer;
      const address = peer.nodeId === null ? addresses.get(peer.url) : addresses.of(peer.nodeId)[0];
      const isCallable = address !== undefined && (nodeId === null ? address.reachable : !isOpen(address.breaker));
      if (closed || !isCallable) {
        const { reason = null, late = false } = address ?? {};
        const isLate = late && !closed ? ({ isLate: true } as const) : {};
        return { ok: false, status: null, answered: false, code: null, reason: reason ?? 'is not known', ...isLate };
      }
      const recipient = nodeId === null ? {} : { recipient: nodeId };
      const answer = await caller.call(address.url, { ...request, ...recipient });
      if (!answer.ok) address.reachable = answer.answered;
      const isAway = !answer.ok && (answer.status === null || answer.code === 'misdirected');
      // Many calls that fail at once count as one failure.
      if (isAway && !closed && !isOpen(address.breaker)) {
        address.late = answer.isLate === true;
        fail(address, answer.reason);
        // The same box may be reachable at another address.
        for (const other of addresses.of(nodeId ?? '')) if (other !== address) void prober.ask(other);
      }
      return answer;
    },
    onState: states.on,
    foreignBoxes: () =>
      addresses
        .all()
        .flatMap(({ url, source, external, reason }) =>
          source === 'static' && external && reason?.startsWith(OTHER_SITE) ? [{ url, reason }] : [],
        ),
    refresh: () => probeAll(false),
    announce: () => probeAll(true),
    health: () =>
      all().map(({ nodeId, url, alive, state, contactAt, reason }) => ({
        nodeId,
        url,
        state: alive || suspicions.isPending(nodeId) ? 'alive' : reason === null ? 'unknown' : 'away',
        reason: suspicions.isPending(nodeId) ? null : suspicions.explain(nodeId, reason),
        lastContactAt: contactAt === null ? null : new Date(contactAt).toISOString(),
        version: state?.version ?? null,
      })),
    start: (at) => {
      port = at;
      timer = setInterval(() => {
        prober.tick();
        suspicions.poll();
      }, TICK_MS);
      timer.unref();
      prober.tick();
      const late = new Promise((resolve) => setTimeout(resolve, SETTLE_MS).unref());
      settling = Promise.race([prober.done(), late]).then(() => {
        settling = null;
      });
    },
    addCandidate,
    goodbye: (url) => {
      const address = addresses.get(url);
      if (address === undefined) return;
      address.leaving = true;
      void prober.ask(address);
    },
    onContact: (from, host, fromPort, hasNews, fromInstance = instance) => {
      const url = `http://${host}:${fromPort}`;
      if (from === self && fromInstance !== instance) addCandidate(url, 'contact');
      if (from === self) return;
      const [best] = addresses.of(from);
      const isAlive = best !== undefined && !isOpen(best.breaker);
      if (isAlive && hasNews) void prober.ask(best);
      // A box that starts has news, and may have left its previous address.
      if (!isAlive || (hasNews && addresses.get(url) === undefined)) addCandidate(url, 'contact');
    },
    close: () => {
      closed = true;
      clearInterval(timer);
      caller.close();
    },
  };
};
