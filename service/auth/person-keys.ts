/** The keys of people, as requests are signed with them (Ed25519, RFC 8032). */
import { createHash, createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import type { JoinRequest } from '../contract/console/people.ts';
import { CodedError } from '../contract/errors.ts';
import { includesRole, type Role } from '../contract/roles.ts';
import { joinText } from '../domain/joining.ts';

/** Who has signed a request with a key of their own. */
export interface Signer {
  keyId: string;
  id: string;
  name: string;
  role: Role;
  /** The person acts on screens with one of these tags alone; empty: the whole site. */
  tags: readonly string[];
}

export interface KnownKey {
  /** 32 bytes, base64url. */
  publicKey: string;
  /** Null: the key does not count any more. */
  signer: Signer | null;
  /** Why it does not, for its holder. */
  reason: string;
}

/** What the access policy needs to know of people. */
export interface Keyring {
  /** Null: there never was such a key. */
  find(keyId: string): KnownKey | null;
  noteUse(keyId: string): void;
  /** Whether the secret is for boxes alone, as SIGNAGE_REQUIRE_PEOPLE has it once an admin has joined. */
  isRequired(): boolean;
}

/** @throws CodedError `role_required`, which names the role */
export const requireRole = (role: Role, needed: Role): void => {
  if (includesRole(role, needed)) return;
  throw new CodedError('role_required', `This needs the role ${needed}, and yours is ${role}.`);
};

/** Whose key it is. @throws CodedError `key_unknown`, with `more`, where it does not count any more, or never did */
export const countingSigner = (
  known: KnownKey | null | undefined,
  more: ConstructorParameters<typeof CodedError>[2] = {},
): Signer => {
  if (known?.signer == null) throw new CodedError('key_unknown', known?.reason, more);
  return known.signer;
};

const KEY_BYTES = 32;

/** Of the 32 bytes of a public key; the same key has the same id everywhere. */
export const keyIdOf = (publicKey: string): string =>
  createHash('sha256').update(Buffer.from(publicKey, 'base64url')).digest('hex').slice(0, KEY_BYTES);

const keyOf = (publicKey: string): KeyObject | null => {
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
  } catch {
    return null;
  }
};

/** The y coordinates of the eight points of small order, in hex without the sign bit: with such a key anybody can sign. */
const smallOrders = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
];

/** Whether the 32 bytes are a key with which only its holder can sign. */
export const isPersonKey = (publicKey: string): boolean => {
  const bytes = Buffer.from(publicKey, 'base64url');
  if (bytes.length !== KEY_BYTES || keyOf(publicKey) === null) return false;
  bytes[KEY_BYTES - 1] = (bytes[KEY_BYTES - 1] ?? 0) & 0x7f;
  return !smallOrders.includes(bytes.toString('hex'));
};

/** @param text bytes, a character each; @param signature base64url */
export const isSignedBy = (publicKey: string, text: string, signature: string): boolean => {
  const key = keyOf(publicKey);
  const bytes = Buffer.from(signature, 'base64url');
  return key !== null && verify(null, Buffer.from(text, 'latin1'), key, bytes);
};

/** Whether somebody who joins knows the code that a key was derived from. */
export const isJoinProof = (key: Uint8Array, { person, public_key, device, proof }: JoinRequest): boolean => {
  const expected = createHmac('sha256', key)
    .update(joinText(person, public_key, device))
    .digest();
  const given = Buffer.from(proof, 'hex');
  return given.length === expected.length && timingSafeEqual(expected, given);
};
