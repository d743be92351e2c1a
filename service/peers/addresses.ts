/**
 * The addresses at which boxes may be: bounded in number, rated by their answers. Nothing here sends requests; times are
 * arguments.
 */
import { mostPeers } from '../contract/peers.ts';
import { doubled, type MonotonicMs } from '../domain/time.ts';
import type { Tempo } from '../tempo.ts';

/** The circuit breaker of an address: decides when one that does not answer is probed again. */
export interface Breaker {
  readonly failures: number;
  /** When the next probe is due; 0 while closed, and once the box has made contact. */
  readonly retryAt: MonotonicMs;
}

export const closed: Breaker = { failures: 0, retryAt: 0 };

/** Whether the address receives only probes. */
export const isOpen = ({ failures }: Breaker): boolean => failures > 0;

/**
 * The breaker after one more failure. The pause is random, within a range that grows from `retry` to `maxRetry`, so that
 * the boxes of a site do not probe in step.
 * @param random 0 to 1
 */
export const failed = (
  { failures }: Breaker,
  now: MonotonicMs,
  random: number,
  { retry, maxRetry }: Pick<Tempo['peers'], 'retry' | 'maxRetry'>,
): Breaker => {
  const longest = doubled(failures + 1, retry, maxRetry);
  return { failures: failures + 1, retryAt: now + retry + random * (longest - retry) };
};

/**
 * The origin of an address: the settings, DNS-SD, a box that sent a request from it, a peer that advertises it, or a box that
 * was known before this start.
 */
export type AddressOrigin = 'static' | 'discovered' | 'contact' | 'advertised' | 'known';

const newAddress = (url: string, source: AddressOrigin, now: MonotonicMs) => ({
  /** Base URL without a trailing slash. */
  url,
  source,
  /** The IP address that answered last, as in a URL; null without an answer, or if a URL cannot hold it. */
  host: null as string | null,
  /** The peer that answered last; null if none ever did. */
  nodeId: null as string | null,
  /** The box that was known here before this start; null: none. */
  expected: null as string | null,
  breaker: closed,
  /** Why no peer is reachable here, completing "the box ..."; null if one is, or the address was never probed. */
  reason: null as string | null,
  /** Time of the next probe, while it answers. */
  nextAt: now,
  /** The box that answers is this one, or belongs to another site. */
  external: false,
  /** The address is reachable over HTTP, whatever the answer. */
  reachable: false,
  /** A box of the site answers that speaks another protocol, which takes commands alone. */
  foreign: false,
  /** No answer came in time, the last time. */
  late: false,
  /** The same, and a connection was accepted. */
  hangs: false,
  /** The start of the box that answered last. */
  instance: null as string | null,
  /** The box that answers has the node id of this one, or of one at another address, and is not that one. */
  clone: false,
  /** When a request was last answered here. */
  answeredAt: Number.NEGATIVE_INFINITY,
  /** The box has said goodbye. */
  leaving: false,
  /** When it was last added or answered. */
  seenAt: now,
});

export type Address = ReturnType<typeof newAddress>;

/** Interval between probes of an address of a peer, of which those that are not in use are still tried. */
const REVIEW_MS = 1_800_000;
/** Limits of addresses without a peer: those that any client can announce, and those that peers advertise. */
const MAX_ANNOUNCED = 256;
const MAX_ADVERTISED = mostPeers;
/** Limit of addresses besides the static ones; a box may have several. */
const MAX_ADDRESSES = 2 * mostPeers;
/** Failed probes after which an address without a peer is removed. */
const MAX_TRIES = 3;
/** Time after which an absent peer that is not static is removed: longer than the longest grace of alerts, a day. */
const FORGET_MS = 25 * 3_600_000;

/**
 * Whether a request failed because the box there is busy, or hangs on such requests: it has answered another one since.
 * @param since when the request was sent
 */
export const isBusy = ({ answeredAt }: Address, { isLate }: { isLate?: true }, since: number): boolean =>
  isLate === true && answeredAt >= since;

/** Whether a peer answers there, as far as is known. */
export const isAnswering = ({ nodeId, breaker }: Address): boolean => nodeId !== null && !isOpen(breaker);

/** When the address is to be probed. */
export const dueAt = ({ breaker, nextAt }: Address): number => (isOpen(breaker) ? breaker.retryAt : nextAt);

