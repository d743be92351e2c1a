import { CodedError } from '../contract/errors.ts';

export interface Sender {
  /** Boxes, programs with the secret, and people have separate memories, so that none can fill another's. */
  kind: 'peer' | 'operator' | 'person';
  /** Identifies the sender within its kind; nonces are limited for each name. */
  name: string;
}

interface Limits {
  /** Maximum nonces of all senders of the kind; guaranteed ones are accepted beyond it. */
  total: number;
  /** Maximum nonces of one sender. */
  each: number;
  /** Nonces that a sender can always use, however many other senders use. */
  guaranteed: number;
}

/** Maximum number of senders with guaranteed nonces. */
const MAX_GUARANTEED_SENDERS = 256;

const defaults: Record<Sender['kind'], Limits> = {
  // A box requests snapshots four times a second, that is 1,200 times per window, and relays commands of operators.
  peer: { total: 100_000, each: 50_000, guaranteed: 2_000 },
  operator: { total: 100_000, each: 100_000, guaranteed: 0 },
  person: { total: 100_000, each: 30_000, guaranteed: 500 },
};

interface Use {
  nonce: string;
  sender: string;
  kind: Sender['kind'];
}

const secondOf = (timestamp: number): number => Math.floor(timestamp / 1000);

/**
 * Remembers each nonce while its timestamp is fresh. Beyond the limits it refuses nonces, as forgetting one would allow its
 * replay.
 */
export const createNonces = (limits: Record<Sender['kind'], Limits> = defaults) => {
  const used = new Set<string>();
  const bySecond = new Map<number, Use[]>();
  const bySender = new Map<string, { count: number; isGuaranteed: boolean }>();
  const totals = { peer: 0, operator: 0, person: 0 };
  let guarantees = 0;

  const add = (sender: string): void => {
    const known = bySender.get(sender) ?? { count: 0, isGuaranteed: guarantees < MAX_GUARANTEED_SENDERS };
    if (known.count === 0 && known.isGuaranteed) guarantees += 1;
    known.count += 1;
    bySender.set(sender, known);
  };

  const remove = (sender: string): void => {
    const known = bySender.get(sender);
    if (known === undefined) return;
    known.count -= 1;
    if (known.count > 0) return;
    bySender.delete(sender);
    if (known.isGuaranteed) guarantees -= 1;
  };

  const forget = (oldest: number): void => {
    for (const [second, uses] of bySecond) {
      if (second >= secondOf(oldest)) continue;
      for (const { nonce, sender, kind } of uses) {
        used.delete(nonce);
        totals[kind] -= 1;
        remove(sender);
      }
      bySecond.delete(second);
    }
  };

  const hasCapacity = (kind: Sender['kind'], sender: string): boolean => {
    const { total, each, guaranteed } = limits[kind];
    const { count, isGuaranteed } = bySender.get(sender) ?? {
      count: 0,
      isGuaranteed: guarantees < MAX_GUARANTEED_SENDERS,
    };
    return count < each && (totals[kind] < total || (isGuaranteed && count < guaranteed));
  };

  return {
    /**
     * Marks a nonce as used, for all senders: the signature does not cover the sender.
     * @param timestamp of the request, ms since the epoch
     * @param oldest the oldest fresh timestamp, ms since the epoch
     * @throws CodedError `signature_replayed`, or `busy` if the memory is full
     */
    use(nonce: string, timestamp: number, oldest: number, { kind, name }: Sender): void {
      forget(oldest);
      if (used.has(nonce)) throw new CodedError('signature_replayed');
      const sender = `${kind} ${name}`;
      if (!hasCapacity(kind, sender)) throw new CodedError('busy');
      used.add(nonce);
      totals[kind] += 1;
      add(sender);
      const uses = bySecond.get(secondOf(timestamp));
      if (uses === undefined) bySecond.set(secondOf(timestamp), [{ nonce, sender, kind }]);
      else uses.push({ nonce, sender, kind });
    },
    /** Forgets all nonces. Only for when none of their timestamps is accepted any more. */
    clear(): void {
      used.clear();
      bySecond.clear();
      bySender.clear();
      totals.peer = 0;
      totals.operator = 0;
      totals.person = 0;
      guarantees = 0;
    },
  };
};
