/**
 * Who is there. A hint is an address; a peer is a box that answered there, and named its node id and our site. One box by
 * several addresses is one peer.
 */
import type { Logger } from 'pino';
import type { z } from 'zod';
import { type PeerHealth, type PeerState, peerState } from '../wire.ts';
import { type Address, createAddresses, type Source } from './addresses.ts';
import { isOpen } from './breaker.ts';
import { type Caller, type PeerAnswer, type PeerRequest, recipientHeader } from './call.ts';

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
  /** Resolves once every static peer has been asked; at the latest a second after the start. */
  settled(): Promise<void>;
  /**
   * Asks a peer something. One that gives no answer is not alive from then on, until a probe finds it so; meanwhile a call
   * fails at once.
   */
  call<Schema extends z.ZodType>(
    peer: Pick<Peer, 'nodeId'>,
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
  /** A box has asked us. @param host its address, as in a URL */
  heard(from: string, host: string, port: number, hasNews: boolean): void;
  close(): void;
}

interface Dependencies {
  log: Logger;
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

const isLoopback = (url: string): boolean => /^(127\.|localhost$|\[::1\]$)/.test(new URL(url).hostname);

const TICK_MS = 250;
/** How often a peer is asked for its state, to which up to a fifth is added. */
const EXCHANGE_MS = 30_000;
/** How many addresses where nobody was found yet are asked at a time. */
const MOST_PROBES = 8;
const SETTLE_MS = 1_000;

interface Record {
  url: string;
  state: PeerState;
  contactAt: number;
  /** When it is asked again. */
  nextAt: number;
}

export const createRegistry = (
  { log, caller, steady = () => performance.now(), random = Math.random }: Dependencies,
  { nodeId: self, instance, site, staticPeers }: Options,
): Registry => {
  const addresses = createAddresses();
  const records = new Map<string, Record>();
  const listeners: ((peer: LivePeer) => void)[] = [];
  /** Addresses that are being asked; `again` asks once more afterwards. */
  const asking = new Map<string, { done: Promise<void>; again: Promise<void> | null }>();
  let port: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  for (const url of staticPeers) addresses.add(url, 'static', steady());

  const peerOf = (nodeId: string, { url, state, contactAt }: Record): Peer => {
    const address = addresses.get(url);
    const alive = address !== undefined && address.nodeId === nodeId && !isOpen(address.breaker);
    return { nodeId, url, alive, state, contactAt, reason: alive ? null : (address?.reason ?? 'is somewhere else') };
  };
  const isLive = (peer: Peer): peer is LivePeer => peer.alive;
  const peer = (nodeId: string | null): Peer | undefined => {
    const record = records.get(nodeId ?? '');
    return nodeId === null || record === undefined ? undefined : peerOf(nodeId, record);
  };

  const fail = (address: Address, reason: string): void => {
    const wasOpen = isOpen(address.breaker);
    addresses.failed(address, reason, steady(), random());
    if (wasOpen || (address.nodeId === null && address.source !== 'static')) return;
    log.warn({ url: address.url, nodeId: address.nodeId, reason }, 'a peer is away');
  };

  /** Somebody is there, but no peer. @param foreign nobody whom we look for, either */
  const setAside = (address: Address, reason: string, foreign: boolean): void => {
    address.foreign = foreign;
    address.nodeId = null;
    fail(address, reason);
  };

  /** Takes in what a peer knows of another. */
  const follow = (told: PeerState['peers'][number], from: string): void => {
    if (told.nodeId === self || peer(told.nodeId)?.alive) return;
    // A loopback address means another machine there than here.
    if (isLoopback(told.url) && !isLoopback(from)) return;
    if (addresses.get(told.url) === undefined) addresses.add(told.url, 'told', steady());
  };

  const take = (address: Address, state: PeerState): void => {
    const { nodeId } = state;
    if (state.site !== site) return setAside(address, `is of site ${JSON.stringify(state.site)}, not of ours`, true);
    if (nodeId === self && state.instance === instance) return setAside(address, 'is this box itself', true);
    if (nodeId === self) {
      return setAside(address, 'has the same node id as this one: remove state.json from one of them', false);
    }
    const before = peer(nodeId);
    addresses.answered(address, nodeId, steady());
    // A peer that is reached by one address is not asked by another.
    const url = before?.alive ? before.url : address.url;
    const nextAt = steady() + EXCHANGE_MS * (1 + random() / 5);
    const record = { url, state, contactAt: Date.now(), nextAt };
    records.set(nodeId, record);
    if (!before?.alive) log.info({ nodeId, url, version: state.version }, 'a peer is there');
    for (const told of state.peers) follow(told, url);
    const now = peerOf(nodeId, record);
    if (isLive(now)) for (const listener of listeners) listener(now);
  };

  const probe = async (address: Address, news: boolean): Promise<void> => {
    address.askedAt = steady();
    const path = `/api/peers/state?from=${self}&port=${port}${news ? '&news=1' : ''}`;
    const answer = await caller.call(address.url, { path, schema: peerState });
    if (closed) return;
    if (answer.ok) take(address, answer.body);
    else {
      address.foreign = false;
      fail(address, answer.reason);
    }
    addresses.forget(steady());
    for (const nodeId of records.keys()) if (addresses.of(nodeId).length === 0) records.delete(nodeId);
  };

  /** Asks an address now; what was asked before now may not know what is new. */
  const ask = (address: Address, news = false): Promise<void> => {
    if (port === null || closed) return Promise.resolve();
    const running = asking.get(address.url);
    if (running !== undefined) {
      running.again ??= running.done.then(() => ask(address, news));
      return running.again;
    }
    const done = probe(address, news).finally(() => asking.delete(address.url));
    asking.set(address.url, { done, again: null });
    return done;
  };

  const isDue = (address: Address, now: number): boolean => {
    if (asking.has(address.url)) return false;
    if (address.askedAt === null) return true;
    const record = records.get(address.nodeId ?? '');
    if (record !== undefined && record.url !== address.url && peer(address.nodeId)?.alive) return false;
    if (isOpen(address.breaker)) return now >= address.breaker.retryAt;
    return record === undefined || now >= record.nextAt;
  };

  const tick = (): void => {
    const isProven = ({ source, nodeId }: Address): boolean => source === 'static' || nodeId !== null;
    const now = steady();
    const due = addresses.all().filter((address) => isDue(address, now));
    const unproven = due.filter((address) => !isProven(address));
    const probing = addresses.all().filter((address) => !isProven(address) && asking.has(address.url)).length;
    const next = unproven.toSorted((a, b) => (a.askedAt ?? 0) - (b.askedAt ?? 0));
    for (const address of [...due.filter(isProven), ...next.slice(0, Math.max(0, MOST_PROBES - probing))]) {
      void ask(address);
    }
  };

  /** Everybody whose word counts: one address a peer, and static ones where none has been found. */
  const everybody = (): Address[] => [
    ...[...records.keys()].flatMap((nodeId) => addresses.of(nodeId).slice(0, 1)),
    ...addresses.all().filter(({ source, nodeId }) => source === 'static' && nodeId === null),
  ];

  const askAll = async (news: boolean): Promise<void> => {
    await Promise.all(everybody().map((address) => ask(address, news)));
  };

  let settling: Promise<void> | null = null;

  const all = (): Peer[] => [
    ...[...records].map(([nodeId, record]) => peerOf(nodeId, record)),
    ...addresses
      .all()
      .filter(({ source, nodeId, foreign }) => source === 'static' && nodeId === null && !foreign)
      .map(({ url, reason }) => ({ nodeId: null, url, alive: false, state: null, contactAt: null, reason })),
  ];

  return {
    all,
    alive: () => all().filter(isLive),
    settled: () => settling ?? Promise.resolve(),
    call: async ({ nodeId }, request) => {
      const found = peer(nodeId);
      const address = found === undefined ? undefined : addresses.get(found.url);
      if (found === undefined || !found.alive || address === undefined) {
        return { ok: false, status: null, code: null, reason: found?.reason ?? 'is not known' };
      }
      const headers = { ...request.headers, [recipientHeader]: found.nodeId ?? '' };
      const answer = await caller.call(address.url, { ...request, headers });
      if (!answer.ok && (answer.status === null || answer.code === 'misdirected') && !closed) {
        fail(address, answer.reason);
        // Another way to the same box may be open.
        for (const other of addresses.of(nodeId ?? '')) if (other !== address) void ask(other);
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
      timer = setInterval(tick, TICK_MS);
      timer.unref();
      tick();
      const first = Promise.all([...asking.values()].map(({ done }) => done));
      const late = new Promise((resolve) => setTimeout(resolve, SETTLE_MS).unref());
      settling = Promise.race([first, late]).then(() => {
        settling = null;
      });
    },
    hint: (url, source) => {
      const address = addresses.add(url, source, steady());
      if (address === undefined) return;
      address.leaving = false;
      if (isOpen(address.breaker)) address.breaker = { ...address.breaker, retryAt: steady() };
      tick();
    },
    goodbye: (url) => {
      const address = addresses.get(url);
      if (address === undefined) return;
      address.leaving = true;
      void ask(address);
    },
    heard: (from, host, fromPort, hasNews) => {
      if (from === self) return;
      const known = peer(from);
      const [best] = addresses.of(from);
      if (known?.alive && best !== undefined) {
        if (hasNews) void ask(best);
        return;
      }
      const address = addresses.add(`http://${host}:${fromPort}`, 'asked', steady());
      if (address !== undefined) void ask(address);
    },
    close: () => {
      closed = true;
      clearInterval(timer);
      caller.close();
    },
  };
};
