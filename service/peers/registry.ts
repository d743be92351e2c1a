/**
 * Who is there. A hint is an address; a peer is a box that answered there, and named its node id and our site. One box by
 * several addresses is one peer.
 */
import type { z } from 'zod';
import type { PeerHealth } from '../contract/health.ts';
import { type PeerState, peerState, recipientHeader } from '../contract/peers.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import { type Address, createAddresses, type Source } from './addresses.ts';
import { hostOf, placeTold, placeToTell } from './advertised.ts';
import { isOpen } from './breaker.ts';
import type { Caller, PeerAnswer, PeerRequest } from './call.ts';
import { createProber } from './prober.ts';

/** A box of our site, or a static address where none has answered yet. */
export interface Peer {
  /** Null: a static peer that never answered. */
  nodeId: string | null;
  /** Where it answers, or did last. */
  url: string;
  /** It answered, and nothing has failed since. */
  alive: boolean;
  /** What it said of itself last. */
  state: PeerState | null;
  /** When it answered last, ms since the epoch. */
  contactAt: number | null;
  /** Why it isn't alive; completes "the box ...". Null while it is, or was never asked. */
  reason: string | null;
}

export type LivePeer = Peer & { nodeId: string; alive: true; state: PeerState };

export interface Peers {
  /** Everybody known: static peers always, found ones for an hour after their last answer. */
  all(): Peer[];
  alive(): LivePeer[];
  /** True where {@link all} has nobody; cheap enough for every request. */
  isAlone(): boolean;
  /** Resolves once every static peer has been asked; at the latest a second after the start. */
  settled(): Promise<void>;
  /**
   * Asks a peer something. One that gives no answer is not alive from then on, until a probe finds it so; meanwhile a call
   * fails at once. A static peer that has not named itself is asked too, where anybody answers there: the operator says
   * that it is one.
   */
  call<Schema extends z.ZodType>(
    peer: { nodeId: string; url?: string } | { nodeId: null; url: string },
    request: PeerRequest<Schema>,
  ): Promise<PeerAnswer<z.output<Schema>>>;
  /** Calls back each time that a peer has told its state. */
  onState(listener: (peer: LivePeer) => void): void;
  /** Asks everybody for their state now; resolves when all have answered or failed. */
  refresh(): Promise<void>;
  /** The same, and has them ask us: for when we have something new. */
  announce(): Promise<void>;
  health(): PeerHealth[];
}

export interface Registry extends Peers {
  /** Begins to ask around. @param port where this box listens */
  start(port: number): void;
  /** Takes in a hint that a box may be there. */
  hint(url: string, source: Source): void;
  /** A box that was there said goodbye. */
  goodbye(url: string): void;
  /** Whom others may ask, and where. */
  told(): PeerState['peers'];
  /** A box has asked us. @param host its address, as in a URL */
  heard(from: string, host: string, port: number, hasNews: boolean): void;
  close(): void;
}

interface Dependencies {
  logs: SourceLogs;
  caller: Caller;
  /** ms, by a clock that is never stepped. */
  steady?: () => number;
  random?: () => number;
}

interface Options {
  nodeId: string;
  /** Of this start of the service. */
  instance: string;
  site: string;
  /** Base URLs. */
  staticPeers: readonly string[];
}

const TICK_MS = 250;
const SETTLE_MS = 1_000;
/** As many as a box takes in. */
const MOST_TOLD = 256;

/** What a peer said last, and when. */
interface Word {
  state: PeerState;
  contactAt: number;
}

