/** What any program needs to sign its requests, on Node's own modules alone. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export const timestampHeader = 'x-signage-request-timestamp';
export const signatureHeader = 'x-signage-request-signature';

/** Who answers a signed request signs the answer. */
export const answerHeader = 'x-signage-answer-signature';

/** The parts of a request that its signature covers. */
export interface SignedParts {
  /** Milliseconds since the epoch, 13 digits. */
  timestamp: string;
  nonce: string;
  method: string;
  /** The Host header. */
  host: string;
  /** Path and query, as sent. */
  target: string;
  /** SHA-256 of the body, hex. */
  sha256: string;
}

/** SHA-256 in hex. */
export const sha256Hex = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** HMAC-SHA256 (RFC 2104) over the parts, one a line, keyed with the secret itself. */
export const signatureMac = (secret: string, parts: SignedParts): Buffer => {
  const { timestamp, nonce, method, host, target, sha256 } = parts;
  const lines = ['signage-request-v1', timestamp, nonce, method, host.toLowerCase(), target, sha256];
  return createHmac('sha256', secret).update(lines.join('\n')).digest();
};

/** An answer, as much of it as its signature covers. */
interface SignedAnswer {
  /** The signature header of the request, so that no other answer fits it. */
  request: string;
  status: number;
  /** Of the body as sent. */
  sha256: string;
}

/** The value of {@link answerHeader}: HMAC-SHA256, keyed with the secret that the request was signed with, in hex. */
export const signAnswer = (secret: string, { request, status, sha256 }: SignedAnswer): string =>
  createHmac('sha256', secret).update(['signage-answer-v1', request, status, sha256].join('\n')).digest('hex');

/**
 * Whoever signs by a clock that is too far off is told the time of the box: with a MAC of its own, so that nobody else can
 * have them sign for the future.
 */
export const clockHeader = 'x-signage-clock';

const clockMac = (secret: string, mac: string, time: string): Buffer =>
  createHmac('sha256', secret).update(['signage-clock-v1', mac, time].join('\n')).digest();

/** The value of {@link clockHeader}. @param mac of the request, hex; @param time ms since the epoch */
export const signClock = (secret: string, mac: string, time: number): string =>
  `${time};mac=${clockMac(secret, mac, String(time)).toString('hex')}`;

/** The time that a {@link clockHeader} tells whoever sent the request with this MAC; null where it can't be believed. */
export const readClock = (secret: string, mac: string, value: unknown): number | null => {
  const [, time, given = ''] = /^(\d{13});mac=([\da-f]{64})$/.exec(String(value)) ?? [];
  if (time === undefined) return null;
  return timingSafeEqual(Buffer.from(given, 'hex'), clockMac(secret, mac, time)) ? Number(time) : null;
};

/** Where a request goes: its URL, or its Host header with path and query, for those who write them by hand. */
type Destination = { url: string | URL } | { host: string; target: string };

export type Signable = Destination & {
  secret: string;
  method: string;
  body?: string | Uint8Array;
  /** Milliseconds since the epoch. */
  now?: number;
  /** 16 to 64 of `A-Z a-z 0-9 - _`, for one use. */
  nonce?: string;
};

const destinationOf = (signable: Destination): { host: string; target: string } => {
  if (!('url' in signable)) return signable;
  const { host, pathname, search } = new URL(signable.url);
  return { host, target: pathname + search };
};

/** @returns the headers that make a request a signed one; they are good for one request, within 300 s */
export const signRequest = (signable: Signable) => {
  const { secret, method, body = '', now = Date.now(), nonce = randomBytes(16).toString('base64url') } = signable;
  const { host, target } = destinationOf(signable);
  const timestamp = String(now);
  const sha256 = sha256Hex(body);
  const mac = signatureMac(secret, { timestamp, nonce, method: method.toUpperCase(), host, target, sha256 });
  return {
    [timestampHeader]: timestamp,
    [signatureHeader]: `v1;nonce=${nonce};sha256=${sha256};mac=${mac.toString('hex')}`,
  };
};
