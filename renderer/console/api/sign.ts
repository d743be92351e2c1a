/**
 * Signs requests as operators do (v1). `crypto.subtle` and `crypto.randomUUID` want a secure context, which plain http on
 * a LAN is not; `crypto.getRandomValues` does not.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

export interface Signable {
  secret: string;
  method: string;
  /** The Host header. */
  host: string;
  /** Path and query, as sent. */
  target: string;
  /** SHA-256 of the body, hex. */
  sha256: string;
  /** Milliseconds since the epoch. */
  now: number;
  /** 16 to 64 characters of `A-Z a-z 0-9 - _`, valid for one request. */
  nonce: string;
}

export interface Signature {
  headers: Record<string, string>;
  /** Hex; a response names the time of the box in relation to it. */
  mac: string;
}

const keyed = (secret: string, lines: readonly string[]): string =>
  bytesToHex(hmac(sha256, utf8ToBytes(secret), utf8ToBytes(lines.join('\n'))));

export const hashOf = (body: string | Uint8Array): string =>
  bytesToHex(sha256(typeof body === 'string' ? utf8ToBytes(body) : body));

export const createNonce = (): string => bytesToHex(crypto.getRandomValues(new Uint8Array(16)));

export const signRequest = ({ secret, method, host, target, sha256: hash, now, nonce }: Signable): Signature => {
  const timestamp = String(Math.floor(now));
  const lines = ['signage-request-v1', timestamp, nonce, method, host.toLowerCase(), target, hash];
  const mac = keyed(secret, lines);
  return {
    mac,
    headers: {
      'x-signage-request-timestamp': timestamp,
      'x-signage-request-signature': `v1;nonce=${nonce};sha256=${hash};mac=${mac}`,
    },
  };
};

/**
 * The time of the box from `x-signage-clock`, ms since the epoch; null where the header is absent or was not made with
 * the secret.
 */
export const readClock = (secret: string, mac: string, header: string | null): number | null => {
  const [, time = '', given] = /^(\d{13});mac=([\da-f]{64})$/.exec(header ?? '') ?? [];
  return given !== undefined && given === keyed(secret, ['signage-clock-v1', mac, time]) ? Number(time) : null;
};