export const createRegistry = (
  { logs, caller, steady = () => performance.now(), random = Math.random }: Dependencies,
  { nodeId: self, instance, site, staticPeers }: Options,
): Registry => {
  const addresses = createAddresses();
  const words = new Map<string, Word>();
  const listeners: ((peer: LivePeer) => void)[] = [];
  let port: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  for (const url of staticPeers) addresses.add(url, 'static', steady(), random());

  const isLive = (peer: Peer | undefined): peer is LivePeer => peer?.alive === true;
  const find = (nodeId: string): Peer | undefined => {
    const word = words.get(nodeId);
    const [best] = addresses.of(nodeId);
    if (word === undefined || best === undefined) return undefined;
    const { url, breaker, reason } = best;
    return { nodeId, url, alive: !isOpen(breaker), ...word, reason };
  };

  const fail = (address: Address, reason: string): void => {
    const wasOpen = isOpen(address.breaker);
    addresses.failed(address, reason, steady(), random());
    if (wasOpen || (address.nodeId === null && address.source !== 'static')) return;
    const message = address.foreign ? 'whoever is there is no peer' : 'a peer is away';
    logs(`peer ${address.url}`).warn({ url: address.url, nodeId: address.nodeId, reason }, message);
  };

  /** Somebody is there, but no peer. @param foreign nobody whom we look for, either */
  const setAside = (address: Address, reason: string, foreign: boolean): void => {
    address.foreign = foreign;
    address.nodeId = null;
    fail(address, reason);
  };

  /** Takes in what a peer knows of another. */
  const follow = (told: PeerState['peers'][number], from: string): void => {
    if (told.nodeId === self || find(told.nodeId)?.alive) return;
    const url = placeTold(told.url, from);
    if (url !== null && addresses.get(url) === undefined) addresses.add(url, 'told', steady(), random());
  };

  const take = (address: Address, state: PeerState): void => {
    const { nodeId } = state;
    if (state.site !== site) return setAside(address, `is of site ${JSON.stringify(state.site)}, not of ours`, true);
    if (nodeId === self && state.instance === instance) return setAside(address, 'is this box itself', true);
    if (nodeId === self) {
      return setAside(address, 'has the same node id as this one: remove state.json from one of them', false);
    }
    const wasAlive = find(nodeId)?.alive === true;
    const isNew = address.nodeId !== nodeId;
    addresses.answered(address, nodeId, steady(), random());
    words.set(nodeId, { state, contactAt: Date.now() });
    // It may have moved here from there.
    if (isNew) for (const other of addresses.of(nodeId)) if (other !== address) void prober.ask(other);
    if (!wasAlive)
      logs(`peer ${address.url}`).info({ nodeId, url: address.url, version: state.version }, 'a peer is there');
    for (const told of state.peers) follow(told, address.url);
    const peer = find(nodeId);
    if (isLive(peer)) for (const listener of listeners) listener(peer);
  };

  const probe = async (address: Address, hasNews: boolean): Promise<void> => {
    if (port === null || closed) return;
    const path = `/api/peers/state?from=${self}&port=${port}${hasNews ? '&news=1' : ''}`;
    const answer = await caller.call(address.url, { path, schema: peerState });
    if (closed) return;
    if (answer.ok) {
      address.host = hostOf(answer.address);
      take(address, answer.body);
    } else {
      address.speaks = answer.heard;
      fail(address, answer.reason);
    }
    addresses.forget(steady());
    for (const nodeId of words.keys()) if (addresses.of(nodeId).length === 0) words.delete(nodeId);
  };

  const prober = createProber({ addresses, probe, steady });

  /** Everybody whose word counts: one address a peer, and static ones where none has been found. */
  const everybody = (): Address[] => [
    ...[...words.keys()].flatMap((nodeId) => addresses.of(nodeId).slice(0, 1)),
    ...addresses.all().filter(({ source, nodeId }) => source === 'static' && nodeId === null),
  ];

  const askAll = async (hasNews: boolean): Promise<void> => {
    await Promise.all(everybody().map((address) => prober.ask(address, hasNews)));
  };

  const hint: Registry['hint'] = (url, source) => {
    const address = addresses.add(url, source, steady(), random());
    if (address === undefined) return;
    address.leaving = false;
    if (isOpen(address.breaker)) address.breaker = { ...address.breaker, retryAt: steady() };
    prober.tick();
  };

  let settling: Promise<void> | null = null;

  const unnamed = (): Address[] =>
    addresses.all().filter(({ source, nodeId, foreign }) => source === 'static' && nodeId === null && !foreign);

  const all = (): Peer[] => [
    ...[...words.keys()].flatMap((nodeId) => find(nodeId) ?? []),
    ...unnamed().map(({ url, reason }) => ({ nodeId: null, url, alive: false, state: null, contactAt: null, reason })),
  ];

  return {
    all,
    alive: () => all().filter(isLive),
    isAlone: () => words.size === 0 && unnamed().length === 0,
    told: () =>
      all()
        .filter(isLive)
        .slice(0, MOST_TOLD)
        .map(({ nodeId, url }) => ({ nodeId, url: placeToTell(url, addresses.get(url)?.host ?? null) })),
    settled: () => settling ?? Promise.resolve(),
    call: async (peer, request) => {
      const { nodeId } = peer;
      const address = peer.nodeId === null ? addresses.get(peer.url) : addresses.of(peer.nodeId)[0];
      const isThere = address !== undefined && (nodeId === null ? address.speaks : !isOpen(address.breaker));
      if (closed || !isThere) {
        return { ok: false, status: null, heard: false, code: null, reason: address?.reason ?? 'is not known' };
      }
      const headers = { ...request.headers, ...(nodeId === null ? {} : { [recipientHeader]: nodeId }) };
      const answer = await caller.call(address.url, { ...request, headers });
      if (!answer.ok) address.speaks = answer.heard;
      const isAway = !answer.ok && (answer.status === null || answer.code === 'misdirected');
      // Of many calls that fail at once, one counts.
      if (isAway && !closed && !isOpen(address.breaker)) {
        fail(address, answer.reason);
        // Another way to the same box may be open.
        for (const other of addresses.of(nodeId ?? '')) if (other !== address) void prober.ask(other);
      }
      return answer;
    },
    onState: (listener) => {
      listeners.push(listener);
    },
    refresh: () => askAll(false),
    announce: () => askAll(true),
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
    hint,
    goodbye: (url) => {
      const address = addresses.get(url);
      if (address === undefined) return;
      address.leaving = true;
      void prober.ask(address);
    },
    heard: (from, host, fromPort, hasNews) => {
      if (from === self) return;
      const url = `http://${host}:${fromPort}`;
      const [best] = addresses.of(from);
      const isThere = best !== undefined && !isOpen(best.breaker);
      if (isThere && hasNews) void prober.ask(best);
      // Where it was may be nobody any more: a box that starts has news.
      if (!isThere || (hasNews && addresses.get(url) === undefined)) hint(url, 'asked');
    },
    close: () => {
      closed = true;
      clearInterval(timer);
      caller.close();
    },
  };
};
