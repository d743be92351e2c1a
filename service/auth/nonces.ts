import { CodedError } from '../contract/errors.ts';
import type { Access } from '../contract/operations/index.ts';
import type { Role } from '../contract/roles.ts';

/**
 * Boxes, programs with the secret, and people of each role have separate memories, so that none can fill another's. So have
 * the requests that boxes relay and those that need no signature, which clients cause.
 */
export type Sender = 'operator' | `person ${Role}` | `${'peer' | 'relay'} ${Access}`;

const secondOf = (timestamp: number): number => Math.floor(timestamp / 1000);

/**
 * Remembers each nonce while its timestamp is fresh. Beyond the limit it refuses nonces, as forgetting one would allow its
 * replay.
 * @param most nonces of each kind of sender
 */
export const createNonces = (most = 100_000) => {
  const used = new Set<string>();
  const bySecond = new Map<number, { nonce: string; sender: Sender }[]>();
  const counts = new Map<Sender, number>();
  const countOf = (sender: Sender): number => counts.get(sender) ?? 0;

  const forget = (oldest: number): void => {
    for (const [second, uses] of bySecond) {
      if (second >= secondOf(oldest)) continue;
      for (const { nonce, sender } of uses) {
        used.delete(nonce);
        counts.set(sender, countOf(sender) - 1);
      }
      bySecond.delete(second);
    }
  };

  return {
    /**
     * Marks a nonce as used, for all senders: the signature does not cover the sender.
     * @param timestamp of the request, ms since the epoch
     * @param oldest the oldest fresh timestamp, ms since the epoch
     * @throws CodedError `signature_replayed`, or `busy` if the memory is full
     */
    use(nonce: string, timestamp: number, oldest: number, sender: Sender): void {
      forget(oldest);
      if (used.has(nonce)) throw new CodedError('signature_replayed');
      if (countOf(sender) >= most) throw new CodedError('busy');
      used.add(nonce);
      counts.set(sender, countOf(sender) + 1);
      const uses = bySecond.get(secondOf(timestamp));
      if (uses === undefined) bySecond.set(secondOf(timestamp), [{ nonce, sender }]);
      else uses.push({ nonce, sender });
    },
    /** Forgets all nonces. Only for when none of their timestamps is accepted any more. */
    clear(): void {
      used.clear();
      bySecond.clear();
      counts.clear();
    },
  };
};
