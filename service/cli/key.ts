/** The key of a person: an Ed25519 key (RFC 8032), kept as a JWK (RFC 8037). */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { PersonSigner } from '../domain/request-signature.ts';

export interface PersonKey extends PersonSigner {
  /** 32 bytes, base64url. */
  publicKey: string;
}

const personKeyOf = (key: KeyObject): PersonKey => {
  const publicKey = String(key.export({ format: 'jwk' }).x);
  return {
    publicKey,
    keyId: createHash('sha256').update(Buffer.from(publicKey, 'base64url')).digest('hex').slice(0, 32),
    sign: (bytes) => sign(null, Buffer.from(bytes, 'latin1'), key).toString('base64url'),
  };
};

/** @param text a JWK; @throws Error if it is none of Ed25519 */
export const keyOf = (text: string): PersonKey => {
  const key = createPrivateKey({ key: JSON.parse(text), format: 'jwk' });
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('this is another kind of key');
  return personKeyOf(key);
};

export const newKey = (): { key: PersonKey; text: string } => {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { key: personKeyOf(privateKey), text: `${JSON.stringify(privateKey.export({ format: 'jwk' }))}\n` };
};
