import { timingSafeEqual } from 'node:crypto';
import { CodedError } from '../contract/errors.ts';
import { commandIdHeader, relayHeader } from '../contract/peers.ts';
import {
  clockHeader,
  coveredBy,
  coveredHeaders,
  recipientHeader,
  requestText,
  type SignedParts,
  signatureHeader,
  timestampHeader,
} from '../domain/request-signature.ts';
import { timestampText } from '../domain/time.ts';
import { freshMs } from './fence.ts';
import type { Sender } from './nonces.ts';
import { countingSigner, isSignedBy, type Keyring, type Signer } from './person-keys.ts';
import type { ReplayGuard } from './replay.ts';
import { sha256Hex, signatureMac } from './sign.ts';

/** Header values by lower-case name, as in `IncomingMessage.headersDistinct`. */
export type HeaderLines = Readonly<NodeJS.Dict<string[]>>;

/** The parts of a request head that the signature covers. */
export type SignedHead = Pick<SignedParts, 'method' | 'host' | 'target'>;

/** The parsed headers of a signed request. */
interface Signature extends Omit<SignedParts, keyof SignedHead> {
  /** Hex; of `v3` the signature, base64url. */
  mac: string;
}

/** Whether a request claims to come from another box; this grants no rights. @param target path and query */
export const claimsBox = (headers: Readonly<NodeJS.Dict<unknown>>, target: string): boolean =>
  headers[relayHeader] !== undefined || target.startsWith('/api/peers/');

/** Whether a request has a signature header, valid or not. */
export const claimsSignature = (headers: HeaderLines): boolean =>
  headers[timestampHeader] !== undefined || headers[signatureHeader] !== undefined;

/** Whether a request claims to be signed with the key of a person. */
export const claimsPerson = (headers: HeaderLines): boolean =>
  headers[signatureHeader]?.[0]?.startsWith('v3;') ?? false;

/** What boxes ask of each other where they relay it: commands, snapshots and onboarding. */
const relayable = /^\/api\/(?:screens\/[^/]+\/(?:commands|connections|clients)|onboarding)(?:[/?]|$)/;

/** Whether the signature of a box is enough for what it asks. @param target path and query */
export const isBetweenBoxes = (headers: HeaderLines, target: string): boolean =>
  target.startsWith('/api/peers/') || (headers[relayHeader] !== undefined && relayable.test(target));

/** For how long what names its recipient is fresh, and of that a command of another box, ms in either direction. */
const boundMs = 30_000;
const commandMs = 3_000;

const isCommand = (target: string): boolean => /^[^?]*\/commands(?:\?|$)/.test(target);

const windowOf = ({ version, recipient }: Pick<Signature, 'version' | 'recipient'>, target: string): number => {
  if (recipient === null) return freshMs;
  return version === 'v2' && isCommand(target) ? commandMs : boundMs;
};

const stale = (window: number, more: ConstructorParameters<typeof CodedError>[2] = {}): CodedError =>
  new CodedError(
    'signature_stale',
    `The timestamp is outside the window of ${window / 1000} s, or older than this service.`,
    more,
  );

/** The valid signature of a request that names its recipient. */
export interface BoundSignature {
  nonce: string;
  /** How long ago it was made, ms by this box's clock. */
  age(): number;
  /** For how long it is fresh, ms. */
  freshMs: number;
}

/**
 * Checks again that a request is fresh which names its recipient.
 * @param signature null: it names none
 * @throws CodedError `signature_stale`
 */
export const checkAge = (signature: BoundSignature | null): void => {
  if (signature !== null && signature.age() > signature.freshMs) throw stale(signature.freshMs);
};

/** @throws CodedError `signature_invalid` if there is more than one line */
const atMostOne = (headers: HeaderLines, name: string): string | undefined => {
  const [line, ...more] = headers[name] ?? [];
  if (more.length === 0) return line;
  throw new CodedError('signature_invalid', `A signed request must have one ${name} header at most.`);
};

const onlyLine = (headers: HeaderLines, name: string): string => {
  const line = atMostOne(headers, name);
  if (line !== undefined) return line;
  throw new CodedError('signature_invalid', `A signed request must have a ${name} header.`);
};

const forms = [
  /^(?<version>v[12]);nonce=(?<nonce>[\w-]{16,64});sha256=(?<sha256>[\da-f]{64});mac=(?<mac>[\da-f]{64})$/,
  // The unused bits of the last character are 0, so that each signature has one spelling.
  /^(?<version>v3);key=(?<key>[\da-f]{32});nonce=(?<nonce>[\w-]{16,64});sha256=(?<sha256>[\da-f]{64});sig=(?<mac>[\w-]{85}[AQgw])$/,
];

/** Headers that count in the signatures of boxes alone. */
const betweenBoxes: Readonly<Record<'v1' | 'v2' | 'v3', readonly string[]>> = {
  v1: [relayHeader, commandIdHeader],
  v2: [],
  // The relay header of a person is refused by name, later.
  v3: [commandIdHeader],
};

/**
 * @throws CodedError `signature_invalid` if a header is missing, repeated or malformed, or counts only in the signature of
 *   a box: a host on the way could add it, and the request would be kept from the other boxes, or taken for a repetition
 */
