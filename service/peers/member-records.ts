/** What a box says of itself, for other boxes: in its state, and as others pass it on. Pure. */
import { type MemberRecord, memberRecord } from '../contract/gossip.ts';
import { type PeerState, peerState } from '../contract/peers.ts';
import { isPlausibleTime } from '../domain/merge.ts';
import type { EpochMs } from '../domain/time.ts';

const isOfRecord = (name: string): boolean => Object.hasOwn(memberRecord.shape, name);

/** The record of a box in its state, with what only a newer version knows. */
export const recordIn = (state: PeerState): MemberRecord =>
  Object.fromEntries(
    Object.entries(state).filter(([name]) => isOfRecord(name) || !Object.hasOwn(peerState.shape, name)),
  ) as MemberRecord;

/** What is known of a record: the rest must not get among the fields of the state. */
export const knownIn = (record: MemberRecord): MemberRecord =>
  Object.fromEntries(Object.entries(record).filter(([name]) => isOfRecord(name))) as MemberRecord;

/** The version of a record; 0 if a clock that is years ahead made it, so that each later one replaces it. */
export const versionIn = ({ seq }: Pick<MemberRecord, 'seq'>, now: EpochMs): number =>
  isPlausibleTime(seq, now) ? seq : 0;
