/**
 * Signed requests: the texts that are signed, and the headers that carry the signatures. The hash functions are passed
 * in, because a page that is served over plain http has no `crypto.subtle`.
 */

/** Milliseconds since the epoch, 13 digits. */
export const timestampHeader = 'x-signage-request-timestamp';
/** `v1;nonce=N;sha256=B;mac=M`, or `v2` with {@link recipientHeader}. */
export const signatureHeader = 'x-signage-request-signature';
/** Node id of the box that a request between boxes is meant for: another box may have its address by now. */
export const recipientHeader = 'x-signage-recipient';
/** The signature of the response to a signed request: MAC in hex. */
export const answerHeader = 'x-signage-answer-signature';
/**
 * The time of the box, for a client whose clock is too far off: `TIME;mac=M`. It has its own MAC, so that no third party
 * can make the client sign requests for the future.
 */
export const clockHeader = 'x-signage-clock';

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
  /** The {@link recipientHeader} of a request between boxes, which is signed as v2; null: v1. */
  recipient: string | null;
}

const versionOf = (recipient: string | null): 'v1' | 'v2' => (recipient === null ? 'v1' : 'v2');

/** The text whose MAC is M in {@link signatureHeader}. */
export const requestText = ({ timestamp, nonce, method, host, target, sha256, recipient }: SignedParts): string =>
  [
    `signage-request-${versionOf(recipient)}`,
    ...[timestamp, nonce, method, host.toLowerCase(), target, sha256],
    ...(recipient === null ? [] : [recipient]),
  ].join('\n');

/** The parts of a response that its signature covers. */
interface SignedAnswer {
  /** The signature header of the request; binds the response to it. */
  request: string;
  status: number;
  /** SHA-256 of the body as sent, hex. */
  sha256: string;
}

/** The text whose MAC is the value of {@link answerHeader}. */
const answerText = ({ request, status, sha256 }: SignedAnswer): string =>
  ['signage-answer-v1', request, status, sha256].join('\n');

/** The text whose MAC is sent in {@link clockHeader}. @param mac of the request, hex; @param time ms since the epoch */
export const clockText = (mac: string, time: string): string => ['signage-clock-v1', mac, time].join('\n');

interface Digests {
  /** SHA-256, lower-case hex. */
  sha256: (bytes: string | Uint8Array) => string;
  /** HMAC-SHA256 (RFC 2104) of a text, lower-case hex. */
  hmac: (secret: string, text: string) => string;
  /** 16 to 64 random characters of `A-Z a-z 0-9 - _`. */
  nonce: () => string;
}

/** The destination of a request: its URL, or the Host header and the target for clients that write them directly. */
type Destination = { url: string | URL } | { host: string; target: string };

/** The body of a request, or its SHA-256 in hex where it is sent as a stream; neither: no body. */
type SignedBody = { body?: string | Uint8Array } | { bodySha256: string };

export type Signable = Destination &
  SignedBody & {
    secret: string;
    method: string;
    /** Milliseconds since the epoch. */
    now?: number;
    /** 16 to 64 characters of `A-Z a-z 0-9 - _`, valid for one request. */
    nonce?: string;
    /** Node id of the box that a request between boxes is meant for; absent: the request of an operator. */
    recipient?: string;
  };

const destinationOf = (signable: Destination): { host: string; target: string } => {
  if (!('url' in signable)) return signable;
  const { host, pathname, search } = new URL(signable.url);
  return { host, target: pathname + search };
};

/** Signs the requests of a client, and verifies the answers of the box. */
export const createSigning = ({ sha256, hmac, nonce: newNonce }: Digests) => ({
  /** @returns the headers of a signed request; valid for one request, within 300 s, or 3 s with a recipient */
  signRequest: (signable: Signable): Record<string, string> => {
    const { secret, method, now = Date.now(), nonce = newNonce(), recipient = null } = signable;
    const bodySha256 = 'bodySha256' in signable ? signable.bodySha256 : sha256(signable.body ?? '');
    const timestamp = String(now);
    const signed = { timestamp, nonce, method: method.toUpperCase(), ...destinationOf(signable), sha256: bodySha256 };
    const mac = hmac(secret, requestText({ ...signed, recipient }));
    return {
      [timestampHeader]: timestamp,
      [signatureHeader]: `${versionOf(recipient)};nonce=${nonce};sha256=${bodySha256};mac=${mac}`,
      ...(recipient === null ? {} : { [recipientHeader]: recipient }),
    };
  },

  /** The value of {@link answerHeader} of an answer by a box that has the secret. */
  signAnswer: (secret: string, answer: SignedAnswer): string => hmac(secret, answerText(answer)),

  /**
   * Verifies a {@link clockHeader}. The comparison may take any time: each request has a MAC of its own, so there is
   * nothing to try twice.
   * @param mac of the request, hex
   * @returns ms since the epoch; null if it is invalid
   */
  readClock: (secret: string, mac: string, value: unknown): number | null => {
    const [, time, given] = /^(\d{13});mac=([\da-f]{64})$/.exec(String(value)) ?? [];
    if (time === undefined) return null;
    return given === hmac(secret, clockText(mac, time)) ? Number(time) : null;
  },
});
