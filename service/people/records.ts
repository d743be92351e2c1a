/**
 * The records of people, and how boxes agree on them. Name, role and tags: the newest wins. Keys, removals and disablings
 * only grow, so that nobody comes back who was removed, whatever a clock says. Pure.
 */
import type { DisablingRecord, InvitationRecord, KeyRecord } from '../contract/people-records.ts';
import { canonical } from '../domain/canonical.ts';
import { order } from '../domain/merge.ts';

/** The smaller one, by what decides and then by everything. */
const smaller = <T>(a: T, b: T, of: (record: T) => string): T =>
  (order(of(a), of(b)) || order(canonical(a), canonical(b))) <= 0 ? a : b;

const earlierMark = <T extends { at: string }>(a: T | null, b: T | null): T | null =>
  a === null || b === null ? (a ?? b) : smaller(a, b, ({ at }) => at);

export const mergeKey = (a: KeyRecord, b: KeyRecord): KeyRecord => {
  const [bare, other] = [
    { ...a, removed: null },
    { ...b, removed: null },
  ];
  return { ...smaller(bare, other, ({ added_at }) => added_at), removed: earlierMark(a.removed, b.removed) };
};

export const mergeDisabling = (a: DisablingRecord, b: DisablingRecord): DisablingRecord => {
  const [bare, other] = [
    { ...a, enabled: null },
    { ...b, enabled: null },
  ];
  return { ...smaller(bare, other, ({ at }) => at), enabled: earlierMark(a.enabled, b.enabled) };
};

/** A newer invitation ends the one before; what was used once is used. */
export const mergeInvitation = (a: InvitationRecord, b: InvitationRecord): InvitationRecord => {
  const byAge = order(a.updated_at, b.updated_at) || order(a.number, b.number);
  if (byAge !== 0) return byAge > 0 ? a : b;
  const used = a.used || b.used;
  const key = smaller(a.key, b.key, (text) => text);
  const [bare, other] = [a, b].map((each) => ({ ...each, used: false, key: '' })) as [
    InvitationRecord,
    InvitationRecord,
  ];
  return { ...smaller(bare, other, ({ expires_at }) => expires_at), used, key: used ? '' : key };
};
