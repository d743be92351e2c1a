/** Keys of NATS (nkeys, Ed25519) and what they sign: JWT of NATS, version 2. */
import { createHash, createPrivateKey, randomUUID, sign } from 'node:crypto';
import { nkeys } from '@nats-io/transport-node';

export interface Key {
  /** Begins with SO (operator), SA (account) or SU (user). */
  seed: string;
  publicKey: string;
  sign(text: string): Buffer;
}

type Role = 'operator' | 'account' | 'user';

const creators = {
  operator: nkeys.createOperator,
  account: nkeys.createAccount,
  user: nkeys.createUser,
} satisfies Record<Role, unknown>;

/** Before the 32 bytes of a private key in PKCS #8 (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

type Pair = ReturnType<typeof nkeys.fromSeed>;

/** Signs with node:crypto, which takes a fiftieth of the time of the library of nkeys. */
const asKey = (pair: Pair): Key => {
  const raw = (pair as Pair & { getRawSeed(): Uint8Array }).getRawSeed();
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, raw]), format: 'der', type: 'pkcs8' });
  return {
    seed: Buffer.from(pair.getSeed()).toString(),
    publicKey: pair.getPublicKey(),
    sign: (text) => sign(null, Buffer.from(text), key),
  };
};

export const createKey = (role: Role): Key => asKey(creators[role]());

/** @throws Error if it is not the seed of a key */
export const keyOf = (seed: string): Key => asKey(nkeys.fromSeed(Buffer.from(seed)));

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

interface Claims {
  /** Public key of the holder. */
  subject: string;
  name: string;
  /** `type` and what belongs to it. */
  nats: { type: string } & Record<string, unknown>;
  /** Seconds since the epoch; absent: never. */
  expiresAt?: number;
}

/** @param now seconds since the epoch */
export const signClaims = (issuer: Key, { subject, name, nats, expiresAt }: Claims, now: number): string => {
  const claims = {
    jti: createHash('sha256').update(randomUUID()).digest('hex'),
    iat: now,
    iss: issuer.publicKey,
    name,
    sub: subject,
    ...(expiresAt !== undefined && { exp: expiresAt }),
    nats: { ...nats, version: 2 },
  };
  const text = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode(claims)}`;
  return `${text}.${issuer.sign(text).toString('base64url')}`;
};

const block = (name: string, text: string): string => `-----BEGIN ${name}-----\n${text}\n------END ${name}------\n`;

/** The contents of a `.creds` file. */
export const credentialsText = (jwt: string, seed: string): string =>
  `${block('NATS USER JWT', jwt)}\n${block('USER NKEY SEED', seed)}`;

/** The public key of the account that the contents of a `.creds` file are of; null: of none. */
export const accountIn = (credentials: string): string | null => {
  const [, jwt = ''] = /BEGIN NATS USER JWT-+\s+(\S+)/.exec(credentials) ?? [];
  try {
    const { iss } = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as { iss?: unknown };
    return typeof iss === 'string' ? iss : null;
  } catch {
    return null;
  }
};
