/**
 * Signed requests: the texts that are signed, and the headers that carry the signatures. The hash functions are passed
 * in, because a page that is served over plain http has no `crypto.subtle`. All texts are bytes, a character each, as
 * `node:http` and `fetch` pass on headers: a name in UTF-8 is one character per byte, see {@link headerText}.
 */

import { timestampText } from './time.ts';

/** Milliseconds since the epoch, 13 digits. */
export const timestampHeader = 'x-signage-request-timestamp';
/** `v1;nonce=N;sha256=B;mac=M`; between boxes `v2`; with the key of a person `v3;key=K;nonce=N;sha256=B;sig=S`. */
export const signatureHeader = 'x-signage-request-signature';
/** Node id of the box that a request is meant for: a host in between, or a box with its address, may pass it on. */
export const recipientHeader = 'x-signage-recipient';
/** The signature of the answer to a signed request: MAC in hex. */
export const answerHeader = 'x-signage-answer-signature';
/** The time of the box, ms since the epoch, 13 digits; it counts only where {@link answerHeader} proves it. */
export const clockHeader = 'x-signage-clock';
/** Headers that change what a request does. With a recipient its signature covers them, in this order. */
export const coveredHeaders = ['x-signage-operator', 'if-match', 'if-none-match'] as const;

/** `v1`: of an operator; `v2`: between boxes, for what only they ask of each other; `v3`: of a person, with their own key. */
type SignatureVersion = 'v1' | 'v2' | 'v3';

/** The parts of a request that its signature covers. */
export interface SignedParts {
  version: SignatureVersion;
  /** Milliseconds since the epoch, 13 digits. */
  timestamp: string;
  nonce: string;
  method: string;
  host: string;
  /** Path and query, as sent. */
  target: string;
  /** SHA-256 of the body, hex. */
  sha256: string;
  /** The {@link recipientHeader}; null: the box that the host names. */
  recipient: string | null;
  /** Values of {@link coveredHeaders}, empty where absent; they count in `v1` and `v3` only with a recipient. */
  covered: readonly string[];
  /** Id of the key of `v3`. */
  keyId?: string;
}

/** The text whose MAC is M, or whose signature is S, in {@link signatureHeader}. */
export const requestText = (parts: SignedParts): string => {
  const { version, timestamp, nonce, method, host, target, sha256, recipient, covered, keyId } = parts;
  const lines = [`signage-request-${version}`, timestamp, nonce, method, host.toLowerCase(), target, sha256];
  if (recipient !== null) lines.push(recipient, ...(version === 'v2' ? [] : covered));
  if (keyId !== undefined) lines.push(keyId);
  return lines.join('\n');
};

/** The parts of an answer that its signature covers. */
interface SignedAnswer {
  /** The signature header of the request; binds the answer to it. */
  request: string;
  status: number;
  /** SHA-256 of the body as sent, hex. */
  sha256: string;
  /** The {@link clockHeader}. */
  clock: string;
}

/** The text whose MAC is the value of {@link answerHeader}. */
const answerText = ({ request, status, sha256, clock }: SignedAnswer): string =>
  ['signage-answer-v1', request, status, sha256, clock].join('\n');

/** A text as the bytes of its UTF-8, a character each: what a header needs that is not ASCII. */
export const headerText = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text));

interface Digests {
  /** SHA-256, lower-case hex. */
  sha256: (bytes: string | Uint8Array) => string;
  /** HMAC-SHA256 (RFC 2104) of bytes, a character each, lower-case hex. The secret is UTF-8. */
  hmac: (secret: string | Uint8Array, bytes: string) => string;
  /** 16 to 64 random characters of `A-Z a-z 0-9 - _`. */
  nonce: () => string;
}

/** The destination of a request: its URL, or the Host header and the target for clients that write them directly. */
type Destination = { url: string | URL } | { host: string; target: string };

/** The body of a request, or its SHA-256 in hex where it is sent as a stream; neither: no body. */
type SignedBody = { body?: string | Uint8Array } | { bodySha256: string };

type Unsigned = Destination &
  SignedBody & {
    method: string;
    /** Milliseconds since the epoch. */
    now?: number;
    /** 16 to 64 characters of `A-Z a-z 0-9 - _`; a box accepts it once. */
    nonce?: string;
    /** Node id of the box that the request is meant for; absent: the box that the host names. */
    recipient?: string;
    /** The other headers of the request, as sent; those of {@link coveredHeaders} are covered. */
    headers?: Readonly<Record<string, string>>;
  };

/** A request that is signed with the secret. */
export type Signable = Unsigned & {
  secret: string;
  /** Default: `v1`. */
  version?: 'v1' | 'v2';
};