/** Whether the address is to be probed now. */
export const isDue = (address: Address, now: number): boolean => now >= dueAt(address);

const byQuality = (a: Address, b: Address): number =>
  Number(isOpen(a.breaker)) - Number(isOpen(b.breaker)) ||
  Number(b.source === 'static') - Number(a.source === 'static');

export type Addresses = ReturnType<typeof createAddresses>;

export const createAddresses = (tempo: Parameters<typeof failed>[3]) => {
  const known = new Map<string, Address>();
  /** By node id; may hold addresses that were removed, or where another box answers by now. */
  const byNode = new Map<string, Set<Address>>();
  const all = (): Address[] => [...known.values()];

  /**
   * Makes room by removing an address without a peer: the one with the most failures, else a random one. Any client can
   * announce thousands, and a real box must have a chance among them. An announcement never displaces an address that a
   * box gave.
   */
  const makeRoom = (newcomer: AddressOrigin, random: number): boolean => {
    const found = all().filter(({ source }) => source !== 'static' && source !== 'known');
    const isAdvertised = newcomer === 'advertised';
    const group = found.filter(({ source, nodeId }) => nodeId === null && (source === 'advertised') === isAdvertised);
    if (found.length < MAX_ADDRESSES && group.length < (isAdvertised ? MAX_ADVERTISED : MAX_ANNOUNCED)) return true;
    const unproven = group.filter(({ source }) => newcomer !== 'discovered' || source === newcomer);
    const [worst] = unproven.toSorted((a, b) => b.breaker.failures - a.breaker.failures);
    const victim =
      worst !== undefined && isOpen(worst.breaker) ? worst : unproven[Math.floor(random * unproven.length)];
    return victim !== undefined && known.delete(victim.url);
  };

  const of = (nodeId: string): Address[] => {
    const own = byNode.get(nodeId);
    if (own === undefined) return [];
    for (const address of own) {
      if (address.nodeId !== nodeId || known.get(address.url) !== address) own.delete(address);
    }
    if (own.size === 0) byNode.delete(nodeId);
    // Most boxes have one.
    return own.size < 2 ? [...own] : [...own].toSorted(byQuality);
  };

  return {
    all,
    get: (url: string): Address | undefined => known.get(url),
    /** The addresses at which a peer answered last, the best one first. */
    of,
    best: (nodeId: string): Address | undefined => of(nodeId)[0],
    /** Adds an address, or returns the known one; undefined if the limit leaves no room. @param random 0 to 1 */
    add: (url: string, source: AddressOrigin, now: MonotonicMs, random: number): Address | undefined => {
      const before = known.get(url);
      if (before !== undefined) {
        before.seenAt = now;
        return before;
      }
      if (source !== 'static' && !makeRoom(source, random)) return undefined;
      const address = newAddress(url, source, now);
      known.set(url, address);
      return address;
    },
    /** Records the answer of a peer. @param random 0 to 1 */
    answered: (address: Address, nodeId: string, now: MonotonicMs, random: number): void => {
      const nextAt = now + REVIEW_MS * (1 + random / 5);
      const healthy = { breaker: closed, reason: null, external: false, foreign: false, leaving: false, clone: false };
      // It may have been removed during the probe.
      known.set(address.url, Object.assign(address, { nodeId, nextAt, seenAt: now }, healthy));
      byNode.set(nodeId, (byNode.get(nodeId) ?? new Set()).add(address));
    },
    /** Records a failed probe, or an answer from a box that is not a peer. @param random 0 to 1 */
    failed: (address: Address, reason: string, now: MonotonicMs, random: number): void => {
      address.breaker = failed(address.breaker, now, random, tempo);
      address.reason = reason;
    },
    /** Removes addresses that are no longer worth probing. */
    forget: (now: MonotonicMs): void => {
      for (const { url, source, nodeId, foreign, clone, breaker, leaving, seenAt } of known.values()) {
        if (source === 'static') continue;
        const isUnproven = nodeId === null && !foreign && !clone && source !== 'known';
        const isExpired = isUnproven ? breaker.failures >= MAX_TRIES : now - seenAt > FORGET_MS;
        if (isExpired || (leaving && isOpen(breaker))) known.delete(url);
      }
    },
  };
};
