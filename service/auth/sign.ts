/** Signs requests and verifies responses, with Node's own hash functions. */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { createSigning, requestText, type SignedParts } from '../domain/request-signature.ts';

export const sha256Hex = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const hmacOf = (secret: string | Uint8Array, bytes: string): Buffer =>
  createHmac('sha256', secret).update(bytes, 'latin1').digest();

/** HMAC-SHA256 (RFC 2104) of the parts, keyed with the secret itself. */
export const signatureMac = (secret: string, parts: SignedParts): Buffer => hmacOf(secret, requestText(parts));

export const { newNonce, signRequest, signAsPerson, signAnswer, provenTime } = createSigning({
  sha256: sha256Hex,
  hmac: (secret, bytes) => hmacOf(secret, bytes).toString('hex'),
  nonce: () => randomBytes(16).toString('base64url'),
});
