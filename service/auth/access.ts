import type { Logger } from 'pino';
import { CodedError } from '../contract/errors.ts';
import type { Access } from '../contract/operations/index.ts';
import { pageAuthHeader } from '../contract/page.ts';
import { recipientHeader, relayHeader } from '../contract/peers.ts';
import { checkAbsentBody } from './body.ts';
import type { Sender } from './nonces.ts';
import type { ReplayGuard } from './replay.ts';
import { clockHeader, sha256Hex, signAnswer, signatureHeader } from './sign.ts';
import { claimsSignature, createSignatures, type HeaderLines, parseSignature, type SignedHead } from './signatures.ts';
import { type CredentialKind, createThrottle, partyOf } from './throttle.ts';
import { createPageTokens, type PageToken } from './tokens.ts';

/** A request as it is judged: by its head, before its body is read. */
interface Attempt extends SignedHead {
  access: Access;
  headers: HeaderLines;
  /** Where it comes from. */
  address: string;
}

/** Signs an answer. @param body as it is sent */
export type Vouch = (status: number, body: string | Uint8Array) => string;

export interface Admission {
  /** What the body must hash to (SHA-256, hex); null where the request is not judged by a signature. */
  bodySha256: string | null;
  /** Shows whoever signed the request that the answer comes from one who knows the secret; null where nobody asked. */
  vouch: Vouch | null;
  /** Value of the header that tells the time to whoever knows the secret and signed by another; null: there is none. */
  clock: string | null;
}

interface AccessControl {
  /**
   * @throws CodedError `credentials_required`, `signature_required`, `signature_*`, `page_token_*`, `busy`, or
   *   `too_many_requests` where this address has presented too many wrong credentials
   */
  admit: (attempt: Attempt) => Promise<Admission>;
  /** A new token for a page; null where pages need none. */
  pageToken: () => Promise<PageToken | null>;
}

interface Options {
  /** Null: everything is open. */
  secret: string | null;
  /** While a secret is rotated: still verifies, never signs. */
  previous: string | null;
  pageTokenSeconds: number;
  /** Null where there is no secret. */
  guard: ReplayGuard | null;
  /** The wall clock, ms since the epoch. */
  now: () => number;
  log: Pick<Logger, 'warn'>;
}

const unsigned: Admission = { bodySha256: null, vouch: null, clock: null };
const open: AccessControl = { admit: async () => unsigned, pageToken: async () => null };

/**
 * Boxes mark what they send to each other. No box acts on the mark: it only says whose memory takes the nonce. A box passes
 * on what clients ask of it, so its requests are counted by what they need: those that anyone can cause take no room from
 * those that only a signature causes.
 */
const senderOf = (access: Access, headers: HeaderLines, address: string, target: string): Sender => {
  const isPeer =
    headers[relayHeader] !== undefined || headers[recipientHeader] !== undefined || target.startsWith('/api/peers/');
  const party = partyOf(address);
  return isPeer ? { kind: 'peer', name: `${party} ${access}` } : { kind: 'operator', name: party };
};

/** The one judge of who may call what. Where a request carries both kinds of credentials, its signature is judged. */
export const createAccess = ({ secret, previous, pageTokenSeconds, guard, now, log }: Options): AccessControl => {
  if (secret === null || guard === null) return open;
  const throttle = createThrottle({ log });
  const tokens = createPageTokens({ secret, previous, lifetimeSeconds: pageTokenSeconds, now });
  const signatures = createSignatures({ secrets: previous === null ? [secret] : [secret, previous], guard });

  /**
   * Counts what may be a guess. Malformed signatures are none, and who replays, or is late and told the time, knew the
   * secret.
   */
  const counted = async <T>(address: string, kind: CredentialKind, judge: () => Promise<T>): Promise<T> => {
    try {
      return await judge();
    } catch (error) {
      const isGuess =
        error instanceof CodedError &&
        (['signature_invalid', 'page_token_invalid'].includes(error.code) ||
          (error.code === 'signature_stale' && error.headers[clockHeader] === undefined));
      if (isGuess) await throttle.fail(address, kind);
      throw error;
    }
  };

  const admitSigned = async ({ access, headers, address, ...head }: Attempt): Promise<Admission> => {
    const signature = parseSignature(headers);
    const sender = senderOf(access, headers, address, head.target);
    const signer = await counted(address, 'signature', () => signatures.verify(signature, head, sender));
    checkAbsentBody(head.method, headers, signature.sha256);
    const [request = ''] = headers[signatureHeader] ?? [];
    return {
      bodySha256: signature.sha256,
      vouch: (status, body) => signAnswer(signer, { request, status, sha256: sha256Hex(body) }),
      clock: null,
    };
  };

  const admitPage = async ({ access, headers, address }: Attempt): Promise<Admission> => {
    const [token = '', ...more] = headers[pageAuthHeader] ?? [];
    if (more.length > 0) throw new CodedError('page_token_invalid', 'A request has exactly one page token.');
    await counted(address, 'page token', () => tokens.verify(token));
    if (access === 'signed') throw new CodedError('signature_required');
    return unsigned;
  };

  return {
    async admit(attempt) {
      const { access, headers } = attempt;
      const isSigned = access !== 'page' && claimsSignature(headers);
      // Anyone may ask; a client that signs all the same wants the answer signed.
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
