import { timingSafeEqual } from 'node:crypto';
import { CodedError } from '../contract/errors.ts';
import { commandIdHeader, relayHeader } from '../contract/peers.ts';
import {
  clockHeader,
  coveredBy,
  coveredHeaders,
  recipientHeader,
  type SignedParts,
  signatureHeader,
  timestampHeader,
} from '../domain/request-signature.ts';
import { freshMs } from './fence.ts';
import type { Sender } from './nonces.ts';
import type { ReplayGuard } from './replay.ts';
import { sha256Hex, signatureMac } from './sign.ts';

/** Header values by lower-case name, as in `IncomingMessage.headersDistinct`. */
export type HeaderLines = Readonly<NodeJS.Dict<string[]>>;

/** The parts of a request head that the signature covers. */
export type SignedHead = Pick<SignedParts, 'method' | 'host' | 'target'>;

/** The parsed headers of a signed request. */
interface Signature extends Omit<SignedParts, keyof SignedHead> {
  /** Hex. */
  mac: string;
}

/** Whether a request claims to come from another box; this grants no rights. @param target path and query */
export const claimsBox = (headers: Readonly<NodeJS.Dict<unknown>>, target: string): boolean =>
  headers[relayHeader] !== undefined || target.startsWith('/api/peers/');

/** Whether a request has a signature header, valid or not. */
export const claimsSignature = (headers: HeaderLines): boolean =>
  headers[timestampHeader] !== undefined || headers[signatureHeader] !== undefined;

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
  const match = /^(v[12]);nonce=([\w-]{16,64});sha256=([\da-f]{64});mac=([\da-f]{64})$/.exec(line);
  if (match === null)
    throw new CodedError('signature_invalid', 'The signature must have the form v1;nonce=N;sha256=B;mac=M.');
  const [, given, nonce = '', sha256 = '', mac = ''] = match;
  const version = given === 'v2' ? 'v2' : 'v1';
  const between = version === 'v2' ? [] : [relayHeader, commandIdHeader].filter((name) => headers[name] !== undefined);
  if (between.length > 0) {
    throw new CodedError('signature_invalid', `${between[0]} counts only in what boxes sign for each other, as v2.`);
  }
  const recipient = version === 'v2' ? onlyLine(headers, recipientHeader) : atMostOne(headers, recipientHeader);
  if (recipient === '') throw new CodedError('signature_invalid', `${recipientHeader} must not be empty.`);
  const isCovering = version === 'v1' && recipient !== undefined;
  const covered = isCovering ? coveredBy((name) => atMostOne(headers, name)) : coveredHeaders.map(() => '');
  return { version, timestamp, nonce, sha256, mac, recipient: recipient ?? null, covered };
};

interface Options {
  /** A signature by any of these is accepted. */
  secrets: readonly string[];
  guard: Pick<ReplayGuard, 'isFresh' | 'clock' | 'use'>;
}

interface Verification {
  sender: Sender;
  /** Whether the request is meant for this box: another one's nonce is not used up here. */
  isForThis: boolean;
  /** Called with the secret that the request was signed with, before its time and its nonce are judged. */
  onSecret?(secret: string): void;
}

/** Verifies signatures; each is accepted once. */
export const createSignatures = ({ secrets, guard }: Options) => ({
  /**
   * Marks the nonce as used synchronously, so that only one of many concurrent copies is accepted.
   * @returns the secret that it was signed with, and the signature, null where it names no recipient
   * @throws CodedError `signature_stale`, `signature_invalid`, `signature_replayed` or `busy`, the first that applies.
   *   Where the MAC of a stale one is wrong as well, its `cause` is `signature_invalid`.
   */
  async verify({ mac, ...claimed }: Signature, head: SignedHead, { sender, isForThis, onSecret }: Verification) {
    const timestamp = Number(claimed.timestamp);
    const window = windowOf(claimed, head.target);
    const isInWindow = window === freshMs || Math.abs(timestamp - guard.clock()) <= window;
    const isFresh = guard.isFresh(timestamp) && isInWindow;
    const given = Buffer.from(mac, 'hex');
    const secret = secrets.find((each) => timingSafeEqual(given, signatureMac(each, { ...head, ...claimed })));
    if (secret !== undefined) onSecret?.(secret);
    if (secret === undefined) {
      const message = `The signature does not match the request: the host that it must be made for is ${head.host}.`;
      const headers = { [clockHeader]: String(guard.clock()) };
      const cause = new CodedError('signature_invalid', message, { headers });
      throw isFresh ? cause : stale(window, { headers, cause });
    }
    if (!isFresh) throw stale(window);
    if (isForThis) await guard.use(claimed.nonce, timestamp, sender);
    const bound: BoundSignature = { nonce: claimed.nonce, age: () => guard.clock() - timestamp, freshMs: window };
    return { secret, boundSignature: claimed.recipient === null ? null : bound };
  },
});

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
