/** Decides when each address is probed for its state, and how many at a time. */
import { type Address, type Addresses, isDue } from './addresses.ts';

interface Dependencies {
  addresses: Pick<Addresses, 'all' | 'get'>;
  /** Requests the state and handles the answer; never rejects. @param hasNews asks the peer to request our state too */
  probe(address: Address, hasNews: boolean): Promise<void>;
  /** ms, monotonic. */
  monotonicNow(): number;
}

export interface Prober {
  /** Probes an address now; again after a probe that is in progress, whose answer may already be outdated. */
  ask(address: Address, hasNews?: boolean): Promise<void>;
  /** Probes the addresses that are due. */
  tick(): void;
  /** Resolves when the probes in progress are done. */
  done(): Promise<unknown>;
}

/** Concurrent probes of addresses at which no peer has been found yet. */
const MAX_UNPROVEN = 8;

interface Probe {
  done: Promise<void>;
  again: Promise<void> | null;
  /** `hasNews` of the next probe. */
  hasNews: boolean;
}

const isProven = (address?: Address): boolean => address?.source === 'static' || address?.nodeId != null;

/** Boxes that made contact before mere announcements, then the least tried, so that forged announcements delay no box. */
const byPriority = (a: Address, b: Address): number =>
  Number(a.source === 'discovered') - Number(b.source === 'discovered') || a.breaker.failures - b.breaker.failures;

export const createProber = ({ addresses, probe, monotonicNow }: Dependencies): Prober => {
  const probes = new Map<string, Probe>();

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

  return {
    ask,
    tick: () => {
      const due = addresses.all().filter((address) => !probes.has(address.url) && isDue(address, monotonicNow()));
      const busy = [...probes.keys()].filter((url) => !isProven(addresses.get(url))).length;
      const unproven = due.filter((address) => !isProven(address)).toSorted(byPriority);
      const next = [...due.filter(isProven), ...unproven.slice(0, Math.max(0, MAX_UNPROVEN - busy))];
      for (const address of next) void ask(address);
    },
    done: () => Promise.all([...probes.values()].map(({ done }) => done)),
  };
};
