import type { Logger } from 'pino';
import { CodedError } from '../contract/errors.ts';
import type { Access } from '../contract/operations/index.ts';
import { pageAuthHeader } from '../contract/page.ts';
import { clockHeader, signatureHeader } from '../domain/request-signature.ts';
import type { Sender } from './nonces.ts';
import type { ReplayGuard } from './replay.ts';
import { createSeal, type Seal } from './seal.ts';
import { sha256Hex, signAnswer } from './sign.ts';
import {
  type BoxSignature,
  checkAbsentBody,
  claimsBox,
  claimsSignature,
  createSignatures,
  type HeaderLines,
  parseSignature,
  type SignedHead,
} from './signatures.ts';
import { type CredentialKind, createThrottle, partyOf } from './throttle.ts';
import { createPageTokens, type PageToken } from './tokens.ts';

/** The head of a request; credentials are checked before the body is read. */
interface Attempt extends SignedHead {
  access: Access;
  headers: HeaderLines;
  /** The client address. */
  address: string;
}

/** Returns the value of the signature header for a response. @param body as sent, or its SHA-256, hex */
export type SignResponse = (status: number, body: string | Uint8Array | { sha256: string }) => string;

export interface Admission {
  /** The signed SHA-256 of the body, hex; null if the request was not admitted by a signature. */
  bodySha256: string | null;
  /** Signs the response, which proves knowledge of the secret to the client; null if the request is not signed. */
  signResponse: SignResponse | null;
  /** Value of {@link clockHeader}, for a client that signed with a wrong time; otherwise null. */
  clock: string | null;
  /** Encrypts and decrypts the bodies, with the secret that another box has signed with; null: no box signed it. */
  seal: Seal | null;
  /** Null: no box signed the request. */
  boxSignature: BoxSignature | null;
}

interface AccessControl {
  /**
   * @throws CodedError `credentials_required`, `signature_required`, `signature_*`, `page_token_*`, `busy`, or
   *   `too_many_requests` where this address has sent too many wrong credentials
   */
  admit: (attempt: Attempt) => Promise<Admission>;
  /** Issues a page token; null if pages need none. */
  pageToken: () => Promise<PageToken | null>;
}

interface Options {
  /** Null: no operation needs credentials. */
  secret: string | null;
  /** During a secret rotation: the old secret, still accepted for verification, never used to sign. */
  previous: string | null;
  /** The id of this box. */
  nodeId: string;
  pageTokenSeconds: number;
  /** Null where there is no secret. */
  guard: ReplayGuard | null;
  /** The wall clock, ms since the epoch. */
  now: () => number;
  log: Pick<Logger, 'warn'>;
}

const unsigned: Admission = { bodySha256: null, signResponse: null, clock: null, seal: null, boxSignature: null };
const open: AccessControl = { admit: async () => unsigned, pageToken: async () => null };

/**
 * The sender whose share of the nonce memory a request uses. Requests between boxes are recognised by their headers or
 * path; this grants no rights. A box relays requests of its clients, so its nonces are counted per access class: requests
 * that anyone can cause take no space from those that need a signature.
 */
const senderOf = (access: Access, headers: HeaderLines, address: string, target: string): Sender => {
  const party = partyOf(address);
  return claimsBox(headers, target) ? { kind: 'peer', name: `${party} ${access}` } : { kind: 'operator', name: party };
};

const isGuess = (error: unknown): boolean =>
  error instanceof CodedError && ['signature_invalid', 'page_token_invalid'].includes(error.code);

/** Decides who may call which operation. If a request has both a signature and a page token, the signature is checked. */
export const createAccess = ({
  secret,
  previous,
  nodeId,
  pageTokenSeconds,
  guard,
  now,
  log,
}: Options): AccessControl => {
  if (secret === null || guard === null) return open;
  const throttle = createThrottle({ log });
  const tokens = createPageTokens({ secret, previous, lifetimeSeconds: pageTokenSeconds, now });
  const secrets = previous === null ? [secret] : [secret, previous];
  const signatures = createSignatures({ secrets, guard, nodeId });
  const seals = new Map(secrets.map((each) => [each, createSeal(each, ...secrets)]));

  /**
   * Counts failures that may be guesses. A malformed signature is not one. A replayed signature, or one that is stale and
   * nothing else, was made with the secret.
   */
  const counted = async <T>(address: string, kind: CredentialKind, verify: () => Promise<T>): Promise<T> => {
    try {
      return await verify();
    } catch (error) {
      if (isGuess(error) || (error instanceof CodedError && isGuess(error.cause))) await throttle.fail(address, kind);
      throw error;
    }
  };

  const admitSigned = async ({ access, headers, address, ...head }: Attempt): Promise<Admission> => {
    const signature = parseSignature(headers);
    const sender = senderOf(access, headers, address, head.target);
    const verified = await counted(address, 'signature', () => signatures.verify(signature, head, sender));
    const { secret: signer, clock, boxSignature } = verified;
    checkAbsentBody(head.method, headers, signature.sha256);
    const [request = ''] = headers[signatureHeader] ?? [];
    return {
      bodySha256: signature.sha256,
      signResponse: (status, body) => {
        const isHash = typeof body === 'object' && 'sha256' in body;
        return signAnswer(signer, { request, status, sha256: isHash ? body.sha256 : sha256Hex(body) });
      },
      clock,
      boxSignature,
      seal: signature.recipient === null ? null : (seals.get(signer) ?? null),
    };
  };

  const admitPage = async ({ access, headers, address }: Attempt): Promise<Admission> => {
    const [token = '', ...more] = headers[pageAuthHeader] ?? [];
    if (more.length > 0) throw new CodedError('page_token_invalid', 'A request must have exactly one page token.');
    await counted(address, 'page token', () => tokens.verify(token));
    if (access === 'signed') throw new CodedError('signature_required');
    return unsigned;
  };

  return {
    async admit(attempt) {
      const { access, headers } = attempt;
      const isSigned = access !== 'page' && claimsSignature(headers);
      // Public operations need no credentials, but a signed request gets a signed response.
      if (access === 'public') {
        if (!isSigned) return unsigned;
        return admitSigned(attempt).catch((error: unknown) => ({
          ...unsigned,
          clock: error instanceof CodedError ? (error.headers[clockHeader] ?? null) : null,
        }));
      }
      if (!isSigned && headers[pageAuthHeader] === undefined) throw new CodedError('credentials_required');
      return isSigned ? admitSigned(attempt) : admitPage(attempt);
    },
    pageToken: tokens.issue,
  };
};
