import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { bareHost, type Nearness, nearness } from '../../domain/network-scope.ts';
import { FetchFault } from './fault.ts';
import { createTurns } from './limiter.ts';

/**
 * A look-up holds one of the four threads that also read files, for as long as no name server answers, and libuv runs no
 * more than two at a time. Names that nobody answered for the last time share one of the two, so that they hold up only
 * each other.
 */
const LIMITS = { total: 2, perHost: 1, gapMs: 0 };
const SILENT_LIMITS = { ...LIMITS, total: 1 };
/** What fails sooner can be asked again at no cost, as while there is no network yet. */
const PROMPT_MS = 1_000;
/** For so long a name that nobody answered for is not looked up again. */
const SILENT_MS = 30_000;
/** After that it is like any other; by then nobody may name it any more. */
const FORGET_MS = 60 * 60 * 1000;

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

type Addresses = { address: string; family: number }[];
type LookUp = (host: string) => Promise<Addresses>;

/** A look-up for everybody who wants the same name meanwhile. */
interface Search {
  found: Promise<Addresses>;
  /** How many wait for it. */
  waiting: number;
  /** Nobody waits for it any more: it goes, unless its turn has come. */
  giveUp(): void;
}

/** Finds hosts. @param judge how near an IP address is */
export const createLocator = (
  lookUp: LookUp = (host) => lookup(host, { all: true }),
  judge: (address: string) => Nearness = nearness,
) => {
  const turns = createTurns(LIMITS);
  const silentTurns = createTurns(SILENT_LIMITS);
  const searches = new Map<string, Search>();
  /** When it was found out that nobody answers for a name. */
  const silent = new Map<string, number>();

  const ask = async (name: string): Promise<Addresses> => {
    const since = performance.now();
    try {
      const found = await lookUp(name);
      silent.delete(name);
      return found;
    } catch (error) {
      const now = performance.now();
      if (now - since >= PROMPT_MS) silent.set(name, now);
      throw error;
    }
  };

  const begin = (name: string): Search => {
    const stop = new AbortController();
    const forget = (): void => {
      if (searches.get(name) === search) searches.delete(name);
    };
    let giveUp = (): void => {
      forget();
      stop.abort();
    };
    const inTurn = () =>
      turns.take(name, stop.signal, () => {
        giveUp = () => undefined;
        return ask(name);
      });
    const found = silent.has(name) ? silentTurns.take(name, stop.signal, inTurn) : inTurn();
    const search: Search = { found, waiting: 0, giveUp: () => giveUp() };
    found.then(forget, forget);
    return search;
  };

  const find = async (name: string, signal: AbortSignal): Promise<Addresses> => {
    const now = performance.now();
    for (const [each, at] of silent) if (now - at >= FORGET_MS) silent.delete(each);
    const silentFor = now - (silent.get(name) ?? Number.NEGATIVE_INFINITY);
    if (silentFor < SILENT_MS) throw new Error('no name server answered for it just now');
    const search = searches.get(name) ?? begin(name);
    searches.set(name, search);
    search.waiting += 1;
    try {
      return await unlessAborted(search.found, signal);
    } finally {
      search.waiting -= 1;
      if (search.waiting === 0) search.giveUp();
    }
  };

  /**
   * Where a host is, found out once, so that the connection goes to the very addresses that were judged.
   *
   * @throws FetchFault where the name is none; the signal's reason
   */
  return async (host: string, signal: AbortSignal): Promise<Place> => {
    signal.throwIfAborted();
    const bare = bareHost(host);
    const family = isIP(bare);
    const named = () =>
      find(bare, signal).catch((error: unknown) => {
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
