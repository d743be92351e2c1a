/**
 * Peers that accept connections and do not answer. Without a secret any host can be a peer: each makes one answer to an
 * operation incomplete, is named, and is left out of further ones until it answers that operation.
 */
import { mostPeers } from '../contract/peers.ts';
import { remember } from '../domain/collections.ts';
import type { ServiceContext } from '../module.ts';
import type { Peer, Registry } from './registry.ts';

/** How a peer answered; `late`: not in time. */
export type Outcome = 'answered' | 'late' | 'failed';

/** How long a peer that is overdue is waited for: it may be back. */
export const OVERDUE_PATIENCE_MS = 100;

export type Overdue = ReturnType<typeof createOverdue>;

export const createOverdue = (
  { logs, options: { sharedSecret } }: Pick<ServiceContext, 'logs' | 'options'>,
  { isThere }: Pick<Registry, 'isThere'>,
) => {
  const overdue = new Map<string, Peer>();
  const keyOf = ({ nodeId, url }: Peer, operation: string): string => `${operation} ${nodeId ?? url}`;

  return {
    has: (peer: Peer, operation: string): boolean => overdue.has(keyOf(peer, operation)),
    /** Notes how a peer answered. @returns whether this makes the answer of this box incomplete */
    note: (peer: Peer, operation: string, outcome: Outcome): boolean => {
      const key = keyOf(peer, operation);
      const wasOverdue = overdue.has(key);
      const isOverdue = sharedSecret === null && outcome === 'late' && isThere(peer);
      if (isOverdue) remember(overdue, key, peer, 8 * mostPeers);
      else overdue.delete(key);
      if (isOverdue && !wasOverdue) {
        const { nodeId, url } = peer;
        logs(`peer ${url}`).warn({ nodeId, url, operation }, 'a peer does not answer, and is left out until it does');
      }
      return outcome !== 'answered' && !(isOverdue && wasOverdue);
    },
    /** The addresses of those that are alive otherwise; the others are named as away. */
    urls: (all: readonly Pick<Peer, 'nodeId' | 'alive'>[]): string[] => {
      const alive = new Set(all.flatMap(({ nodeId, alive: isAlive }) => (isAlive ? nodeId : [])));
      return [...new Set([...overdue.values()].flatMap(({ nodeId, url }) => (alive.has(nodeId) ? url : [])))];
    },
  };
};
