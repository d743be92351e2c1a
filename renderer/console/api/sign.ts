/**
 * Signs requests as operators do. `crypto.subtle` and `crypto.randomUUID` want a secure context, which plain http on a LAN
 * is not; `crypto.getRandomValues` does not.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { createSigning, signatureHeader } from '../../../service/domain/request-signature.ts';

const bytesOf = (data: string | Uint8Array): Uint8Array => (typeof data === 'string' ? utf8ToBytes(data) : data);

export const createPageSigning = () =>
  createSigning({
    sha256: (data) => bytesToHex(sha256(bytesOf(data))),
    hmac: (secret, text) => bytesToHex(hmac(sha256, utf8ToBytes(secret), utf8ToBytes(text))),
    nonce: () => bytesToHex(crypto.getRandomValues(new Uint8Array(16))),
  });

/** The MAC of a signed request; empty if it is not signed. */
export const macOf = (headers: Readonly<Record<string, string>>): string =>
  /;mac=([\da-f]+)$/.exec(headers[signatureHeader] ?? '')?.[1] ?? '';