export interface PersonSigner {
  keyId: string;
  /** Ed25519 (RFC 8032) of bytes, a character each; base64url. */
  sign: (bytes: string) => string | Promise<string>;
}

const destinationOf = (signable: Destination): { host: string; target: string } => {
  if (!('url' in signable)) return signable;
  const { host, pathname, search } = new URL(signable.url);
  return { host, target: pathname + search };
};

/** The values of {@link coveredHeaders}. @param headerOf by name in lower case; undefined: it is absent */
export const coveredBy = (headerOf: (name: string) => string | undefined): string[] =>
  coveredHeaders.map((name) => (headerOf(name) ?? '').replace(/^[ \t]+|[ \t]+$/g, ''));

/** Refusals after which a client signs a request again; they count only where the answer is proven. */
export const repeatedCodes: readonly string[] = ['signature_stale', 'misdirected'];

/**
 * Sends a request once more, each, where it was refused as stale, or as meant for another box: it was not carried out then.
 * All attempts have one nonce, and a command has it as its id on all boxes, so that one of them is carried out at most,
 * whoever passes on which.
 * @param codeOf the code of a proven refusal; null: the error is none
 * @param onRefusal called before it is sent once more
 */
export const repeatRefused = async <Result>(
  attempt: () => Promise<Result>,
  codeOf: (error: unknown) => string | null,
  onRefusal: (code: string) => void,
  codes: readonly string[] = repeatedCodes,
): Promise<Result> => {
  try {
    return await attempt();
  } catch (error) {
    const code = codeOf(error);
    if (code === null || !codes.includes(code)) throw error;
    onRefusal(code);
    return repeatRefused(
      attempt,
      codeOf,
      onRefusal,
      codes.filter((each) => each !== code),
    );
  }
};

/** Signs the requests of a client, and verifies the answers of the box. */
export const createSigning = ({ sha256, hmac, nonce: newNonce }: Digests) => {
  const signAnswer = (secret: string | Uint8Array, answer: SignedAnswer): string => hmac(secret, answerText(answer));

  /** What is signed, and the headers without the signature itself. */
  const prepare = (version: SignatureVersion, signable: Unsigned, keyId?: string) => {
    const { method, now = Date.now(), nonce = newNonce(), recipient = null } = signable;
    const bodySha256 = 'bodySha256' in signable ? signable.bodySha256 : sha256(signable.body ?? '');
    const timestamp = timestampText(now);
    const given = Object.entries(signable.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
    const text = requestText({
      ...destinationOf(signable),
      version,
      timestamp,
      nonce,
      recipient,
      method: method.toUpperCase(),
      sha256: bodySha256,
      covered: coveredBy((name) => given.find(([own]) => own === name)?.[1]),
      ...(keyId !== undefined && { keyId }),
    });
    const head = [version, ...(keyId === undefined ? [] : [`key=${keyId}`]), `nonce=${nonce}`, `sha256=${bodySha256}`];
    return {
      text,
      head: head.join(';'),
      headers: {
        [timestampHeader]: timestamp,
        ...(recipient === null ? {} : { [recipientHeader]: recipient }),
      },
    };
  };

  return {
    newNonce,

    /**
     * @returns the headers of a signed request; valid for one request, within 300 s at the box that the host names, or
     *   within 30 s at the recipient
     */
    signRequest: ({ secret, version = 'v1', ...signable }: Signable): Record<string, string> => {
      const { text, head, headers } = prepare(version, signable);
      return { ...headers, [signatureHeader]: `${head};mac=${hmac(secret, text)}` };
    },

    /** The same, with the key of a person. */
    signAsPerson: async ({ keyId, sign }: PersonSigner, signable: Unsigned): Promise<Record<string, string>> => {
      const { text, head, headers } = prepare('v3', signable, keyId);
      return { ...headers, [signatureHeader]: `${head};sig=${await sign(text)}` };
    },

    /** The value of {@link answerHeader} of an answer by a box that has the secret. */
    signAnswer,

    /**
     * The time in a proven answer, ms since the epoch; null: the answer is not proven. The comparison may take any time:
     * each request has a MAC of its own, so there is nothing to try twice.
     * @param headerOf of the answer, by name in lower case
     */
    provenTime: (
      secret: string | Uint8Array,
      { headerOf, ...answer }: Omit<SignedAnswer, 'clock'> & { headerOf: (name: string) => unknown },
    ): number | null => {
      const clock = String(headerOf(clockHeader) ?? '');
      const isProven = headerOf(answerHeader) === signAnswer(secret, { ...answer, clock });
      return isProven && /^\d{13}$/.test(clock) ? Number(clock) : null;
    },
  };
};
