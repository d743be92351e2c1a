import type { Logger } from 'pino';
import { CodedError } from '../contract/errors.ts';
import type { Access } from '../contract/operations/index.ts';
import { pageAuthHeader } from '../contract/page.ts';
import { relayHeader } from '../contract/peers.ts';
import { answerHeader, clockHeader, recipientHeader, signatureHeader } from '../domain/request-signature.ts';
import type { Sender } from './nonces.ts';
import type { ReplayGuard } from './replay.ts';
import { createSeal, type Seal } from './seal.ts';
import { sha256Hex, signAnswer } from './sign.ts';
import {
  type BoundSignature,
  checkAbsentBody,
  claimsBox,
  claimsSignature,
  createSignatures,
  type HeaderLines,
  isBetweenBoxes,
  parseSignature,
  type SignedHead,
} from './signatures.ts';
import { type CredentialKind, createThrottle, partyOf } from './throttle.ts';
import { createPageTokens, type PageToken } from './tokens.ts';

/** Proves to the client that this box knows the secret. @returns headers of the answer to a signed request */
export type SignResponse = (
  status: number,
  /** As sent, or its SHA-256, hex; null: it is streamed, and without proof. */
  body: string | Uint8Array | { sha256: string } | null,
) => Readonly<Record<string, string>>;

/** The head of a request; credentials are checked before the body is read. */
interface Attempt extends SignedHead {
  access: Access;
  headers: HeaderLines;
  /** The client address. */
  address: string;
  /** Whether the host is this box's own, so that no other box can have been meant. */
  isOwnHost(): boolean;
  /** Called once the MAC of the request is right: an error is proven, too. */
  onSigned?(signResponse: SignResponse): void;
}

export interface Admission {
  /** The signed SHA-256 of the body, hex; null if the request was not admitted by a signature. */
  bodySha256: string | null;
  /** Encrypts and decrypts the bodies, with the secret that another box has signed with; null: no box signed it. */
  seal: Seal | null;
  /** Null: the request is not signed, or names no recipient. */
  boundSignature: BoundSignature | null;
  /** Whether another box relays the request: then it is carried out here alone. */
  isRelayed: boolean;
}

interface AccessControl {
  /**
   * @throws CodedError `credentials_required`, `signature_*`, `page_token_*`, `busy`, or `too_many_requests` where this
   *   address has sent too many wrong credentials; `host_refused` or `misdirected` if another box is meant; and
   *   `signature_required` where the kind of credentials is not enough
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

const unsigned: Admission = { bodySha256: null, seal: null, boundSignature: null, isRelayed: false };

/** @throws CodedError `misdirected` */
const checkRecipient = (headers: HeaderLines, nodeId: string): void => {
  const [recipient = nodeId] = headers[recipientHeader] ?? [];
  if (recipient !== nodeId) throw new CodedError('misdirected');
};

const foreignHost =
  'A signed request without a recipient must go to an address or name of this box: send x-signage-recipient with its node id, or set SIGNAGE_PUBLIC_URL or SIGNAGE_ALLOWED_HOSTS.';

/** Without a secret: everything is open, and the headers between boxes count as they are. */
const openTo = (nodeId: string): AccessControl => ({
  admit: async ({ headers }) => {
    checkRecipient(headers, nodeId);
    return { ...unsigned, isRelayed: Boolean(headers[relayHeader]?.[0]) };
  },
  pageToken: async () => null,
});

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
  if (secret === null || guard === null) return openTo(nodeId);
  const throttle = createThrottle({ log });
  const tokens = createPageTokens({ secret, previous, lifetimeSeconds: pageTokenSeconds, now });
  const secrets = previous === null ? [secret] : [secret, previous];
  const signatures = createSignatures({ secrets, guard });
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

  /** Checks the signature, and that this box is meant. */
  const admitSigned = async ({ access, headers, address, isOwnHost, onSigned, ...head }: Attempt) => {
    const signature = parseSignature(headers);
    const { version, recipient } = signature;
    const isOwn = recipient === null ? isOwnHost() : recipient === nodeId;
    const [request = ''] = headers[signatureHeader] ?? [];
    const onSecret = (signer: string): void =>
      onSigned?.((status, body) => {
        const clock = String(guard.clock());
        if (body === null) return { [clockHeader]: clock };
        const isHash = typeof body === 'object' && 'sha256' in body;
        const answer = { request, status, sha256: isHash ? body.sha256 : sha256Hex(body), clock };
        return { [clockHeader]: clock, [answerHeader]: signAnswer(signer, answer) };
      });
    const verification = {
      sender: senderOf(access, headers, address, head.target),
      // Browsers send again what is answered with 421.
      isForThis: isOwn,
      onSecret,
    };
    const verify = () => signatures.verify(signature, head, verification);
    const { secret: signer, boundSignature } = await counted(address, 'signature', verify);
    checkAbsentBody(head.method, headers, signature.sha256);
    if (recipient === null && !isOwn) throw new CodedError('host_refused', foreignHost);
    checkRecipient(headers, nodeId);
    if (version === 'v2' && access !== 'public' && !isBetweenBoxes(headers, head.target)) {
      throw new CodedError('signature_required', 'A box signs only what boxes ask of each other.');
    }
    return {
      bodySha256: signature.sha256,
      boundSignature,
      seal: version === 'v2' ? (seals.get(signer) ?? null) : null,
      isRelayed: version === 'v2' && headers[relayHeader] !== undefined,
    };
  };

  const admitPage = async ({ access, headers, address }: Attempt): Promise<Admission> => {
    const [token = '', ...more] = headers[pageAuthHeader] ?? [];
    if (more.length > 0) throw new CodedError('page_token_invalid', 'A request must have exactly one page token.');
    await counted(address, 'page token', () => tokens.verify(token));
    checkRecipient(headers, nodeId);
    if (access === 'signed') throw new CodedError('signature_required');
    return unsigned;
  };

  /** Public operations need no credentials, but a signed request gets a signed response, and only from the box it is for. */
  const admitPublic = async (attempt: Attempt): Promise<Admission> => {
    try {
      if (claimsSignature(attempt.headers)) return await admitSigned(attempt);
    } catch (error) {
      if (error instanceof CodedError && error.status === 421) throw error;
    }
    checkRecipient(attempt.headers, nodeId);
    return unsigned;
  };

  return {
    async admit(attempt) {
      const { access, headers } = attempt;
      if (access === 'public') return admitPublic(attempt);
      const isSigned = access !== 'page' && claimsSignature(headers);
      if (!isSigned && headers[pageAuthHeader] === undefined) {
        // A signature is not what pages have; where it is right, the refusal is proven.
        if (claimsSignature(headers)) await admitSigned(attempt).catch(() => undefined);
        throw new CodedError('credentials_required');
      }
      return isSigned ? admitSigned(attempt) : admitPage(attempt);
    },
    pageToken: tokens.issue,
  };
};
