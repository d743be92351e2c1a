/** Signing where there is no crypto.subtle: in a page over plain http. */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { createSigning } from '../../service/domain/request-signature.ts';

const bytesOf = (data: string | Uint8Array): Uint8Array => (typeof data === 'string' ? utf8ToBytes(data) : data);

export const sha256Hex = (data: string | Uint8Array): string => bytesToHex(sha256(bytesOf(data)));

export const createPageSigning = (): ReturnType<typeof createSigning> =>
  createSigning({
    sha256: sha256Hex,
    hmac: (secret, bytes) =>
      bytesToHex(
        hmac(
          sha256,
          bytesOf(secret),
          Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)),
        ),
      ),
    nonce: () => bytesToHex(crypto.getRandomValues(new Uint8Array(16))),
  });
