/** Two boxes with one node id, as after cloning a disk: which of them gets a new one. Pure. */
import type { PeerState } from '../contract/peers.ts';

type Start = Pick<PeerState, 'startedAt' | 'instance'>;

/**
 * Whether the first of two boxes with one node id gets a new one: the one that started later, by the site's clock; of two
 * that started at the same time, the one with the greater instance. Both boxes compare the same values, so only one of
 * them does.
 */
export const takesNewId = (own: Start, other: Start): boolean => {
  return own.startedAt === other.startedAt ? own.instance > other.instance : own.startedAt > other.startedAt;
};
