import { lookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { FetchFault } from './fault.ts';

const list = (...subnets: [net: string, prefix: number, family: 'ipv4' | 'ipv6'][]): BlockList => {
  const blocks = new BlockList();
  for (const [net, prefix, family] of subnets) blocks.addSubnet(net, prefix, family);
  return blocks;
};

/** This machine and its link, where cloud machines keep their credentials. */
const nearest = list(
  ['0.0.0.0', 8, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['::', 127, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
);
/** Networks of a site (RFC 1918, RFC 6598, RFC 4193). */
const near = list(
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['fc00::', 7, 'ipv6'],
);

/** How near an IP address is: 0 for the Internet, 1 for the site's network, 2 for this machine and its link. */
export const nearness = (address: string): 0 | 1 | 2 => {
  const family = address.includes(':') ? 'ipv6' : 'ipv4';
  return nearest.check(address, family) ? 2 : near.check(address, family) ? 1 : 0;
};

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
