import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { FetchFault } from './fault.ts';
import { type Nearness, nearness } from './networks.ts';
import { createTurns } from './turns.ts';

/** A look-up holds one of the four threads that also read files, for as long as no name server answers. */
const LIMITS = { total: 2, perHost: 1, gapMs: 0 };

/** The system's look-up can't be called off; whoever waits for it can be. */
const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
};

interface Place {
  /** Of its nearest address. */
  nearness: Nearness;
  /** Answers what was found. */
  lookup: LookupFunction;
}

type LookUp = (host: string) => Promise<{ address: string; family: number }[]>;

/** Finds hosts. @param judge how near an IP address is */
export const createLocator = (
  lookUp: LookUp = (host) => lookup(host, { all: true }),
  judge: (address: string) => Nearness = nearness,
) => {
  const turns = createTurns(LIMITS);

  /**
   * Where a host is, found out once, so that the connection goes to the very addresses that were judged.
   *
   * @throws FetchFault where the name is none; the signal's reason
   */
  return async (host: string, signal: AbortSignal): Promise<Place> => {
    signal.throwIfAborted();
    const bare = host.replace(/^\[|\]$/g, '');
    const family = isIP(bare);
    const named = () =>
      unlessAborted(
        turns.take(bare, signal, () => lookUp(bare)),
        signal,
      ).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new FetchFault('there is no host of that name', { cause: error });
      });
    const found = family > 0 ? [{ address: bare, family }] : await named();
    const [first] = found;
    return {
      nearness: Math.max(0, ...found.map(({ address }) => judge(address))) as Nearness,
      lookup: (_, { all }, done) => (all ? done(null, found) : done(null, first?.address ?? '', first?.family ?? 4)),
    };
  };
};
