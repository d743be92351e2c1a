import { isIP, SocketAddress } from 'node:net';
import type { Logger } from 'pino';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { CodedError } from '../contract/errors.ts';

const MOST_FAILURES = 200;
const PER_SECONDS = 60;

/**
 * The part of an address that its owner can't choose: an IPv4 address, or the /64 of an IPv6 address. A link-local address
 * counts for itself, as all neighbours share that prefix, and so does an IPv4 address that is mapped to IPv6.
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
  /** Addresses that are remembered, once a kind; beyond that, those whose last failure is longest ago are forgotten. */
  mostAddresses?: number;
}

export type CredentialKind = 'signature' | 'page token';

/**
 * Counts wrong credentials by address and kind: after two hundred in a minute, the wrong ones of the rest of that minute
 * are answered 429. Right ones are never refused, as many clients may share an address: a proxy's, or a machine's. So every
 * credential is verified: measured on two busy cores, a wrong signature costs 0.1 ms and a wrong token 0.4 ms. So the
 * throttle keeps nobody from guessing, which the length of the secret does; it tells clients, and the log, that they guess.
 */
export const createThrottle = ({ log, mostAddresses = 10_000 }: Options) => {
  const failures = new RateLimiterMemory({ points: MOST_FAILURES, duration: PER_SECONDS });
  const keys = new Set<string>();

  const remember = async (key: string): Promise<void> => {
    keys.delete(key);
    keys.add(key);
    const [oldest] = keys;
    if (oldest === undefined || keys.size <= mostAddresses) return;
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
     * @throws CodedError `too_many_requests` where it is one too many
     */
    async fail(address: string, kind: CredentialKind): Promise<void> {
      const party = partyOf(address);
      const key = `${kind} ${party}`;
      await remember(key);
      const state = await failures.penalty(key);
      if (state.consumedPoints === MOST_FAILURES) log.warn({ address: party, kind }, 'too many wrong credentials');
      if (state.consumedPoints > MOST_FAILURES) throw refusal(state);
    },
  };
};
