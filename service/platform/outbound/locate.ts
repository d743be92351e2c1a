import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { bareHost, type NetworkScope, scopeOfAddress } from '../../domain/network-scope.ts';
import { FetchFault } from './answer.ts';
import { createTurns } from './limiter.ts';

/**
 * A lookup blocks one of libuv's four threads, which also read files, until a name server answers; libuv runs at most two
 * lookups at a time. Names whose last lookup got no answer share one of the two, so that they delay only each other.
 */
const LIMITS = { total: 2, perHost: 1, gapMs: 0 };
const SILENT_LIMITS = { ...LIMITS, total: 1 };
/** A lookup that fails sooner is cheap to repeat, for example without a network. */
const PROMPT_MS = 1_000;
/** How long a name without an answer is not looked up again. */
const SILENT_MS = 30_000;
/** When a name without an answer is forgotten. */
const FORGET_MS = 60 * 60 * 1000;

/** Stops waiting when the signal aborts; the lookup itself cannot be cancelled. */
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

interface Location {
  /** Of the nearest address of the host. */
  nearness: NetworkScope;
  /** Returns the addresses that were found. */
  lookup: LookupFunction;
}

type Addresses = { address: string; family: number }[];
type LookUp = (host: string) => Promise<Addresses>;

/** A lookup that is shared by all callers with the same name. */
interface Search {
  found: Promise<Addresses>;
  waiting: number;
  /** Cancels the lookup, unless it has started. */
  giveUp(): void;
}

/** Resolves host names. @param judge how near an IP address is */
export const createLocator = (
  lookUp: LookUp = (host) => lookup(host, { all: true }),
  judge: (address: string) => NetworkScope = scopeOfAddress,
) => {
  const turns = createTurns(LIMITS);
  const silentTurns = createTurns(SILENT_LIMITS);
  const searches = new Map<string, Search>();
  /** When a lookup got no answer, by name. */
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
    const limited = () =>
      turns.take(name, stop.signal, () => {
        giveUp = () => undefined;
        return ask(name);
      });
    const found = silent.has(name) ? silentTurns.take(name, stop.signal, limited) : limited();
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
   * Resolves a host once, so that the connection goes to the addresses that were judged.
   * @throws FetchFault if the name does not exist; the signal's reason
   */
  return async (host: string, signal: AbortSignal): Promise<Location> => {
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
      nearness: Math.max(0, ...found.map(({ address }) => judge(address))) as NetworkScope,
      lookup: (_, { all }, done) => (all ? done(null, found) : done(null, first?.address ?? '', first?.family ?? 4)),
    };
  };
};
