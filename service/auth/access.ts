import type { Logger } from 'pino';
import { CodedError, forSecretAlone } from '../contract/errors.ts';
import type { FullRule } from '../contract/operations/index.ts';
import { pageAuthHeader } from '../contract/page.ts';
import { relayHeader, sealedType } from '../contract/peers.ts';
import { countsAsPage } from '../contract/roles.ts';
import { answerHeader, clockHeader, recipientHeader, signatureHeader } from '../domain/request-signature.ts';
import { timestampText } from '../domain/time.ts';
import type { Sender } from './nonces.ts';
import { countingSigner, type Keyring, requireRole, type Signer } from './person-keys.ts';
import type { ReplayGuard } from './replay.ts';
import { createSeal, type Seal } from './seal.ts';
import { sha256Hex, signAnswer } from './sign.ts';
import {
  type BoundSignature,
  checkAbsentBody,
  claimsBox,
  claimsPerson,
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
interface Attempt extends SignedHead, Pick<FullRule, 'access' | 'role' | 'scope' | 'forSecret'> {
  headers: HeaderLines;
  /** The client address. */
  address: string;
  /** Whether the host is this box's own, so that no other box can have been meant. */
  isOwnHost(): boolean;
  /** Whether the request comes from the box itself. */
  isLocal: boolean;
  /** Called once the MAC of the request is right: an error is proven, too. */
  onSigned?(signResponse: SignResponse): void;
}

/** The person who has signed a request, and what that makes of it. */
type SignedBy = Pick<Admission, 'signer' | 'isPage'>;

export interface Admission {
  /** The signed SHA-256 of the body, hex; null if the request was not admitted by a signature. */
  bodySha256: string | null;
  /** Encrypts and decrypts the bodies, with the secret that another box has signed with; null: no box signed it. */
  seal: Seal | null;
  /** Null: the request is not signed, or names no recipient. */
  boundSignature: BoundSignature | null;
  /** Whether another box relays the request: then it is carried out here alone. */
  isRelayed: boolean;
  /** The person who has signed it with a key; null: the secret, a page, or nobody. */
  signer: Signer | null;
  /** Whether it may do what pages may, and no more. */
  isPage: boolean;
  /**
   * Judges the person again, as they are at that moment; absent: none has signed it.
   * @throws CodedError `key_unknown`, `role_required` or `out_of_scope`
   */
  judgeAgain?(): SignedBy;
}

interface AccessControl {
  /**
   * @throws CodedError `credentials_required`, `signature_*`, `page_token_*`, `busy`, or `too_many_requests` where this
   *   address has sent too many wrong credentials; `host_refused` or `misdirected` if another box is meant; and
   *   `signature_required`, `secret_required`, `person_required`, `role_required` or `out_of_scope` where the kind of
   *   credentials is not enough
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
  /** Null: there are no people. */
  keyring: Keyring | null;
  /** The wall clock, ms since the epoch. */
  now: () => number;
  log: Pick<Logger, 'warn'>;
}

const unsigned: Admission = {
  bodySha256: null,
  seal: null,
  boundSignature: null,
  isRelayed: false,
  signer: null,
  isPage: false,
};

/** @throws CodedError `misdirected` */
const checkRecipient = (headers: HeaderLines, nodeId: string): void => {
  const [recipient = nodeId] = headers[recipientHeader] ?? [];
  if (recipient !== nodeId) throw new CodedError('misdirected');
};

const foreignHost =
  'A signed request without a recipient must go to an address or name of this box: send x-signage-recipient with its node id, or set SIGNAGE_PUBLIC_URL or SIGNAGE_ALLOWED_HOSTS.';

/** Without a secret: everything is open, and the headers between boxes count as they are, where boxes speak to each other. */
const openTo = (nodeId: string): AccessControl => ({
  admit: async ({ headers, target }) => {
    if (claimsBox(headers, target)) checkRecipient(headers, nodeId);
    // Elsewhere the header is a stranger's: nobody else would record the change.
    return { ...unsigned, isRelayed: Boolean(headers[relayHeader]?.[0]) && isBetweenBoxes(headers, target) };
  },
  pageToken: async () => null,
});

/**
 * The sender whose share of the nonce memory a request uses. Requests between boxes are recognised by their headers or
 * path; this grants no rights. A box relays requests of its clients, so its nonces are counted per access class: requests
 * that anyone can cause take no space from those that need a signature.
 */
const senderOf = (access: FullRule['access'], headers: HeaderLines, address: string, target: string): Sender => {
  const party = partyOf(address);
  return claimsBox(headers, target) ? { kind: 'peer', name: `${party} ${access}` } : { kind: 'operator', name: party };
};

/** What only boxes and programs with the secret may ask for. */
const isOfSecret = (role: FullRule['role'], headers: HeaderLines): boolean =>
  role === 'secret' ||
  headers[relayHeader] !== undefined ||
  (headers['content-type']?.[0] ?? '').toLowerCase().startsWith(sealedType);

/** Whether a person may call an operation. @throws CodedError `secret_required`, `role_required` or `out_of_scope` */
export const checkPerson = (
  { role, tags }: Pick<Signer, 'role' | 'tags'>,
  rule: Pick<FullRule, 'role' | 'scope'>,
  headers: HeaderLines,
): void => {
  if (isOfSecret(rule.role, headers)) {
    throw new CodedError('secret_required', forSecretAlone, { status: 403 });
  }
  if (rule.role !== null && rule.role !== 'secret') requireRole(role, rule.role);
  if (rule.scope === 'refused' && tags.length > 0) {
    throw new CodedError('out_of_scope', 'This concerns the whole site, and you act on screens with your tags alone.');
  }
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
  keyring,
  now,
  log,
}: Options): AccessControl => {
  if (secret === null || guard === null) return openTo(nodeId);
  const throttle = createThrottle({ log });
  const tokens = createPageTokens({ secret, previous, lifetimeSeconds: pageTokenSeconds, now });
  const secrets = previous === null ? [secret] : [secret, previous];
  const signatures = createSignatures({ secrets, guard, keyring });
  const seals = new Map(secrets.map((each) => [each, createSeal(each, ...secrets)]));

  /**
   * Counts failures that may be guesses. A malformed signature is not one. A replayed signature, or one that is stale and
   * nothing else, was made with the secret.
   */
  const counted = async <T>(address: string, kind: CredentialKind, verify: () => Promise<T>): Promise<T> => {
    try {
      return await verify();
    } catch (error) {
      if (isGuess(error) || (error instanceof CodedError && isGuess(error.cause))) throttle.fail(address, kind);
      throw error;
    }
  };

  /** Checks the signature, and that this box is meant. */
  const admitSigned = async (attempt: Attempt): Promise<Admission> => {
    const { access, headers, address, isOwnHost, isLocal, forSecret, onSigned } = attempt;
    const head: SignedHead = { method: attempt.method, host: attempt.host, target: attempt.target };
    const signature = parseSignature(headers);
    const { version, recipient } = signature;
    const isOwn = recipient === null ? isOwnHost() : recipient === nodeId;
    const [request = ''] = headers[signatureHeader] ?? [];
    const onSecret = (signer: string | null): void =>
      onSigned?.((status, body) => {
        const clock = timestampText(guard.clock());
        // A person has no secret to check a proof with.
        if (body === null || signer === null) return { [clockHeader]: clock };
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
    const { secret: signedWith, signer, boundSignature } = await counted(address, 'signature', verify);
    checkAbsentBody(head.method, headers, signature.sha256);
    if (recipient === null && !isOwn) throw new CodedError('host_refused', foreignHost);
    checkRecipient(headers, nodeId);
    if (version === 'v2' && access !== 'public' && !isBetweenBoxes(headers, head.target)) {
      throw new CodedError('signature_required', 'A box signs only what boxes ask of each other.');
    }
    let by: SignedBy & Pick<Admission, 'judgeAgain'> = { signer: null, isPage: false };
    if (signer !== null) {
      const { keyId } = signer;
      const judge = (person: Signer): SignedBy => {
        checkPerson(person, attempt, headers);
        return { signer: person, isPage: access !== 'signed' && countsAsPage(person.role) };
      };
      by = { ...judge(signer), judgeAgain: () => judge(countingSigner(keyring?.find(keyId))) };
      keyring?.noteUse(keyId);
    } else if (version === 'v1' && access !== 'public' && keyring?.isRequired() && !isLocal && !forSecret) {
      throw new CodedError('person_required');
    }
    return {
      bodySha256: signature.sha256,
      boundSignature,
      seal: version === 'v2' && signedWith !== null ? (seals.get(signedWith) ?? null) : null,
      isRelayed: version === 'v2' && headers[relayHeader] !== undefined,
      ...by,
    };
  };

  const admitPage = async ({ access, headers, address }: Attempt): Promise<Admission> => {
    const [token = '', ...more] = headers[pageAuthHeader] ?? [];
    if (more.length > 0) throw new CodedError('page_token_invalid', 'A request must have exactly one page token.');
    await counted(address, 'page token', () => tokens.verify(token));
    checkRecipient(headers, nodeId);
    if (access === 'signed') throw new CodedError('signature_required');
    return { ...unsigned, isPage: true };
  };

  /** Public operations need no credentials, but a signed request gets a signed response, and only from the box it is for. */
  const admitPublic = async (attempt: Attempt): Promise<Admission> => {
    if (!claimsSignature(attempt.headers)) return unsigned;
    try {
      return await admitSigned(attempt);
    } catch (error) {
      if (error instanceof CodedError && (error.status === 421 || error.code === 'secret_required')) throw error;
    }
    checkRecipient(attempt.headers, nodeId);
    return unsigned;
  };

  return {
    async admit(attempt) {
      const { access, headers } = attempt;
      if (access === 'public') return admitPublic(attempt);
      // A page operation takes the key of a person for a page, and no signature with the secret.
      const isSigned = claimsSignature(headers) && (access !== 'page' || claimsPerson(headers));
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
