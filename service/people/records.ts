/**
 * The records of people, and how boxes agree on them. Name, role and tags: the newest wins. Keys, removals and disablings
 * only grow, so that nobody comes back who was removed, whatever a clock says. Pure.
 */
import { z } from 'zod';
import { canonical } from '../domain/canonical.ts';

const author = z.object({ id: z.string().nullable(), name: z.string() });
const by = author.nullable();

// Looser than the schemas of the API: a rule that is tightened later must not make a stored record unreadable.
export const personRecord = z.looseObject({
  id: z.string(),
  name: z.string(),
  role: z.string(),
  tags: z.array(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
});
export type PersonRecord = z.infer<typeof personRecord>;

export const keyRecord = z.looseObject({
  id: z.string(),
  person: z.string(),
  public_key: z.string(),
  device: z.string(),
  added_at: z.string(),
  /** `sign-in`: by single sign-on, until `ends_at`. */
  via: z.string(),
  /** Of the person, when they joined. */
  role: z.string(),
  by,
  address: z.string().nullable(),
  /** The number of the invitation; null: a further key, or a sign-in. */
  invitation: z.string().nullable(),
  ends_at: z.string().nullable(),
  removed: z.looseObject({ at: z.string(), by }).nullable(),
});
export type KeyRecord = z.infer<typeof keyRecord>;

/** A person is disabled as long as one of these is not undone. */
export const disablingRecord = z.looseObject({
  id: z.string(),
  person: z.string(),
  at: z.string(),
  by,
  enabled: z.looseObject({ at: z.string(), by }).nullable(),
});
export type DisablingRecord = z.infer<typeof disablingRecord>;

/** The open invitation of a person, by their id. */
export const invitationRecord = z.looseObject({
  id: z.string(),
  updated_at: z.string(),
  number: z.string(),
  /** Derived from the code, base64url; empty once it was used. */
  key: z.string(),
  expires_at: z.string(),
  by,
  used: z.boolean(),
});
export type InvitationRecord = z.infer<typeof invitationRecord>;

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The smaller one, by what decides and then by everything. */
const smaller = <T>(a: T, b: T, of: (record: T) => string): T =>
  (order(of(a), of(b)) || order(canonical(a), canonical(b))) <= 0 ? a : b;

const earlierMark = <T extends { at: string }>(a: T | null, b: T | null): T | null =>
  a === null || b === null ? (a ?? b) : smaller(a, b, ({ at }) => at);

export const mergePerson = (a: PersonRecord, b: PersonRecord): PersonRecord =>
  (order(a.updated_at, b.updated_at) || order(canonical(a), canonical(b))) >= 0 ? a : b;

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
