/**
 * The registry of peers. A candidate is an address; a peer is a box that answered at one, with its node id and the same
 * site. A box with several addresses is one peer. What other boxes report only makes this one check for itself.
 */
import type { z } from 'zod';
import type { MemberEntry, MemberRecord, SiteSummary } from '../contract/gossip.ts';
import type { PeerHealth } from '../contract/health.ts';
import {
  type AnyPeerState,
  anyPeerState,
  type ContentVersion,
  isOfProtocol,
  mostPeers,
  type PeerState,
} from '../contract/peers.ts';
import { remember } from '../domain/collections.ts';
import { createEmitter } from '../domain/emitter.ts';
import type { EpochMs, MonotonicMs } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';
import { type Address, type AddressOrigin, createAddresses, isAnswering, isBusy, isOpen } from './addresses.ts';
import { acceptedUrl, advertisedUrl, hostOf } from './advertised.ts';
import type { Caller, PeerRequest } from './call.ts';
import type { KnownBox } from './known-boxes.ts';
import { knownIn, recordIn, versionIn } from './member-records.ts';
import { createProber, createWindow } from './prober.ts';
import type { Failure, PeerAnswer } from './reply.ts';
import { createSuspicions } from './suspicions.ts';

/** A box of the same site, or a static address where no box has answered yet. */
export interface Peer {
  /** Null for a static peer of which no box is known. */
  nodeId: string | null;
  /** Base URL at which it answered last. */
  url: string;
  /** Whether it answered and no call has failed since. */
  alive: boolean;
  /** Speaks another protocol: it takes what is specified, such as commands, and nothing that only boxes say. */
  isForeign: boolean;
  /** The last state that it sent, updated with what others have forwarded since. */
  state: PeerState | null;
  /** Time of its last answer. */
  contactAt: EpochMs | null;
  stateAt: MonotonicMs | null;
  /** Why it is not alive; completes "the box ...". Null while it is alive, or was never called. */
  reason: string | null;
}

export type LivePeer = Peer & { nodeId: string; alive: true; state: PeerState; stateAt: number };

export const isLive = (peer: Peer | undefined): peer is LivePeer => peer?.alive === true;

/** Whom to call: a peer, or a static address at which no peer has answered yet. */
export type PeerAddress = { nodeId: string; url?: string } | { nodeId: null; url: string };

interface Site {
  site: string;
  staticPeers: readonly string[];
  /** Boxes that were known before this start. */
  known?: readonly KnownBox[];
  caller: Caller;
  /** Called with the state of a box at `url` that has the node id of this one. */
  onClone?: (state: PeerState, url: string) => void;
  /** Whether other boxes reach a box that this one does not; null: they are too busy to know. */
  isReachedByOthers?: (nodeId: string) => Promise<boolean | null>;
}

export type Registry = ReturnType<typeof createRegistry>;

const OTHER_SITE = 'is of site';
const BASELINE = 'its SIGNAGE_VARIANT is baseline, which has no peers: set it to extended';
const unanswered = { alive: false, state: null, contactAt: null, stateAt: null } as const;
/** For this long after its start a box marks its first requests as news. */
const STARTING_MS = 60_000;
/** With this many known peers, a box requests no more lists of peers. */
const ENOUGH_PEERS = 4;
/** Addresses of this box that are remembered. */
const MAX_OWN_URLS = 64;

