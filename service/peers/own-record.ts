/** The record that this box publishes to all boxes, with a version that grows with each change. */
import type { MemberRecord } from '../contract/gossip.ts';
import { isPlausibleTime } from '../domain/merge.ts';

interface Dependencies {
  nodeId: string;
  /** The current state of the modules. */
  parts(): Omit<MemberRecord, 'nodeId' | 'seq'>;
  /** ms since the epoch */
  now(): number;
  /** ms, monotonic */
  monotonicNow(): number;
}

export interface OwnRecord {
  /** The record. @param isFresh false: it may be some seconds old */
  current(isFresh: boolean): MemberRecord;
  /** Handles a version of the record that another box has and this box never made. */
  refute(seq: number): void;
}

/** Age up to which the record is reused. */
const FRESH_MS = 10_000;

/** Whether a version can have been made by an honest box: versions are times. @param now ms since the epoch */
export const isPlausibleSeq = (seq: number, now: number): boolean =>
  seq === 0 || (seq <= 8.64e15 && isPlausibleTime(new Date(seq).toISOString(), now));

export const createOwnRecord = ({ nodeId, parts, now, monotonicNow }: Dependencies): OwnRecord => {
  let record: MemberRecord | null = null;
  let text = '';
  let readAt = 0;
  let highest = 0;

  return {
    current: (isFresh) => {
      if (record !== null && !isFresh && monotonicNow() - readAt < FRESH_MS) return record;
      readAt = monotonicNow();
      const said = parts();
      const before = text;
      text = JSON.stringify(said);
      // Later than the versions of previous starts, the last of which this box does not know.
      if (record === null || text !== before) highest = Math.max(highest + 1, Math.floor(now()));
      record = { nodeId, seq: highest, ...said };
      return record;
    },
    refute: (seq) => {
      if (record === null || seq <= record.seq || !isPlausibleSeq(seq, now())) return;
      highest = seq + 1;
      record = { ...record, seq: highest };
    },
  };
};
