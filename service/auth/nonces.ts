import { CodedError } from '../errors.ts';

const secondOf = (timestamp: number): number => Math.floor(timestamp / 1000);

/**
 * Remembers each nonce for as long as its timestamp is fresh.
 * @param most how many it remembers; with more it would have to forget one that can still be replayed
 */
export const createNonces = (most = 100_000) => {
  const used = new Set<string>();
  const bySecond = new Map<number, string[]>();

  const forget = (oldest: number): void => {
    for (const [second, nonces] of bySecond) {
      if (second >= secondOf(oldest)) continue;
      for (const nonce of nonces) used.delete(nonce);
      bySecond.delete(second);
    }
  };

  return {
    /**
     * Uses a nonce up.
     * @param timestamp of its request, ms since the epoch
     * @param oldest the oldest timestamp that is still fresh
     * @throws CodedError `signature_replayed`, or `busy` where the memory is full
     */
    use(nonce: string, timestamp: number, oldest: number): void {
      forget(oldest);
      if (used.has(nonce)) throw new CodedError('signature_replayed');
      if (used.size >= most) throw new CodedError('busy');
      used.add(nonce);
      const nonces = bySecond.get(secondOf(timestamp));
      if (nonces === undefined) bySecond.set(secondOf(timestamp), [nonce]);
      else nonces.push(nonce);
    },
  };
};
