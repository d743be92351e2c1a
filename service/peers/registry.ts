/**
 * The registry of peers. A candidate is an address; a peer is a box that answered at one, with its node id and the same
 * site. A box with several addresses is one peer.
 */

import type { z } from 'zod';
import type { PeerHealth } from '../contract/health.ts';
import { type PeerState, peerState } from '../contract/peers.ts';
import { createEmitter } from '../domain/emitter.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import { type Address, createAddresses, type Source } from './addresses.ts';
import { acceptedUrl, advertisedUrl, hostOf } from './advertised.ts';
import { isOpen } from './breaker.ts';
import type { Caller, PeerRequest } from './call.ts';
import { createProber } from './prober.ts';
import type { PeerAnswer } from './reply.ts';

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
  /** Requests the state of every peer now; resolves when all have answered or failed. */
  refresh(): Promise<void>;
  /** As {@link refresh}, and makes the peers request the state of this box, which has changed. */
  announce(): Promise<void>;
  health(): PeerHealth[];
}

export interface Registry extends Peers {
  /** Starts probing. @param port on which this box listens */
  start(port: number): void;
  /** Adds an address at which a box may be. */
  addCandidate(url: string, source: Source): void;
  /** Handles the goodbye of a box. */
  goodbye(url: string): void;
  /** The live peers that this box advertises to other boxes. */
  advertised(): PeerState['peers'];
  /** Handles a request from another box. @param host its address, as in a URL */
  onContact(from: string, host: string, port: number, hasNews: boolean): void;
  close(): void;
}

interface Dependencies {
  logs: SourceLogs;
  caller: Caller;
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

const TICK_MS = 250;
const SETTLE_MS = 1_000;
/** As many addresses as a box keeps. */
const MAX_ADVERTISED = 256;

/** The last state that a peer sent. */
interface Report {
  state: PeerState;
  contactAt: number;
}

export const createRegistry = (
  { logs, caller, monotonicNow = () => performance.now(), random = Math.random }: Dependencies,
  { nodeId: self, instance, site, staticPeers }: Options,
): Registry => {
  const addresses = createAddresses();
  const reports = new Map<string, Report>();
  const states = createEmitter<[LivePeer]>();
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
    return { nodeId, url, alive: !isOpen(breaker), ...report, reason };
  };

  const fail = (address: Address, reason: string): void => {
    const wasOpen = isOpen(address.breaker);
    addresses.failed(address, reason, monotonicNow(), random());
    if (wasOpen || (address.nodeId === null && address.source !== 'static')) return;
    const message = address.external ? 'the box at this address is not a peer' : 'a peer is away';
    logs(`peer ${address.url}`).warn({ url: address.url, nodeId: address.nodeId, reason }, message);
  };

  /** Rejects a box that answered. @param external whether it is this box itself or of another site */
  const reject = (address: Address, reason: string, external: boolean): void => {
    address.external = external;
    address.nodeId = null;
    fail(address, reason);
  };

  /** Adds a candidate that a peer advertises. */
  const addAdvertised = (advertised: PeerState['peers'][number], from: string): void => {
    if (advertised.nodeId === self || find(advertised.nodeId)?.alive) return;
    const url = acceptedUrl(advertised.url, from);
    if (url !== null && addresses.get(url) === undefined) addresses.add(url, 'advertised', monotonicNow(), random());
  };

  const accept = (address: Address, state: PeerState): void => {
    const { nodeId } = state;
    if (state.site !== site) return reject(address, `is of site ${JSON.stringify(state.site)}, not of ours`, true);
    if (nodeId === self && state.instance === instance) return reject(address, 'is this box itself', true);
    if (nodeId === self) {
      return reject(address, 'has the same node id as this one: remove state.json from one of them', false);
    }
    const wasAlive = find(nodeId)?.alive === true;
    const isNew = address.nodeId !== nodeId;
    addresses.answered(address, nodeId, monotonicNow(), random());
    reports.set(nodeId, { state, contactAt: Date.now() });
    // It may have moved to this address from another one.
    if (isNew) for (const other of addresses.of(nodeId)) if (other !== address) void prober.ask(other);
    if (!wasAlive)
      logs(`peer ${address.url}`).info({ nodeId, url: address.url, version: state.version }, 'a peer is there');
    for (const advertised of state.peers) addAdvertised(advertised, address.url);
    const peer = find(nodeId);
    if (isLive(peer)) states.emit(peer);
  };

  const probe = async (address: Address, hasNews: boolean): Promise<void> => {
    if (port === null || closed) return;
    const path = `/api/peers/state?from=${self}&port=${port}&knows=tags${hasNews ? '&news=1' : ''}`;
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
    for (const nodeId of reports.keys()) if (addresses.of(nodeId).length === 0) reports.delete(nodeId);
  };

  const prober = createProber({ addresses, probe, monotonicNow });

  /** The best address of each peer, and static addresses at which no peer has been found. */
  const targets = (): Address[] => [
    ...[...reports.keys()].flatMap((nodeId) => addresses.of(nodeId).slice(0, 1)),
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
    ...unnamed().map(({ url, reason }) => ({ nodeId: null, url, alive: false, state: null, contactAt: null, reason })),
  ];

  return {
    all,
    alive: () => all().filter(isLive),
    isAlone: () => reports.size === 0 && unnamed().length === 0,
    advertised: () =>
      all()
        .filter(isLive)
        .slice(0, MAX_ADVERTISED)
        .map(({ nodeId, url }) => ({ nodeId, url: advertisedUrl(url, addresses.get(url)?.host ?? null) })),
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
    refresh: () => probeAll(false),
    announce: () => probeAll(true),
    health: () =>
      all().map(({ nodeId, url, alive, state, contactAt, reason }) => ({
        nodeId,
        url,
        state: alive ? 'alive' : reason === null ? 'unknown' : 'away',
        reason,
        lastContactAt: contactAt === null ? null : new Date(contactAt).toISOString(),
        version: state?.version ?? null,
      })),
    start: (at) => {
      port = at;
      timer = setInterval(prober.tick, TICK_MS);
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
    onContact: (from, host, fromPort, hasNews) => {
      if (from === self) return;
      const url = `http://${host}:${fromPort}`;
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
