/** The record that this box sends to peers, and what happens if another one has its node id. */
import type { MemberRecord } from '../contract/gossip.ts';
import type { PeerState } from '../contract/peers.ts';
import { isPlausibleTime } from '../domain/merge.ts';
import type { EpochMs, MonotonicMs } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';

/** Whether a version can have been made by an honest box: versions are times. */
export const isPlausibleSeq = (seq: number, now: EpochMs): boolean =>
  seq === 0 || (seq <= 8.64e15 && isPlausibleTime(new Date(seq).toISOString(), now));

export type OwnRecord = ReturnType<typeof createOwnRecord>;

/** The record that this box publishes to all boxes. @param parts the current state of the modules */
export const createOwnRecord = (
  { ids: { nodeId }, now, monotonicNow, tempo }: Pick<ServiceContext, 'ids' | 'now' | 'monotonicNow' | 'tempo'>,
  parts: () => Omit<MemberRecord, 'nodeId' | 'seq'>,
) => {
  let record: MemberRecord | null = null;
  let text = '';
  let readAt: MonotonicMs = 0;
  let highest = 0;

  return {
    /** The record, with a version that grows with each change. @param isFresh false: it may be some seconds old */
    current: (isFresh: boolean): MemberRecord => {
      if (record !== null && !isFresh && monotonicNow() - readAt < tempo.peers.fresh) return record;
      readAt = monotonicNow();
      const said = parts();
      const before = text;
      text = JSON.stringify(said);
      // Later than the versions of previous starts, the last of which this box does not know.
      if (record === null || text !== before) highest = Math.max(highest + 1, Math.floor(now()));
      record = { nodeId, seq: highest, ...said };
      return record;
    },
    /** Handles a version of the record that another box has and this box never made. */
    refute: (seq: number): void => {
      if (record === null || seq <= record.seq || !isPlausibleSeq(seq, now())) return;
      highest = seq + 1;
      record = { ...record, seq: highest };
    },
  };
};

type Start = Pick<PeerState, 'startedAt' | 'instance'>;

/**
 * Whether the first of two boxes with one node id, as after cloning a disk, gets a new one: the one that started later, by the site's clock; of two
 * that started at the same time, the one with the greater instance. Both boxes compare the same values, so only one of
 * them does.
 */
export const takesNewId = (own: Start, other: Start): boolean =>
  own.startedAt === other.startedAt ? own.instance > other.instance : own.startedAt > other.startedAt;
