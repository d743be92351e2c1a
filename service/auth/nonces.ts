import { CodedError } from '../contract/errors.ts';

/** Who used a nonce. */
export interface Sender {
  /** Boxes and programs have memories of their own, so that neither can fill the other's. */
  kind: 'peer' | 'operator';
  /** Where it sends from, and for what: no sender takes another's share. */
  name: string;
}

interface Limits {
  /** Nonces of all senders of a kind, beyond those that are guaranteed. */
  total: number;
  /** Nonces of one sender. */
  each: number;
  /** Nonces that a sender may always use, whatever others do. */
  guaranteed: number;
}

/** Senders with a guarantee. */
const MOST_SENDERS = 256;

const defaults: Record<Sender['kind'], Limits> = {
  // A box asks four times a second for snapshots, that is 1,200 times a window, and relays what operators send to it.
  peer: { total: 100_000, each: 50_000, guaranteed: 2_000 },
  operator: { total: 100_000, each: 100_000, guaranteed: 0 },
};

interface Use {
  nonce: string;
  sender: string;
  kind: Sender['kind'];
}

const secondOf = (timestamp: number): number => Math.floor(timestamp / 1000);

/**
 * Remembers each nonce for as long as its timestamp is fresh. With more than the limits it would have to forget one that
 * can still be replayed.
 */
export const createNonces = (limits: Record<Sender['kind'], Limits> = defaults) => {
  const used = new Set<string>();
  const bySecond = new Map<number, Use[]>();
  const bySender = new Map<string, { count: number; isGuaranteed: boolean }>();
  const totals = { peer: 0, operator: 0 };
  let guarantees = 0;

  const add = (sender: string): void => {
    const known = bySender.get(sender) ?? { count: 0, isGuaranteed: guarantees < MOST_SENDERS };
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

  const hasRoom = (kind: Sender['kind'], sender: string): boolean => {
    const { total, each, guaranteed } = limits[kind];
    const { count, isGuaranteed } = bySender.get(sender) ?? { count: 0, isGuaranteed: guarantees < MOST_SENDERS };
    return count < each && (totals[kind] < total || (isGuaranteed && count < guaranteed));
  };

  return {
    /**
     * Uses a nonce up. A nonce is used for all senders: who sends a request is no part of what is signed.
     * @param timestamp of its request, ms since the epoch
     * @param oldest the oldest timestamp that is still fresh
     * @throws CodedError `signature_replayed`, or `busy` where the memory is full
     */
    use(nonce: string, timestamp: number, oldest: number, { kind, name }: Sender): void {
      forget(oldest);
      if (used.has(nonce)) throw new CodedError('signature_replayed');
      const sender = `${kind} ${name}`;
      if (!hasRoom(kind, sender)) throw new CodedError('busy');
      used.add(nonce);
      totals[kind] += 1;
      add(sender);
      const uses = bySecond.get(secondOf(timestamp));
      if (uses === undefined) bySecond.set(secondOf(timestamp), [{ nonce, sender, kind }]);
      else uses.push({ nonce, sender, kind });
    },
    /** Forgets all: their timestamps are not fresh any more. */
    clear(): void {
      used.clear();
      bySecond.clear();
      bySender.clear();
      totals.peer = 0;
      totals.operator = 0;
      guarantees = 0;
    },
  };
};
