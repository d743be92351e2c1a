/**
 * Where boxes may be: bounded, and judged by what they answered. Nothing here asks; times are arguments, in ms by a clock
 * that is never stepped.
 */
import { type Breaker, closed, failed, isOpen } from './breaker.ts';

/** How an address came to be known: from the settings, by DNS-SD, by a box that asked from there, or from a peer. */
export type Source = 'static' | 'announced' | 'asked' | 'told';

export interface Address {
  /** Base URL, without a slash at its end. */
  readonly url: string;
  readonly source: Source;
  /** The IP address that answered here last, as a URL has it; null: none, or none that a URL can have. */
  host: string | null;
  /** The peer that answered here last; null: none ever did. */
  nodeId: string | null;
  breaker: Breaker;
  /** Why it is no way to a peer now, completing "the box ..."; null where it is one, or was never asked. */
  reason: string | null;
  /** When it is asked again, while it answers. */
  nextAt: number;
  /** A box is there, but none that we look for: ourselves, or one of another site. */
  foreign: boolean;
  /** Somebody answers, whatever it is that he says. */
  speaks: boolean;
  /** It has said goodbye. */
  leaving: boolean;
  /** When it was heard of, or answered. */
  seenAt: number;
}

/** How often a box is asked for its state, to which up to a fifth is added. */
const EXCHANGE_MS = 30_000;
/** Addresses beyond the static ones. */
const MOST = 256;
/** An address where nobody was found is forgotten after this many tries. */
const MOST_TRIES = 3;
/** A peer that was found by itself, and has been away for this long, is one that was taken away. */
const FORGET_MS = 3_600_000;

/** Whether it is time to ask there. */
export const isDue = ({ breaker, nextAt }: Address, now: number): boolean =>
  now >= (isOpen(breaker) ? breaker.retryAt : nextAt);

export interface Addresses {
  all(): Address[];
  get(url: string): Address | undefined;
  /** The addresses of a peer, the best first: those that answer, static ones before others. */
  of(nodeId: string): Address[];
  /** Takes in a hint; undefined where there is no room for it. @param random 0 to 1 */
  add(url: string, source: Source, now: number, random: number): Address | undefined;
  /** A peer answered. @param random 0 to 1 */
  answered(address: Address, nodeId: string, now: number, random: number): void;
  /** It did not, or is none. @param random 0 to 1 */
  failed(address: Address, reason: string, now: number, random: number): void;
  /** Drops what is not worth asking any more. */
  forget(now: number): void;
}

export const createAddresses = (): Addresses => {
  const known = new Map<string, Address>();
  const all = (): Address[] => [...known.values()];

  /**
   * Makes room by giving up an address where nobody was found, the most tried first, else any: anybody can announce
   * thousands, and who is really there must have a chance among them. What boxes have said goes before announcements.
   */
  const makeRoom = (newcomer: Source, random: number): boolean => {
    const found = all().filter(({ source }) => source !== 'static');
    if (found.length < MOST) return true;
    const unproven = found.filter(
      ({ source, nodeId }) => nodeId === null && (newcomer !== 'announced' || source === newcomer),
    );
    const [worst] = unproven.toSorted((a, b) => b.breaker.failures - a.breaker.failures);
    const given = worst !== undefined && isOpen(worst.breaker) ? worst : unproven[Math.floor(random * unproven.length)];
    return given !== undefined && known.delete(given.url);
  };

  return {
    all,
    get: (url) => known.get(url),
    of: (nodeId) =>
      all()
        .filter((address) => address.nodeId === nodeId)
        .toSorted(
          (a, b) =>
            Number(isOpen(a.breaker)) - Number(isOpen(b.breaker)) ||
            Number(b.source === 'static') - Number(a.source === 'static'),
        ),
    add: (url, source, now, random) => {
      const before = known.get(url);
      if (before !== undefined) {
        before.seenAt = now;
        return before;
      }
      if (source !== 'static' && !makeRoom(source, random)) return undefined;
      const state = {
        host: null,
        nodeId: null,
        reason: null,
        nextAt: now,
        foreign: false,
        speaks: false,
        leaving: false,
        seenAt: now,
      };
      const address: Address = { url, source, breaker: closed, ...state };
      known.set(url, address);
      return address;
    },
    answered: (address, nodeId, now, random) => {
      const nextAt = now + EXCHANGE_MS * (1 + random / 5);
      const state = { nodeId, nextAt, breaker: closed, reason: null, foreign: false, leaving: false, seenAt: now };
      // It may have been given up while it was asked.
      known.set(address.url, Object.assign(address, state));
    },
    failed: (address, reason, now, random) => {
      address.breaker = failed(address.breaker, now, random);
      address.reason = reason;
    },
    forget: (now) => {
      for (const { url, source, nodeId, breaker, leaving, seenAt } of known.values()) {
        if (source === 'static') continue;
        const given = nodeId === null ? breaker.failures >= MOST_TRIES : now - seenAt > FORGET_MS;
        if (given || (leaving && isOpen(breaker))) known.delete(url);
      }
    },
  };
};
