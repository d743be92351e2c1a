/** People with keys of their own: what they may do, their keys, and how they join. */
import { z } from 'zod';
import { roles } from '../roles.ts';
import { author, instant, nameRule, tag } from '../terms.ts';

/** People that are not disabled, and all of them. */
export const mostPeople = 1_000;
export const mostPeopleEver = 10_000;
/** Keys of a person, and those that were removed. */
export const mostKeys = 10;
export const mostRemovedKeys = 500;
/** For how long an invitation counts, ms. */
export const invitationMs = 24 * 3_600_000;

export const personId = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/, '1 to 64 of a-z, 0-9 and -')
  .describe('id of a person');

export const keyId = z
  .string()
  .regex(/^[0-9a-f]{32}$/, '32 hex digits')
  .describe('the first 32 hex digits of the SHA-256 of the 32 bytes of a public key');

const name = z
  .string()
  .trim()
  .min(1)
  .max(64)
  .regex(...nameRule)
  .describe('as others see it');
const role = z.enum(roles).describe('each may do all that the one before it may');
const tags = z
  .array(tag)
  .max(100)
  .describe('the person acts on screens with one of these tags alone; empty: the whole site');
/** Characters are code points here; white space around the name is part of what the proof of a joining is made over. */
const device = z
  .string()
  .regex(/^\P{Cc}{1,64}$/u, '1 to 64 characters, without control characters')
  .refine((name) => name.trim() !== '', 'a name, not white space alone')
  .describe('name of the device that holds the key, 1 to 64 characters');

/** 32 bytes, in base64url of one spelling. */
const publicKey = z
  .string()
  .regex(/^[\w-]{42}[AEIMQUYcgkosw048]$/, 'the 32 bytes of an Ed25519 public key in base64url')
  .describe('Ed25519 (RFC 8032), the 32 raw bytes in base64url');

export const personRequest = z
  .object({
    name,
    role,
    tags: tags.optional().describe('absent: the whole site'),
    disabled: z.literal(false).optional().describe('false: enables a person that was disabled'),
  })
  .meta({ id: 'PersonRequest' });
export type PersonRequest = z.infer<typeof personRequest>;

const personKey = z
  .object({
    id: keyId,
    device,
    added_at: instant,
    last_used_at: instant.nullable().describe('at any box that answers; null: unknown'),
    invited_by: author.nullable().describe('by whose invitation; null: the secret, or the box itself'),
    address: z.string().nullable().describe('from which address it was added; null: unknown'),
    ends_at: instant.nullable().describe('when a key of a sign-in ends; null: it lasts until it is removed'),
  })
  .meta({ id: 'PersonKey' });

export const person = z
  .object({
    id: personId,
    name,
    role,
    tags,
    keys: z.array(personKey).describe('those that count, the oldest first'),
    created_at: instant,
    disabled_at: instant.nullable().describe('null: not disabled'),
  })
  .meta({ id: 'Person' });
export type Person = z.infer<typeof person>;

export const people = z
  .object({
    people: z.array(person).describe('in the order of their names'),
    behind: z
      .array(z.string().max(512))
      .describe('boxes that have not heard of all removals yet, by name or address; others do not take removed keys'),
    degraded: z.boolean().describe('true if a known box did not respond within 1 s'),
  })
  .meta({ id: 'People' });
export type People = z.infer<typeof people>;

/** Who signs; for the secret, and without one, nobody in particular who may do everything. */
const signer = { person: author.nullable().describe('null: the secret, or none is set'), role, tags };

export const me = z.object(signer).meta({ id: 'Me' });
export type Me = z.infer<typeof me>;

export const invitation = z
  .object({
    code: z
      .string()
      .regex(/^[A-Z2-7]{26}$/)
      .describe('base32 of 128 bits; it is told once'),
    url: z.url().describe('for `signage join`, or for a browser: the fragment holds the person and the code'),
    expires_at: instant,
  })
  .meta({ id: 'Invitation' });
export type Invitation = z.infer<typeof invitation>;

export const joinRequest = z
  .object({
    person: personId,
    public_key: publicKey,
    device,
    proof: z
      .string()
      .regex(/^[0-9a-f]{64}$/, '64 hex digits')
      .describe(
        'HMAC-SHA256 (hex) of the lines signage-join-v1, person, public_key, device, keyed with HKDF-SHA256 of the code (empty salt, info signage-join-v1, 32 bytes)',
      ),
  })
  .meta({ id: 'JoinRequest' });
export type JoinRequest = z.infer<typeof joinRequest>;

export const joined = z
  .object({
    key: keyId,
    ...signer,
    person: author.describe('who has joined'),
    root: z.string().nullable().describe('the root certificate of the site, PEM; null: it has none'),
  })
  .meta({ id: 'Joined' });

export const keyRequest = z.object({ public_key: publicKey, device }).meta({ id: 'KeyRequest' });
export type KeyRequest = z.infer<typeof keyRequest>;

export const keyAdded = z.object({ key: keyId }).meta({ id: 'KeyAdded' });

/** What a box knows of keys that others cannot: when they were used there, and which removals it has heard of. */
export const peerKeys = z
  .object({
    used: z.record(keyId, instant).describe('when each key was last used at the box'),
    removals: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe('SHA-256 of the removed keys and disabled people that it knows'),
  })
  .meta({ id: 'PeerKeys' });

export const signInId = z
  .string()
  .regex(/^[0-9a-f]{32}$/, '32 hex digits')
  .describe('id of a sign-in, of 128 bits');

export const signInBegun = z
  .object({
    id: signInId,
    user_code: z.string().describe('what the provider asks for'),
    verification_uri: z.string().describe('where the person signs in, on any device'),
    verification_uri_complete: z.string().nullable().describe('the same with the code; null: the provider has none'),
    expires_at: instant,
    interval: z.int().describe('seconds between two questions whether it is done'),
  })
  .meta({ id: 'SignInBegun', description: 'of the device authorization grant (RFC 8628)' });
export type SignInBegun = z.infer<typeof signInBegun>;

export const signInState = z
  .object({
    state: z.enum(['pending', 'done', 'denied', 'expired']).describe('denied: by the person, or without a role here'),
    key: keyId.nullable().describe('null: it is not done'),
    person: author.nullable().describe('null: it is not done'),
    role: role.nullable().describe('null: it is not done'),
    tags: tags.nullable().describe('null: it is not done'),
  })
  .meta({ id: 'SignInState' });
export type SignInState = z.infer<typeof signInState>;
