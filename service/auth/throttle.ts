import { isIP, SocketAddress } from 'node:net';
import type { Logger } from 'pino';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { CodedError } from '../errors.ts';

const MOST_FAILURES = 200;
const PER_SECONDS = 60;

/**
 * Who counts as one: an IPv4 address, or the /64 that an IPv6 host can choose its addresses from. A link-local address
 * counts for itself, as all neighbours share that prefix, and so does IPv4 in the clothes of IPv6.
 */
const partyOf = (address: string): string => {
  if (isIP(address) !== 6) return address;
  const plain = new SocketAddress({ address, family: 'ipv6' }).address;
  if (/^(fe80|::ffff):/.test(plain)) return plain;
  const [head = [], tail = []] = plain.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`;
};

interface Options {
  log: Pick<Logger, 'warn'>;
  /** How many addresses are remembered; beyond that, those whose last failure is longest ago are forgotten. */
  mostAddresses?: number;
}

/** Counts wrong credentials by address: after two hundred in a minute, the rest of that minute is refused. */
export const createThrottle = ({ log, mostAddresses = 10_000 }: Options) => {
  const failures = new RateLimiterMemory({ points: MOST_FAILURES, duration: PER_SECONDS });
  const parties = new Set<string>();

  const remember = async (party: string): Promise<void> => {
    parties.delete(party);
    parties.add(party);
    const [oldest] = parties;
    if (oldest === undefined || parties.size <= mostAddresses) return;
    parties.delete(oldest);
    await failures.delete(oldest);
  };

  const refusal = ({ msBeforeNext }: RateLimiterRes): CodedError => {
    const seconds = Math.min(Math.max(Math.ceil(msBeforeNext / 1000), 1), PER_SECONDS);
    return new CodedError('too_many_requests', undefined, { headers: { 'Retry-After': String(seconds) } });
  };

  return {
    /** @throws CodedError `too_many_requests` where this address has failed too often */
    async check(address: string): Promise<void> {
      const state = await failures.get(partyOf(address));
      if (state !== null && state.consumedPoints >= MOST_FAILURES) throw refusal(state);
    },

    /**
     * Counts a failure.
     * @throws CodedError `too_many_requests` where it is one too many: of many at once, some are past the check
     */
    async fail(address: string): Promise<void> {
      const party = partyOf(address);
      await remember(party);
      const state = await failures.penalty(party);
      if (state.consumedPoints === MOST_FAILURES) log.warn({ address: party }, 'too many wrong credentials');
      if (state.consumedPoints > MOST_FAILURES) throw refusal(state);
    },
  };
};
