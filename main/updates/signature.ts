import { createPublicKey, type KeyObject, verify } from 'node:crypto';

/**
 * Reads the public key of a build.
 * @param pem an Ed25519 public key (RFC 8410, SubjectPublicKeyInfo) as PEM
 * @throws Error if it is not one
 */
export const readPublicKey = (pem: string): KeyObject => {
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the update key is not an Ed25519 public key');
  return key;
};

/** Verifies a detached signature (RFC 8032, base64, surrounding white space allowed). */
export const isSigned = (text: string, signature: string, key: KeyObject): boolean =>
  verify(null, Buffer.from(text), key, Buffer.from(signature.trim(), 'base64'));