export const createRegistry = (
  context: Pick<ServiceContext, 'logs' | 'ids' | 'now' | 'monotonicNow' | 'random' | 'tempo'>,
  { site, staticPeers, known = [], caller, onClone = () => {}, isReachedByOthers = async () => false }: Site,
) => {
  const { logs, now, monotonicNow, random, tempo: table } = context;
  const { nodeId: self, instance } = context.ids;
  const { peers: tempo } = table;
  const addresses = createAddresses(tempo);
  const window = createWindow();
  /** `record`: as it came last, for other boxes. */
  const reports = new Map<string, Pick<LivePeer, 'state' | 'stateAt'> & { contactAt: EpochMs; record: MemberRecord }>();
  const ownUrls = new Map<string, true>();
  const states = createEmitter<[LivePeer]>();
  const reachability = createEmitter();
  const createdAt = monotonicNow();
  let isFull = false;
  let port: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  for (const url of staticPeers) addresses.add(url, 'static', monotonicNow(), random());
  for (const { nodeId, url } of known) {
    const address = addresses.add(url, 'known', monotonicNow(), random());
    if (address !== undefined) address.expected = nodeId;
  }

  const find = (nodeId: string): Peer | undefined => {
    const report = reports.get(nodeId);
    const best = addresses.best(nodeId);
    if (report === undefined || best === undefined) return undefined;
    const { url, breaker, reason } = best;
    const { record: _, ...known } = report;
    return { nodeId, url, alive: !isOpen(breaker), isForeign: false, ...known, reason };
  };

  const warn = ({ url, nodeId }: Pick<Address, 'url' | 'nodeId'>, reason: string, message = 'a peer is away'): void =>
    logs(`peer ${url}`).warn({ url, nodeId, reason }, message);

  const isCongested = (): boolean => window.isCongested(monotonicNow());
  const suspicions = createSuspicions(context, {
    isReachedByOthers,
    isCongested,
    onAway: (nodeId) => {
      const peer = find(nodeId);
      if (peer !== undefined) warn(peer, peer.reason ?? '');
      reachability.emit();
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

  const noteLate = (address: Address, { isLate, isConnected }: Failure): void => {
    address.late = isLate === true;
    address.hangs = address.late && isConnected === true;
  };

  /** Rejects a box that answered. @param external whether it is this box itself or of another site */
  const reject = (address: Address, reason: string, external: boolean): void => {
    address.external = external;
    address.nodeId = null;
    fail(address, reason);
  };

  const rejectClone = (address: Address, whose: string): void => {
    const reason = `has the same node id as ${whose}: remove state.json and state.json.prev from one of them`;
    if (!address.clone) warn(address, reason, 'two boxes have one node id');
    address.clone = true;
    reject(address, reason, false);
  };

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

  const accept = (address: Address, state: AnyPeerState): void => {
    const { nodeId } = state;
    if (state.site !== site) return reject(address, `${OTHER_SITE} ${JSON.stringify(state.site)}, not of ours`, true);
    address.foreign = !isOfProtocol(state);
    if (!isOfProtocol(state)) {
      address.reachable = true;
      const reason = `speaks protocol ${state.protocol} (version ${state.version}) and takes commands alone: bring both to one version`;
      return reject(address, reason, false);
    }
    if (nodeId === self && state.instance === instance) {
      remember(ownUrls, address.url, true, MAX_OWN_URLS);
      return reject(address, 'is this box itself', true);
    }
    if (nodeId === self) {
      rejectClone(address, 'this one');
      return onClone(state, address.url);
    }
    isFull = !reports.has(nodeId) && reports.size >= mostPeers;
    if (isFull) return reject(address, `is one more than the ${mostPeers} boxes that a box can know`, false);
    const twin = addresses.best(nodeId);
    if (address.clone && twin !== undefined && isAnswering(twin) && twin.instance !== state.instance) {
      return rejectClone(address, `the box at ${twin.url}`);
    }
    const wasAlive = find(nodeId)?.alive === true;
    const isNew = address.nodeId !== nodeId || address.instance !== state.instance;
    // Another one has answered in between: one box that starts again never answers as before.
    const isOneOfTwo = !isNew && (reports.get(nodeId)?.state ?? state).instance !== state.instance;
    addresses.answered(address, nodeId, monotonicNow(), random());
    address.instance = state.instance;
    if (isOneOfTwo) {
      const [first = address, ...others] = addresses.of(nodeId);
      for (const other of others) if (other.instance !== first.instance) rejectClone(other, `the box at ${first.url}`);
      if (address.clone) return;
    }
    reports.set(nodeId, { state, record: recordIn(state), contactAt: now(), stateAt: monotonicNow() });
    if (suspicions.clear(nodeId)) reachability.emit();
    // It may have moved to this address from another one.
    if (isNew) for (const other of addresses.of(nodeId)) if (other !== address) void prober.ask(other);
    if (!wasAlive)
      logs(`peer ${address.url}`).info({ nodeId, url: address.url, version: state.version }, 'a peer is there');
    for (const advertised of state.peers) addAdvertised(advertised, address.url);
    emit(nodeId);
  };

  /** Removes addresses that are no longer worth probing, and the peers that have none left. */
  const forget = (): void => {
    const before = all().length;
    addresses.forget(monotonicNow());
    for (const nodeId of [...reports.keys()].filter((each) => addresses.best(each) === undefined)) {
      reports.delete(nodeId);
      suspicions.clear(nodeId);
    }
    if (all().length < before) reachability.emit();
  };

  const probe = async (address: Address, hasNews: boolean): Promise<void> => {
    if (port === null || closed) return;
    // A box that made contact already gets the state by this request.
    const isFirst = address.nodeId === null && address.source !== 'contact' && monotonicNow() - createdAt < STARTING_MS;
    const news = hasNews || isFirst ? '&news=1' : '';
    // A box that gossips gets the others from gossip: a list from each box would grow with the square of the site.
    const brief = address.source !== 'static' && reports.size >= ENOUGH_PEERS ? '&brief=1' : '';
    const path = `/api/peers/state?from=${self}&port=${port}&instance=${instance}${news}${brief}`;
    const askedAt = monotonicNow();
    const { nodeId, source } = address;
    const answer = await caller.call(address.url, { path, schema: anyPeerState });
    if (answer.ok || answer.answered) address.answeredAt = monotonicNow();
    // Any host can announce an address.
    const isKnown = nodeId !== null || source === 'static' || source === 'advertised';
    if (!answer.ok && answer.isConnected === true && isKnown) window.late(monotonicNow());
    if (closed || (!answer.ok && isBusy(address, answer, askedAt))) return;
    if (answer.ok) {
      address.host = hostOf(answer.address);
      accept(address, answer.body);
    } else {
      address.reachable = answer.answered;
      address.foreign = false;
      address.clone = false;
      noteLate(address, answer);
      fail(address, answer.status === 404 ? `${answer.reason} (${BASELINE})` : answer.reason);
    }
    // Only then can there be something to forget.
    if (isOpen(address.breaker) || (nodeId !== null && nodeId !== address.nodeId)) forget();
  };

  const prober = createProber(context, addresses, window, probe);

  let settling = Promise.resolve();

  /** Addresses without a peer that are named: static ones, of another protocol, and of boxes known before this start. */
  const unnamed = (): Address[] =>
    addresses.all().filter(({ source, nodeId, expected, external, foreign }) => {
      const isMissing = source === 'known' && !reports.has(expected ?? '');
      return (source === 'static' || isMissing || foreign) && nodeId === null && !external;
    });

  const named = (): Peer[] => [...reports.keys()].flatMap((nodeId) => find(nodeId) ?? []);
  const alive = (): LivePeer[] => named().filter(isLive);

  const all = (): Peer[] => [
    ...named(),
    ...unnamed().map(({ url, expected, foreign, reason }) => ({
      nodeId: reports.has(expected ?? '') ? null : expected,
      url,
      isForeign: foreign,
      ...unanswered,
      reason,
    })),
  ];

  const followedAt = new Map<string, MonotonicMs>();
  /** Probes an address because another box reports on it. @returns whether it was probed, now or within the last seconds */
  const follow = async (address: Address): Promise<boolean> => {
    const at = monotonicNow();
    if (at - (followedAt.get(address.url) ?? Number.NEGATIVE_INFINITY) < tempo.follow) return true;
    const isProbed = await prober.attempt(address, 'report');
    if (isProbed) remember(followedAt, address.url, at, 2 * mostPeers);
    return isProbed;
  };

  /** @param from the node id of the box that made contact */
  const addCandidate = (url: string, source: AddressOrigin, from: string | null = null): void => {
    const address = addresses.add(url, source, monotonicNow(), random());
    if (address === undefined) return;
    address.leaving = false;
    if (isOpen(address.breaker)) {
      const retryAt = from !== null ? 0 : Math.min(address.breaker.retryAt, monotonicNow());
      address.breaker = { ...address.breaker, retryAt };
    }
    const isStranger = address.source === 'contact' && address.nodeId === null;
    const isKnown = isAnswering(address) && address.nodeId === from;
    if (from !== null && !isStranger && !isKnown) void prober.attempt(address, 'contact');
    prober.tick();
  };

  /** Where a box is reached; undefined: it is away, or unknown. */
  const reachedAt = (nodeId: string): Address | undefined => {
    const best = addresses.best(nodeId);
    return best !== undefined && (!isOpen(best.breaker) || suspicions.isPending(nodeId)) ? best : undefined;
  };

  /**
   * Calls a peer at its best address. A peer that does not answer is not alive until a probe succeeds; meanwhile calls fail
   * immediately. A static peer without a node id is called too if its address is reachable: the operator configured it.
   */
  const call = async <Schema extends z.ZodType>(
    peer: PeerAddress,
    request: PeerRequest<Schema>,
  ): Promise<PeerAnswer<z.output<Schema>>> => {
    const { nodeId } = peer;
    const address = peer.nodeId === null ? addresses.get(peer.url) : addresses.best(peer.nodeId);
    const isCallable = address !== undefined && (nodeId === null ? address.reachable : !isOpen(address.breaker));
    if (closed || !isCallable) {
      const { reason = null, late = false } = address ?? {};
      const isLate = late && !closed ? ({ isLate: true } as const) : {};
      return { ok: false, status: null, answered: false, code: null, reason: reason ?? 'is not known', ...isLate };
    }
    const askedAt = monotonicNow();
    const answer = await caller.call(address.url, nodeId === null ? request : { ...request, recipient: nodeId });
    if (!answer.ok && answer.isConnected === true) window.late(monotonicNow());
    if (answer.ok || answer.answered) address.answeredAt = monotonicNow();
    else if (isBusy(address, answer, askedAt)) return answer;
    if (!answer.ok) address.reachable = answer.answered;
    const isAway = !answer.ok && (answer.status === null || answer.code === 'misdirected');
    // Concurrent calls that fail count as one failure.
    if (isAway && !closed && !isOpen(address.breaker)) {
      noteLate(address, answer);
      fail(address, answer.reason);
      // The same box may be reachable at another address.
      for (const other of addresses.of(nodeId ?? '')) if (other !== address) void prober.ask(other);
    }
    return answer;
  };

  return {
    /** Whether a peer accepts connections, as far as is known: it answers, or hangs. */
    isThere: ({ nodeId, url }: Pick<Peer, 'nodeId' | 'url'>): boolean => {
      const address = nodeId === null ? addresses.get(url) : addresses.best(nodeId);
      return address !== undefined && (isAnswering(address) || address.hangs);
    },
    /** Boxes that have the node id of another one. */
    clones: (): { url: string; reason: string | null }[] => addresses.all().filter(({ clone }) => clone),
    /** Static peers always; discovered peers until 25 hours after their last answer. */
    all,
    alive,
    find,
    /** Whether {@link all} is empty; cheap enough for every request. */
    isAlone: (): boolean => reports.size === 0 && unnamed().length === 0,
    /** Resolves once every static peer has been probed, at the latest a second after `start`. */
    settled: (): Promise<void> => settling,
    call,
    /** Calls `listener` each time a peer has sent its state. */
    onState: states.on,
    /** Calls `listener` when a peer goes away and when it comes back. */
    onReachabilityChange: reachability.on,
    /** Whether boxes that are there answer late: what can wait is not sent. */
    isCongested,
    /** Whether there are more boxes than a box can know. */
    isFull: (): boolean => isFull,
    /** Probes the addresses of a peer; null: the static ones at which no peer has answered yet. */
    refresh: async (nodeId: string | null): Promise<void> => {
      const unproven = () => addresses.all().filter(({ source, nodeId: id }) => source === 'static' && id === null);
      const asked = nodeId === null ? unproven() : addresses.of(nodeId);
      await Promise.all(asked.map((address) => prober.ask(address)));
    },
    addCandidate,
    /** Handles the goodbye of a box. */
    goodbye: (url: string): void => {
      const address = addresses.get(url);
      if (address === undefined) return;
      address.leaving = true;
      void prober.ask(address);
    },
    /**
     * Handles a request from another box.
     * @param remote its address, as the socket reports it; absent: the connection is closed
     * @param fromInstance its start of the service; default: not told
     */
    onContact: (
      from: string,
      remote: string | undefined,
      fromPort: number,
      hasNews: boolean,
      fromInstance = instance,
    ) => {
      const host = hostOf(remote ?? '');
      if (host === null) return;
      const url = `http://${host}:${fromPort}`;
      if (from === self && fromInstance !== instance) addCandidate(url, 'contact', from);
      if (from === self) return;
      const best = addresses.best(from);
      const isAlive = best !== undefined && !isOpen(best.breaker);
      if (isAlive && hasNews) void prober.ask(best);
      // A box that starts has news, and may have left its previous address, or be back at it.
      if (!isAlive || (hasNews && best.url !== url)) addCandidate(url, 'contact', from);
    },
    /** The live peers that this box advertises to another one. */
    advertised: (): PeerState['peers'] =>
      alive()
        .slice(0, mostPeers)
        .map(({ nodeId, url }) => ({ nodeId, url: advertisedUrl(url, addresses.get(url)?.host ?? null) })),
    /** The peers that are not away: the versions of their records, by node id. */
    reached: (): Map<string, number> =>
      new Map(
        [...reports].flatMap(([id, { state }]) => (reachedAt(id) ? [[id, versionIn(state, now())] as const] : [])),
      ),
    /** A peer that is not away, as other boxes learn of it; null if it is away, or unknown. */
    entry: (nodeId: string): MemberEntry | null => {
      const [report, address] = [reports.get(nodeId), reachedAt(nodeId)];
      if (report === undefined || address === undefined) return null;
      return [nodeId, advertisedUrl(address.url, address.host), versionIn(report.state, now())];
    },
    /** The record that a peer keeps of itself; null if it is unknown. */
    record: (nodeId: string): MemberRecord | null => reports.get(nodeId)?.record ?? null,
    /** Applies the record of a peer that another one forwarded, if it is newer. @returns whether it was newer */
    applyRecord: (record: MemberRecord): boolean => {
      const report = reports.get(record.nodeId);
      if (report === undefined || versionIn(record, now()) <= versionIn(report.state, now())) return false;
      reports.set(record.nodeId, { ...report, record, state: { ...report.state, ...knownIn(record) } });
      emit(record.nodeId);
      return true;
    },
    /** Handles the answer of a peer to a gossip request. @param serverTime its clock */
    onGossipAnswer: (nodeId: string, theirInstance: string, summary: SiteSummary, serverTime: EpochMs): void => {
      const address = addresses.best(nodeId);
      const report = reports.get(nodeId);
      if (address === undefined || report === undefined) return;
      if (theirInstance !== report.state.instance) return void prober.ask(address);
      addresses.answered(address, nodeId, monotonicNow(), random());
      const state = { ...report.state, ...summary, serverTime };
      reports.set(nodeId, { ...report, state, stateAt: monotonicNow(), contactAt: now() });
      if (suspicions.clear(nodeId)) reachability.emit();
      emit(nodeId);
    },
    /** Handles the content version that a peer reports. @returns whether it is a live peer */
    offered: (nodeId: string, content: ContentVersion): boolean => {
      const report = reports.get(nodeId);
      if (report === undefined || find(nodeId)?.alive !== true) return false;
      reports.set(nodeId, { ...report, state: { ...report.state, content } });
      return true;
    },
    /** Probes a box that another one reports as reachable. @param advertiser base URL of the other one */
    addReported: (nodeId: string, url: string, advertiser: string): void => {
      const known = addresses.best(nodeId);
      // One that has the id of this box is a copy of it, or takes its place.
      if (known !== undefined && !isOpen(known.breaker)) return;
      if (known === undefined) addAdvertised({ nodeId, url }, advertiser);
      else void follow(known);
    },
    /** Probes a peer that another one cannot reach; resolves with whether this box can, or null: it is too busy to know. */
    verify: async (nodeId: string): Promise<boolean | null> => {
      const address = addresses.best(nodeId);
      if (address === undefined) return false;
      const contactAt = reports.get(nodeId)?.contactAt ?? 0;
      const isKnown = now() - contactAt <= tempo.follow || (await follow(address));
      return isKnown ? find(nodeId)?.alive === true : null;
    },
    /** Static peers that are boxes of other sites. */
    externalBoxes: (): { url: string; reason: string }[] =>
      addresses
        .all()
        .flatMap(({ url, source, external, reason }) =>
          source === 'static' && external && reason?.startsWith(OTHER_SITE) ? [{ url, reason }] : [],
        ),
    health: (): PeerHealth[] =>
      all().map(({ nodeId, url, alive, state, contactAt, reason }) => ({
        nodeId,
        url,
        state: alive || suspicions.isPending(nodeId) ? 'alive' : reason === null ? 'unknown' : 'away',
        reason: suspicions.isPending(nodeId) ? null : suspicions.explain(nodeId, reason),
        lastContactAt: contactAt === null ? null : new Date(contactAt).toISOString(),
        version: state?.version ?? null,
      })),
    /** Starts probing. @param at the port on which this box listens */
    start: (at: number): void => {
      port = at;
      timer = setInterval(() => {
        prober.tick();
        suspicions.poll();
      }, tempo.tick);
      timer.unref();
      prober.tick();
      const late = new Promise((resolve) => setTimeout(resolve, tempo.settle).unref());
      settling = Promise.race([prober.done(), late]).then(() => undefined);
    },
    close: (): void => {
      closed = true;
      clearInterval(timer);
      caller.close();
    },
  };
};
