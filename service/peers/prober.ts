/** Decides when each address is probed for its state, and how many at a time. */
import { type Address, type Addresses, dueAt, isDue } from './addresses.ts';
import { isOpen } from './breaker.ts';
import type { Window } from './window.ts';

interface Dependencies {
  addresses: Pick<Addresses, 'all' | 'get'>;
  window: Pick<Window, 'size'>;
  /** Requests the state and handles the answer; never rejects. @param hasNews asks the peer to request our state too */
  probe(address: Address, hasNews: boolean): Promise<void>;
  /** ms, monotonic. */
  monotonicNow(): number;
}

/** Why an address is probed at which there may be no box. Each reason has places of its own, so none waits for another. */
type Reason =
  /** A peer that did not answer. */
  | 'retry'
  /** A peer of which another box reports that it is there, or away. */
  | 'report'
  /** A peer advertises it. */
  | 'advertised'
  /** A request came from it. */
  | 'contact'
  /** Any client can announce it. */
  | 'announced';

export interface Prober {
  /** Probes an address now; again after a probe that is in progress, whose answer may already be outdated. */
  ask(address: Address, hasNews?: boolean): Promise<void>;
  /** Probes an address if a place is free, or waits for the probe in progress. @returns whether it was probed */
  attempt(address: Address, reason: Reason): Promise<boolean>;
  /** Probes the addresses that are due. */
  tick(): void;
  /** Resolves when the probes in progress are done. */
  done(): Promise<unknown>;
}

/** Concurrent probes of addresses that are announced, and of those that make contact. */
const MAX_STRANGERS = 8;

interface Probe {
  done: Promise<void>;
  again: Promise<void> | null;
  /** `hasNews` of the next probe. */
  hasNews: boolean;
}

const isProven = (address: Address): boolean => address.source === 'static' || address.nodeId !== null;

/** Why the address is due; null: a peer that answers, which is polled. */
const reasonOf = (address: Address): Reason | null => {
  if (isProven(address)) return isOpen(address.breaker) ? 'retry' : null;
  return address.source === 'advertised' ? 'advertised' : 'announced';
};

/** Those that have made contact are there; a box that has failed less often is more likely to be. */
const failuresOf = ({ breaker }: Address): number => (breaker.retryAt === 0 ? 0 : breaker.failures);

/** Boxes that made contact before mere announcements, then the least tried, so that forged announcements delay no box. */
const byPriority = (a: Address, b: Address): number =>
  Number(!isProven(a) && a.source === 'discovered') - Number(!isProven(b) && b.source === 'discovered') ||
  failuresOf(a) - failuresOf(b) ||
  dueAt(a) - dueAt(b);

export const createProber = ({ addresses, window, probe, monotonicNow }: Dependencies): Prober => {
  const probes = new Map<string, Probe>();
  /** Places that are taken. */
  const taken: Record<Reason, number> = { retry: 0, report: 0, advertised: 0, contact: 0, announced: 0 };

  const ask: Prober['ask'] = (address, hasNews = false) => {
    const running = probes.get(address.url);
    if (running !== undefined) {
      running.hasNews ||= hasNews;
      running.again ??= running.done.then(() => ask(address, running.hasNews));
      return running.again;
    }
    const done = probe(address, hasNews).finally(() => probes.delete(address.url));
    probes.set(address.url, { done, again: null, hasNews: false });
    return done;
  };

  const attempt: Prober['attempt'] = async (address, reason) => {
    const running = probes.get(address.url);
    const isLimited = reason === 'contact' || reason === 'announced';
    if (running === undefined && taken[reason] >= (isLimited ? MAX_STRANGERS : window.size())) return false;
    taken[reason] += 1;
    try {
      await (running?.done ?? ask(address));
    } finally {
      taken[reason] -= 1;
    }
    return true;
  };

  return {
    ask,
    attempt,
    tick: () => {
      const now = monotonicNow();
      const due = addresses.all().filter((address) => !probes.has(address.url) && isDue(address, now));
      for (const address of due.toSorted(byPriority)) {
        const reason = reasonOf(address);
        void (reason === null ? ask(address) : attempt(address, reason));
      }
    },
    done: () => Promise.all([...probes.values()].map(({ done }) => done)),
  };
};
