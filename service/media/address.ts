import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { nearness } from '../outbound/networks.ts';
import { FetchFault } from './fault.ts';

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
  nearness: number;
  /** Answers what was found. */
  lookup: LookupFunction;
}

/** Finds hosts. */
export const createLocator = (lookUp = (host: string) => lookup(host, { all: true })) => {
  let turn: Promise<unknown> = Promise.resolve();

  /** One at a time: a look-up holds one of the few threads that read files, for as long as no name server answers. */
  const find = (host: string): ReturnType<typeof lookUp> => {
    const finding = turn.then(() => lookUp(host));
    turn = finding.catch(() => undefined);
    return finding;
  };

  /**
   * Where a host is, found out once, so that the connection goes to the very addresses that were judged.
   *
   * @throws FetchFault where the name is none; the signal's reason
   */
  return async (host: string, signal: AbortSignal): Promise<Place> => {
    signal.throwIfAborted();
    const bare = host.replace(/^\[|\]$/g, '');
    const family = isIP(bare);
    const named = async () =>
      unlessAborted(
        find(bare).catch(() => {
          throw new FetchFault(`the name ${bare} is not known`);
        }),
        signal,
      );
    const found = family > 0 ? [{ address: bare, family }] : await named();
    const [first] = found;
    return {
      nearness: Math.max(...found.map(({ address }) => nearness(address))),
      lookup: (_, { all }, done) => (all ? done(null, found) : done(null, first?.address ?? '', first?.family ?? 4)),
    };
  };
};
export type Locate = ReturnType<typeof createLocator>;
