/** Decides when each address is probed for its state, and how many at a time. */
import type { MonotonicMs } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';
import { type Address, type Addresses, dueAt, isDue, isOpen } from './addresses.ts';

const MAX_SIZE = 8;
const MIN_SIZE = 1 / 8;
/** Time in which the size grows by one. */
const GROWTH_MS = 5_000;
/** Late answers within this time count once: their requests were sent together. */
const EPISODE_MS = 1_000;

/**
 * How many boxes that may not be there are probed at a time, for each reason: halved when a box accepts a connection and
 * does not answer in time, and increased by time, after the congestion window of TCP (RFC 5681). A network or a machine that
 * carries less than the site asks of it must not be asked more because answers are late. A box that is off accepts no
 * connection. Times are arguments.
 */
export const createWindow = () => {
  let halved = MAX_SIZE;
  let halvedAt = Number.NEGATIVE_INFINITY;
  const size = (now: MonotonicMs): number => Math.min(MAX_SIZE, halved + (now - halvedAt) / GROWTH_MS);

  return {
    /** Below one: a probe is sent only after a pause, of a second divided by the size. */
    size,
    /** Whether the size is below one: what can wait is not sent. */
    isCongested: (now: MonotonicMs): boolean => size(now) < 1,
    /** A box that accepted the connection did not answer in time. */
    late: (now: MonotonicMs): void => {
      if (now - halvedAt < EPISODE_MS) return;
      halved = Math.max(MIN_SIZE, size(now) / 2);
      halvedAt = now;
    },
  };
};

export type Window = ReturnType<typeof createWindow>;

/** Why an address at which there may be no box is probed. Each reason has its own limit, so none waits for another. */
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

interface Probe {
  done: Promise<void>;
  again: Promise<void> | null;
  /** `hasNews` of the next probe. */
  hasNews: boolean;
}

const isProven = (address: Address): boolean =>
  address.source === 'static' || address.source === 'known' || address.nodeId !== null;

/** Why the address is due; null: a peer that answers, which is polled. */
const reasonOf = (address: Address): Reason | null => {
  if (isProven(address)) return isOpen(address.breaker) ? 'retry' : null;
  return address.source === 'advertised' ? 'advertised' : 'announced';
};

/** Beyond this the pause between tries has its maximum, and those that are due for longest come first. */
const MOST_FAILURES = 6;

/** A box that has failed less often is more likely to be there; one that has made contact, by `retryAt` 0, is. */
const failuresOf = ({ breaker: { failures, retryAt } }: Address): number =>
  retryAt === 0 ? 0 : Math.min(failures, MOST_FAILURES);

/** Boxes that made contact before mere announcements, then the least tried, so that forged announcements delay no box. */
const byPriority = (a: Address, b: Address): number =>
  Number(!isProven(a) && a.source === 'discovered') - Number(!isProven(b) && b.source === 'discovered') ||
  failuresOf(a) - failuresOf(b) ||
  dueAt(a) - dueAt(b);

/** @param probe requests the state and handles the answer; never rejects; with news asks the peer to request ours too */
export const createProber = (
  { monotonicNow }: Pick<ServiceContext, 'monotonicNow'>,
  addresses: Pick<Addresses, 'all'>,
  window: Pick<Window, 'size' | 'isCongested'>,
  probe: (address: Address, hasNews: boolean) => Promise<void>,
) => {
  const probes = new Map<string, Probe>();
  const usage = new Map<Reason, { inProgress: number; sentAt: MonotonicMs }>();

  const isAllowed = (
    { inProgress, sentAt }: { inProgress: number; sentAt: MonotonicMs },
    now: MonotonicMs,
  ): boolean => {
    const size = window.size(now);
    const isPaused = window.isCongested(now) && now - sentAt < 1_000 / size;
    return !isPaused && inProgress < Math.max(1, Math.floor(size));
  };

  /** Probes an address now; again after a probe that is in progress, whose answer may already be outdated. */
  const ask = (address: Address, hasNews = false): Promise<void> => {
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

  /**
   * Probes an address, unless too many probes for that reason are in progress. A probe of the address that is in progress
   * will do, except after contact.
   * @returns whether the address was probed
   */
  const attempt = async (address: Address, reason: Reason): Promise<boolean> => {
    const running = probes.get(address.url);
    // A box that has made contact may not have been there when that one was sent.
    if (running !== undefined && reason !== 'contact') {
      await running.done;
      return true;
    }
    const now = monotonicNow();
    const used = usage.get(reason) ?? { inProgress: 0, sentAt: Number.NEGATIVE_INFINITY };
    if (!isAllowed(used, now)) return false;
    usage.set(reason, used);
    used.inProgress += 1;
    used.sentAt = now;
    try {
      await ask(address);
    } finally {
      used.inProgress -= 1;
    }
    return true;
  };

  return {
    ask,
    attempt,
    /** Probes the addresses that are due. */
    tick: (): void => {
      const now = monotonicNow();
      const due = addresses.all().filter((address) => !probes.has(address.url) && isDue(address, now));
      for (const address of due.toSorted(byPriority)) {
        const reason = reasonOf(address);
        void (reason === null ? ask(address) : attempt(address, reason));
      }
    },
    /** Resolves when the probes in progress are done. */
    done: (): Promise<unknown> => Promise.all([...probes.values()].map(({ done }) => done)),
  };
};
