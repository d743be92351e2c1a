import { isIP, SocketAddress } from 'node:net';
import type { Logger } from 'pino';
import { tooManyRequests } from '../contract/errors.ts';
import { createRates } from '../domain/rate.ts';

const MAX_FAILURES = 100;
const MINUTE_MS = 60_000;

/**
 * The part of an address that its owner cannot choose: an IPv4 address, or the /64 prefix of an IPv6 address. Link-local
 * addresses, whose prefix all neighbours share, and IPv4-mapped addresses are returned whole.
 */
export const partyOf = (address: string): string => {
  if (isIP(address) !== 6) return address;
  const plain = new SocketAddress({ address, family: 'ipv6' }).address;
  if (/^(fe80|::ffff):/.test(plain)) return plain;
  const [head = [], tail = []] = plain.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`;
};

interface Options {
  log: Pick<Logger, 'warn'>;
  /** Maximum number of remembered addresses, counted per kind; those with the oldest last failure are forgotten. */
  maxAddresses?: number;
}

export type CredentialKind = 'signature' | 'page token';

/**
 * Counts wrong credentials by address and kind: after 100 in a minute, further wrong ones in that minute are answered 429.
 * Right ones are never refused, as many clients may share an address, for example behind a proxy. So every credential is
 * verified; on two busy cores, a wrong signature costs 0.1 ms and a wrong token 0.4 ms. The length of the secret prevents
 * guessing, not the throttle: it reports guessing to the client and in the log.
 */
export const createThrottle = ({ log, maxAddresses = 10_000 }: Options) => {
  const failures = createRates(MAX_FAILURES, MINUTE_MS, maxAddresses);
  const warnings = createRates(1, MINUTE_MS, maxAddresses);

  return {
    /**
     * Counts a failure.
     * @throws CodedError `too_many_requests` if the limit is exceeded
     */
    fail(address: string, kind: CredentialKind): void {
      const party = partyOf(address);
      const key = `${kind} ${party}`;
      const rate = failures(key);
      const now = performance.now();
      const isCounted = rate.take(now);
      const wait = rate.wait(now);
      if (wait > 0 && warnings(key).take(now)) log.warn({ address: party, kind }, 'too many wrong credentials');
      if (isCounted) return;
      throw tooManyRequests(wait / 1_000);
    },
  };
};
