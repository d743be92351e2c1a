/** People and their keys, as boxes share them and backups hold them. */
import { z } from 'zod';

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
  /** `invitation`, `recovery` (at the maintenance page), `key` (a further one), or `sign-in` (by single sign-on, until `ends_at`). */
  via: z.string(),
  /** Of the person, when they joined. */
  role: z.string(),
  by,
  address: z.string().nullable(),
  /** What is used once: the number of the invitation, or the hash of the token of a sign-in; null: a further key. */
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
  /** As that of the key; absent: `invitation`. */
  via: z.string().optional(),
  used: z.boolean(),
});
export type InvitationRecord = z.infer<typeof invitationRecord>;
