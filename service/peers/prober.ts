/** When which address is asked for its state, and how many at a time. */
import { type Address, type Addresses, isDue } from './addresses.ts';

interface Dependencies {
  addresses: Pick<Addresses, 'all' | 'get'>;
  /** Asks there, and judges the answer; never rejects. @param hasNews we have something new: it shall ask us */
  probe(address: Address, hasNews: boolean): Promise<void>;
  /** ms, by a clock that is never stepped. */
  steady(): number;
}

export interface Prober {
  /** Asks an address now, and once more where it is being asked already: that answer may not know what is new. */
  ask(address: Address, hasNews?: boolean): Promise<void>;
  /** Asks whoever is due. */
  tick(): void;
  /** Resolves when all that is under way is done. */
  done(): Promise<unknown>;
}

/** How many addresses where nobody was found yet are asked at a time. */
const MOST_UNPROVEN = 8;

interface Asking {
  done: Promise<void>;
  again: Promise<void> | null;
  /** What to say when it is asked again. */
  hasNews: boolean;
}

const isProven = (address?: Address): boolean => address?.source === 'static' || address?.nodeId != null;

/** Who has spoken before who was only announced, then the least tried: among many that are nobody, one may be somebody. */
const byPromise = (a: Address, b: Address): number =>
  Number(a.source === 'announced') - Number(b.source === 'announced') || a.breaker.failures - b.breaker.failures;

export const createProber = ({ addresses, probe, steady }: Dependencies): Prober => {
  const asking = new Map<string, Asking>();

  const ask: Prober['ask'] = (address, hasNews = false) => {
    const running = asking.get(address.url);
    if (running !== undefined) {
      running.hasNews ||= hasNews;
      running.again ??= running.done.then(() => ask(address, running.hasNews));
      return running.again;
    }
    const done = probe(address, hasNews).finally(() => asking.delete(address.url));
    asking.set(address.url, { done, again: null, hasNews: false });
    return done;
  };

  return {
    ask,
    tick: () => {
      const due = addresses.all().filter((address) => !asking.has(address.url) && isDue(address, steady()));
      const busy = [...asking.keys()].filter((url) => !isProven(addresses.get(url))).length;
      const unproven = due.filter((address) => !isProven(address)).toSorted(byPromise);
      const next = [...due.filter(isProven), ...unproven.slice(0, Math.max(0, MOST_UNPROVEN - busy))];
      for (const address of next) void ask(address);
    },
    done: () => Promise.all([...asking.values()].map(({ done }) => done)),
  };
};
