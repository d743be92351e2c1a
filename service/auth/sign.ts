/** Signs requests and verifies responses, with Node's own hash functions. */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { clockText, createSigning, requestText, type SignedParts } from '../domain/request-signature.ts';

/** SHA-256 in hex. */
export const sha256Hex = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const hmacOf = (secret: string, text: string): Buffer => createHmac('sha256', secret).update(text).digest();

/** HMAC-SHA256 (RFC 2104) of the parts, keyed with the secret itself. */
export const signatureMac = (secret: string, parts: SignedParts): Buffer => hmacOf(secret, requestText(parts));

/** Returns the value of `x-signage-clock`. @param mac of the request, hex; @param time ms since the epoch */
export const signClock = (secret: string, mac: string, time: number): string =>
  `${time};mac=${hmacOf(secret, clockText(mac, String(time))).toString('hex')}`;

export const { signRequest, signAnswer, readClock } = createSigning({
  sha256: sha256Hex,
  hmac: (secret, text) => hmacOf(secret, text).toString('hex'),
  nonce: () => randomBytes(16).toString('base64url'),
});
