/**
 * Encrypted bodies between boxes that share a secret: compact JWE (RFC 7516), `dir` with A256GCM. No host in between reads
 * or changes what is sealed.
 */
import { createHash, hkdfSync } from 'node:crypto';
import { compactDecrypt } from 'jose/jwe/compact/decrypt';
import { CompactEncrypt } from 'jose/jwe/compact/encrypt';
import { CodedError } from '../contract/errors.ts';

export type Seal = ReturnType<typeof createSeal>;

const alg = 'dir';
const enc = 'A256GCM';

/** The maximum length of a compact JWE with `bytes` of plaintext: base64url adds a third, and the other parts are short. */
export const sealedBytes = (bytes: number): number => Math.ceil((bytes * 4) / 3) + 1_024;

/** Derives the key with HKDF (RFC 5869), so that it is separate from all other keys. */
const keyOf = (secret: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(), 'signage-peer-content-v1', 32));

/** A Web Crypto key, which jose would otherwise import from the bytes for each body. */
const imported = (key: Uint8Array<ArrayBuffer>) =>
  crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt']);

/** Names a key for the receiver, which may have two. */
const kidOf = (key: Uint8Array): string => createHash('sha256').update(key).digest('hex').slice(0, 8);

/** Seals with the first of the secrets, and opens what was sealed with any of them. */
export const createSeal = (secret: string, ...others: readonly string[]) => {
  const bytes = keyOf(secret);
  const kid = kidOf(bytes);
  const own = imported(bytes);
  const keys = new Map([[kid, own], ...others.map(keyOf).map((key) => [kidOf(key), imported(key)] as const)]);
  const options = { keyManagementAlgorithms: [alg], contentEncryptionAlgorithms: [enc] };
  return {
    /** @returns the compact JWE */
    seal: async (text: string): Promise<string> =>
      new CompactEncrypt(Buffer.from(text)).setProtectedHeader({ alg, enc, kid }).encrypt(await own),
    /** @throws CodedError `signature_invalid` where it was sealed with an unknown secret, or altered */
    open: async (jwe: string): Promise<Uint8Array> => {
      try {
        const { plaintext } = await compactDecrypt(
          jwe,
          ({ kid: named = '' }) => {
            const key = keys.get(named);
            if (key === undefined) throw new Error('the key is not known');
            return key;
          },
          options,
        );
        return plaintext;
      } catch (cause) {
        throw new CodedError('signature_invalid', 'The body is not encrypted with the secret of this box.', { cause });
      }
    },
  };
};