export const parseSignature = (headers: HeaderLines): Signature => {
  const timestamp = onlyLine(headers, timestampHeader);
  const line = onlyLine(headers, signatureHeader);
  if (!/^\d{13}$/.test(timestamp)) {
    throw new CodedError('signature_invalid', 'The timestamp must be milliseconds since the epoch, in 13 digits.');
  }
  const parts = forms.map((form) => form.exec(line)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) {
    const message =
      'The signature must have the form v1;nonce=N;sha256=B;mac=M, or v3;key=K;nonce=N;sha256=B;sig=S with the key of a person.';
    throw new CodedError('signature_invalid', message);
  }
  const { key: keyId, nonce = '', sha256 = '', mac = '' } = parts;
  const version = parts['version'] as Signature['version'];
  const between = betweenBoxes[version].filter((name) => headers[name] !== undefined);
  if (between.length > 0) {
    throw new CodedError('signature_invalid', `${between[0]} counts only in what boxes sign for each other, as v2.`);
  }
  const recipient = version === 'v2' ? onlyLine(headers, recipientHeader) : atMostOne(headers, recipientHeader);
  if (recipient === '') throw new CodedError('signature_invalid', `${recipientHeader} must not be empty.`);
  const isCovering = version !== 'v2' && recipient !== undefined;
  const covered = isCovering ? coveredBy((name) => atMostOne(headers, name)) : coveredHeaders.map(() => '');
  const claimed = { version, timestamp, nonce, sha256, mac, recipient: recipient ?? null, covered };
  return keyId === undefined ? claimed : { ...claimed, keyId };
};

interface Options {
  /** A signature by any of these is accepted. */
  secrets: readonly string[];
  guard: Pick<ReplayGuard, 'isFresh' | 'clock' | 'use'>;
  /** Null: there are no people. */
  keyring: Pick<Keyring, 'find'> | null;
}

interface Verification {
  sender: Sender;
  /** Whether the request is meant for this box: another one's nonce is not used up here. */
  isForThis: boolean;
  /** Called with the secret that the request was signed with, before its time and its nonce are judged; null: with a key. */
  onSecret?(secret: string | null): void;
}

/** Who has signed: one of the secrets, or a person. */
type Signatory = { secret: string; signer: null } | { secret: null; signer: Signer };

/** Verifies signatures; each is accepted once. */
export const createSignatures = ({ secrets, guard, keyring }: Options) => {
  const bySecret = ({ mac, ...claimed }: Signature, head: SignedHead): Signatory | null => {
    const given = Buffer.from(mac, 'hex');
    const secret = secrets.find((each) => timingSafeEqual(given, signatureMac(each, { ...head, ...claimed })));
    return secret === undefined ? null : { secret, signer: null };
  };

  /** @throws CodedError `key_unknown`, with these headers */
  const byPerson = (
    { mac, keyId = '', ...claimed }: Signature,
    head: SignedHead,
    headers: Record<string, string>,
  ): Signatory | null => {
    if (keyring === null) return null;
    const known = keyring.find(keyId);
    const signed = requestText({ ...head, ...claimed, keyId });
    if (known !== null && !isSignedBy(known.publicKey, signed, mac)) return null;
    return { secret: null, signer: countingSigner(known, { headers }) };
  };

  return {
    /**
     * Marks the nonce as used synchronously, so that only one of many concurrent copies is accepted.
     * @returns who has signed it, and the signature, null where it names no recipient
     * @throws CodedError `signature_stale`, `key_unknown`, `signature_invalid`, `signature_replayed` or `busy`, the first that
     *   applies. Where a stale one is wrong as well, its `cause` is `signature_invalid` or `key_unknown`.
     */
    async verify(signature: Signature, head: SignedHead, { sender, isForThis, onSecret }: Verification) {
      const { version, recipient, nonce } = signature;
      const timestamp = Number(signature.timestamp);
      const window = windowOf(signature, head.target);
      const isInWindow = window === freshMs || Math.abs(timestamp - guard.clock()) <= window;
      const isFresh = guard.isFresh(timestamp) && isInWindow;
      const headers = { [clockHeader]: timestampText(guard.clock()) };
      let by: Signatory | null;
      try {
        by = (version === 'v3' ? byPerson : bySecret)(signature, head, headers);
        if (by === null) {
          const message = `The signature does not match the request: the host that it must be made for is ${head.host}.`;
          throw new CodedError('signature_invalid', message, { headers });
        }
      } catch (cause) {
        throw isFresh ? cause : stale(window, { headers, cause });
      }
      onSecret?.(by.secret);
      if (!isFresh) throw stale(window);
      if (isForThis) {
        const name = by.signer === null ? sender : { kind: 'person' as const, name: by.signer.id };
        await guard.use(nonce, timestamp, name);
      }
      const bound: BoundSignature = { nonce, age: () => guard.clock() - timestamp, freshMs: window };
      return { ...by, boundSignature: recipient === null ? null : bound };
    },
  };
};

/**
 * Compares the hash of a received body with the signed one.
 * @param sha256 of the received body, hex
 * @param signed the signed hash, hex; null if the request is not signed
 * @throws CodedError `signature_invalid`
 */
export const checkBody = (sha256: string, signed: string | null): void => {
  if (signed !== null && sha256 !== signed) {
    throw new CodedError('signature_invalid', 'The body does not match the signed hash.');
  }
};

/** Methods whose bodies the service does not read. */
const bodiless = ['GET', 'HEAD', 'DELETE'];

/**
 * The same check for a request without a body (RFC 9112, 6.3), or with a method that has none. Other bodies are checked
 * when they are read.
 * @throws CodedError `signature_invalid`
 */
export const checkAbsentBody = (method: string, headers: HeaderLines, signed: string): void => {
  const { 'transfer-encoding': encoding, 'content-length': length } = headers;
  const isAnnounced = encoding !== undefined || Number(length?.[0] ?? 0) > 0;
  if (!isAnnounced) checkBody(sha256Hex(''), signed);
  else if (bodiless.includes(method)) {
    throw new CodedError('signature_invalid', `A signed ${method} request must not have a body.`);
  }
};
