/**
 * The registry of peers. A candidate is an address; a peer is a box that answered at one, with its node id and the same
 * site. A box with several addresses is one peer.
 */

import { type AnyPeerState, anyPeerState, isOfProtocol, mostPeers, type PeerState } from '../contract/peers.ts';
import { remember } from '../domain/collections.ts';
import { createEmitter } from '../domain/emitter.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import { type Address, createAddresses, isBusy } from './addresses.ts';
import { acceptedUrl, hostOf } from './advertised.ts';
import { isOpen } from './breaker.ts';
import type { Caller } from './call.ts';
import { createCandidates } from './candidates.ts';
import { createGuardedCall } from './guarded-call.ts';
import { createIndirectReports, type Report } from './indirect-reports.ts';
import { createMembers } from './members.ts';
import { isLive, type LivePeer, type Peer, type Registry } from './peer.ts';
import { createProber } from './prober.ts';
import { createSuspicions } from './suspicions.ts';
import { createWindow } from './window.ts';

interface Dependencies {
  logs: SourceLogs;
  caller: Caller;
  /** Called with the state of a box at `url` that has the node id of this one. */
  onClone?: (state: PeerState, url: string) => void;
  /** Whether other boxes reach a box that this one does not; null: they are too busy to know. */
  isReachedByOthers?: (nodeId: string) => Promise<boolean | null>;
  /** ms since the epoch. */
  now?: () => number;
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
const BASELINE = 'its SIGNAGE_VARIANT is baseline, which has no peers: set it to extended';
const TICK_MS = 250;
const SETTLE_MS = 1_000;
/** For this long after its start a box marks its first requests as news. */
const STARTING_MS = 60_000;
/** With this many known peers, a box requests no more lists of peers. */
const ENOUGH_PEERS = 4;
/** Addresses of this box that are remembered. */
const MAX_OWN_URLS = 64;

export const createRegistry = (
  {
    logs,
    caller,
    onClone = () => {},
    isReachedByOthers = async () => false,
    now = Date.now,
    monotonicNow = () => performance.now(),
    random = Math.random,
  }: Dependencies,
  { nodeId: self, instance, site, staticPeers }: Options,
): Registry => {
  const addresses = createAddresses();
  const window = createWindow();
  const reports = new Map<string, Report>();
  /** Addresses of this box itself. */
  const ownUrls = new Map<string, true>();
  const states = createEmitter<[LivePeer]>();
  const reachability = createEmitter();
  const createdAt = monotonicNow();
  let isFull = false;
  let port: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  for (const url of staticPeers) addresses.add(url, 'static', monotonicNow(), random());

  const find = (nodeId: string): Peer | undefined => {
    const report = reports.get(nodeId);
    const best = addresses.best(nodeId);
    if (report === undefined || best === undefined) return undefined;
    const { url, breaker, reason } = best;
    const { state, contactAt, stateAt } = report;
    return { nodeId, url, alive: !isOpen(breaker), state, contactAt, stateAt, reason };
  };

  const warn = ({ url, nodeId }: Pick<Address, 'url' | 'nodeId'>, reason: string, message = 'a peer is away'): void =>
    logs(`peer ${url}`).warn({ url, nodeId, reason }, message);

  const isCongested = (): boolean => window.isCongested(monotonicNow());
  const suspicions = createSuspicions({
    isReachedByOthers,
    isCongested,
    monotonicNow,
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
      reject(address, 'has the same node id as this one: remove state.json from one of them', false);
      return onClone(state, address.url);
    }
    isFull = !reports.has(nodeId) && reports.size >= mostPeers;
    if (isFull) return reject(address, `is one more than the ${mostPeers} boxes that a box can know`, false);
    const wasAlive = find(nodeId)?.alive === true;
    const isNew = address.nodeId !== nodeId;
    addresses.answered(address, nodeId, monotonicNow(), random());
    reports.set(nodeId, { state, contactAt: now(), stateAt: monotonicNow(), seq: state.seq });
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
    addresses.forget(monotonicNow());
    const gone = [...reports.keys()].filter((nodeId) => addresses.best(nodeId) === undefined);
    for (const nodeId of gone) {
      reports.delete(nodeId);
      suspicions.clear(nodeId);
    }
    if (gone.length > 0) reachability.emit();
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
      address.late = answer.isLate === true;
      fail(address, answer.status === 404 ? `${answer.reason} (${BASELINE})` : answer.reason);
    }
    // Only then can there be something to forget.
    if (isOpen(address.breaker) || (nodeId !== null && nodeId !== address.nodeId)) forget();
  };

  const prober = createProber({ addresses, window, probe, monotonicNow });

  let settling: Promise<void> | null = null;

  const unnamed = (): Address[] =>
    addresses
      .all()
      .filter(
        ({ source, nodeId, external, foreign }) => (source === 'static' || foreign) && nodeId === null && !external,
      );

  const named = (): Peer[] => [...reports.keys()].flatMap((nodeId) => find(nodeId) ?? []);
  const alive = (): LivePeer[] => named().filter(isLive);

  const all = (): Peer[] => [
    ...named(),
    ...unnamed().map(({ url, reason }) => ({
      nodeId: null,
      url,
      alive: false,
      state: null,
      contactAt: null,
      stateAt: null,
      reason,
    })),
  ];

  const indirectReports = createIndirectReports({
    self,
    reports,
    addresses,
    find,
    emit,
    addAdvertised,
    prober,
    now,
    monotonicNow,
    random,
  });

  const call = createGuardedCall({
    addresses,
    caller,
    window,
    fail,
    ask: prober.ask,
    isClosed: () => closed,
    monotonicNow,
  });

  return {
    all,
    alive,
    find,
    isAlone: () => reports.size === 0 && unnamed().length === 0,
    ...createMembers({ addresses, reports, suspicions, alive }),
    ...indirectReports,
    onReachabilityChange: reachability.on,
    isCongested,
    isFull: () => isFull,
    settled: () => settling ?? Promise.resolve(),
    call,
    onState: states.on,
    externalBoxes: () =>
      addresses
        .all()
        .flatMap(({ url, source, external, reason }) =>
          source === 'static' && external && reason?.startsWith(OTHER_SITE) ? [{ url, reason }] : [],
        ),
    refresh: async () => {
      const unproven = addresses.all().filter(({ source, nodeId }) => source === 'static' && nodeId === null);
      await Promise.all(unproven.map((address) => prober.ask(address)));
    },
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
    ...createCandidates({ self, instance, addresses, prober, monotonicNow, random }),
    close: () => {
      closed = true;
      clearInterval(timer);
      caller.close();
    },
  };
};
