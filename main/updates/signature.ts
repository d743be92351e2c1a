import { createPublicKey, type KeyObject, verify } from 'node:crypto';

/**
 * The key that a build trusts.
 * @param pem an Ed25519 public key (RFC 8410, SubjectPublicKeyInfo) as PEM
 * @throws Error where it is none
 */
export const readPublicKey = (pem: string): KeyObject => {
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the update key is not an Ed25519 public key');
  return key;
};

/** Whether a detached signature (RFC 8032, base64, white space around it allowed) is of these bytes, by this key. */
export const isSigned = (text: string, signature: string, key: KeyObject): boolean =>
  verify(null, Buffer.from(text), key, Buffer.from(signature.trim(), 'base64'));
