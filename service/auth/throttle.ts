import { isIP, SocketAddress } from 'node:net';
import type { Logger } from 'pino';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { CodedError } from '../contract/errors.ts';

const MAX_FAILURES = 100;
const PER_SECONDS = 60;

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
  const failures = new RateLimiterMemory({ points: MAX_FAILURES, duration: PER_SECONDS });
  const keys = new Set<string>();

  const remember = async (key: string): Promise<void> => {
    keys.delete(key);
    keys.add(key);
    const [oldest] = keys;
    if (oldest === undefined || keys.size <= maxAddresses) return;
    keys.delete(oldest);
    await failures.delete(oldest);
  };

  const refusal = ({ msBeforeNext }: RateLimiterRes): CodedError => {
    const seconds = Math.min(Math.max(Math.ceil(msBeforeNext / 1000), 1), PER_SECONDS);
    return new CodedError('too_many_requests', undefined, { headers: { 'Retry-After': String(seconds) } });
  };

  return {
    /**
     * Counts a failure.
     * @throws CodedError `too_many_requests` if the limit is exceeded
     */
    async fail(address: string, kind: CredentialKind): Promise<void> {
      const party = partyOf(address);
      const key = `${kind} ${party}`;
      await remember(key);
      const state = await failures.penalty(key);
      if (state.consumedPoints === MAX_FAILURES) log.warn({ address: party, kind }, 'too many wrong credentials');
      if (state.consumedPoints > MAX_FAILURES) throw refusal(state);
    },
  };
};
