/** Decides when each address is probed for its state, and how many at a time. */
import { type Address, type Addresses, dueAt, isDue } from './addresses.ts';
import { isOpen } from './breaker.ts';
import { full, grown, halved } from './window.ts';

interface Dependencies {
  addresses: Pick<Addresses, 'all' | 'get'>;
  /**
   * Requests the state and handles the answer; never rejects.
   * @param hasNews asks the peer to request our state too
   * @returns whether the answer was late
   */
  probe(address: Address, hasNews: boolean): Promise<boolean>;
  /** ms, monotonic. */
  monotonicNow(): number;
}

export interface Prober {
  /** Probes an address now; again after a probe that is in progress, whose answer may already be outdated. */
  ask(address: Address, hasNews?: boolean): Promise<void>;
  /** Probes a peer now if few such probes are in progress; resolves when it is done, or is not to be. */
  follow(address: Address): Promise<void>;
  /** Probes the addresses that are due. */
  tick(): void;
  /** Resolves when the probes in progress are done. */
  done(): Promise<unknown>;
}

/** Concurrent probes of addresses at which no peer has been found yet, and which no peer advertises. */
const MAX_STRANGERS = 8;

interface Probe {
  done: Promise<void>;
  again: Promise<void> | null;
  /** `hasNews` of the next probe. */
  hasNews: boolean;
}

const isProven = (address?: Address): boolean => address?.source === 'static' || address?.nodeId != null;

/** Any client can announce an address, or make contact. */
const isStranger = (address?: Address): boolean => !isProven(address) && address?.source !== 'advertised';

/** A peer that did not answer, or that another one advertises: such probes are as many as are answered in time. */
const isFollowed = (address: Address): boolean =>
  isProven(address) ? isOpen(address.breaker) : address.source === 'advertised';

/** Boxes that made contact before mere announcements, then the least tried, so that forged announcements delay no box. */
const byPriority = (a: Address, b: Address): number =>
  Number(a.source === 'discovered') - Number(b.source === 'discovered') || a.breaker.failures - b.breaker.failures;

export const createProber = ({ addresses, probe, monotonicNow }: Dependencies): Prober => {
  const probes = new Map<string, Probe>();
  /** How many probes by {@link Prober.follow} are in progress, and may be. */
  let follows = 0;
  let window = full;

  const ask: Prober['ask'] = (address, hasNews = false) => {
    const running = probes.get(address.url);
    if (running !== undefined) {
      running.hasNews ||= hasNews;
      running.again ??= running.done.then(() => ask(address, running.hasNews));
      return running.again;
    }
    const done = probe(address, hasNews)
      .then((isLate) => {
        if (!isStranger(address)) window = isLate ? halved(window) : grown(window);
      })
      .finally(() => probes.delete(address.url));
    probes.set(address.url, { done, again: null, hasNews: false });
    return done;
  };

  const follow: Prober['follow'] = async (address) => {
    if (follows >= window) return;
    follows += 1;
    await ask(address);
    follows -= 1;
  };

  return {
    ask,
    follow,
    tick: () => {
      const due = addresses.all().filter((address) => !probes.has(address.url) && isDue(address, monotonicNow()));
      const followed = due.filter(isFollowed).toSorted((a, b) => dueAt(a) - dueAt(b));
      const others = due.filter((address) => !isFollowed(address));
      const busy = [...probes.keys()].map((url) => addresses.get(url)).filter(isStranger).length;
      const strangers = others.filter(isStranger).toSorted(byPriority);
      const next = [...others.filter(isProven), ...strangers.slice(0, Math.max(0, MAX_STRANGERS - busy))];
      for (const address of next) void ask(address);
      for (const address of followed) void follow(address);
    },
    done: () => Promise.all([...probes.values()].map(({ done }) => done)),
  };
};
