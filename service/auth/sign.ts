/** Signs requests and verifies responses. Imports only Node's own modules, so that any program can use it. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export const timestampHeader = 'x-signage-request-timestamp';
export const signatureHeader = 'x-signage-request-signature';

/** The signature of the response to a signed request. */
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

/** HMAC-SHA256 (RFC 2104) of the parts, one per line, keyed with the secret itself. */
export const signatureMac = (secret: string, parts: SignedParts): Buffer => {
  const { timestamp, nonce, method, host, target, sha256 } = parts;
  const lines = ['signage-request-v1', timestamp, nonce, method, host.toLowerCase(), target, sha256];
  return createHmac('sha256', secret).update(lines.join('\n')).digest();
};

/** The parts of a response that its signature covers. */
interface SignedAnswer {
  /** The signature header of the request; binds the response to it. */
  request: string;
  status: number;
  /** SHA-256 of the body as sent, hex. */
  sha256: string;
}

/** The value of {@link answerHeader}: HMAC-SHA256, keyed with the secret that the request was signed with, in hex. */
export const signAnswer = (secret: string, { request, status, sha256 }: SignedAnswer): string =>
  createHmac('sha256', secret).update(['signage-answer-v1', request, status, sha256].join('\n')).digest('hex');

/**
 * The time of the box, for a client whose clock is too far off. It has its own MAC, so that no third party can make the
 * client sign requests for the future.
 */
export const clockHeader = 'x-signage-clock';

const clockMac = (secret: string, mac: string, time: string): Buffer =>
  createHmac('sha256', secret).update(['signage-clock-v1', mac, time].join('\n')).digest();

/** Returns the value of {@link clockHeader}. @param mac of the request, hex; @param time ms since the epoch */
export const signClock = (secret: string, mac: string, time: number): string =>
  `${time};mac=${clockMac(secret, mac, String(time)).toString('hex')}`;

/** Verifies a {@link clockHeader} for the request with this MAC. @returns ms since the epoch; null where it is invalid */
export const readClock = (secret: string, mac: string, value: unknown): number | null => {
  const [, time, given = ''] = /^(\d{13});mac=([\da-f]{64})$/.exec(String(value)) ?? [];
  if (time === undefined) return null;
  return timingSafeEqual(Buffer.from(given, 'hex'), clockMac(secret, mac, time)) ? Number(time) : null;
};

/** The destination of a request: its URL, or the Host header and the target for clients that write them directly. */
type Destination = { url: string | URL } | { host: string; target: string };

export type Signable = Destination & {
  secret: string;
  method: string;
  body?: string | Uint8Array;
  /** Milliseconds since the epoch. */
  now?: number;
  /** 16 to 64 characters of `A-Z a-z 0-9 - _`, valid for one request. */
  nonce?: string;
};

const destinationOf = (signable: Destination): { host: string; target: string } => {
  if (!('url' in signable)) return signable;
  const { host, pathname, search } = new URL(signable.url);
  return { host, target: pathname + search };
};

/** @returns the headers of a signed request; valid for one request, within 300 s */
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
