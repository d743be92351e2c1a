import { timingSafeEqual } from 'node:crypto';
import { CodedError } from '../contract/errors.ts';
import { commandIdHeader, relayHeader } from '../contract/peers.ts';
import {
  clockHeader,
  recipientHeader,
  type SignedParts,
  signatureHeader,
  timestampHeader,
} from '../domain/request-signature.ts';
import type { Sender } from './nonces.ts';
import type { ReplayGuard } from './replay.ts';
import { sha256Hex, signatureMac, signClock } from './sign.ts';

/** Header values by lower-case name, as in `IncomingMessage.headersDistinct`. */
export type HeaderLines = Readonly<NodeJS.Dict<string[]>>;

/** The parts of a request head that the signature covers. */
export type SignedHead = Pick<SignedParts, 'method' | 'host' | 'target'>;

/** The parsed headers of a signed request. */
interface Signature extends Pick<SignedParts, 'timestamp' | 'nonce' | 'sha256' | 'recipient'> {
  /** Hex. */
  mac: string;
  /** Whether a box relays the request: then it is fresh for a shorter time. */
  isRelay: boolean;
}

/** Whether a request claims to come from another box; this grants no rights. @param target path and query */
export const claimsBox = (headers: Readonly<NodeJS.Dict<unknown>>, target: string): boolean =>
  headers[relayHeader] !== undefined || headers[recipientHeader] !== undefined || target.startsWith('/api/peers/');

/** Whether a request has a signature header, valid or not. */
export const claimsSignature = (headers: HeaderLines): boolean =>
  headers[timestampHeader] !== undefined || headers[signatureHeader] !== undefined;

const onlyLine = (headers: HeaderLines, name: string): string => {
  const lines = headers[name] ?? [];
  if (lines[0] === undefined || lines.length > 1) {
    throw new CodedError('signature_invalid', `A signed request must have exactly one ${name} header.`);
  }
  return lines[0];
};

/** The valid signature of another box. */
export interface BoxSignature {
  /** How long ago it was made, ms by this box's clock. */
  age(): number;
  /** The value of {@link clockHeader} now. */
  clock(): string;
}

/** For how long a request between boxes is fresh, ms in either direction. Operators have the whole window. */
const boxFreshMs = 3_000;

const staleRelay = 'A request between boxes is fresh for 3 s.';

/** From this difference of the clocks on, ms, the answer carries the clock, so that the calling box signs by it. */
const noticeMs = 250;

/**
 * Checks again that a request of another box is fresh.
 * @param signature null: no box has signed the request
 * @throws CodedError `signature_stale`
 */
export const checkAge = (signature: BoxSignature | null): void => {
  if (signature === null || signature.age() <= boxFreshMs) return;
  throw new CodedError('signature_stale', staleRelay, { headers: { [clockHeader]: signature.clock() } });
};

/**
 * @throws CodedError `signature_invalid` if a header is missing, repeated or malformed, or a request that names its
 *   recipient is signed as v1, which does not cover it: a host between the boxes could hand it to another one
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
  const [, version, nonce = '', sha256 = '', mac = ''] = match;
  if (version === 'v1' && headers[recipientHeader] !== undefined) {
    const message = `A request with ${recipientHeader} must be signed as v2; update the box that sent it.`;
    throw new CodedError('signature_invalid', message);
  }
  const between = [relayHeader, commandIdHeader].find((name) => headers[name] !== undefined);
  if (version === 'v1' && between !== undefined) {
    // A host on the way could add it: the request would be kept from the other boxes, or taken for a repetition.
    throw new CodedError(
      'signature_invalid',
      `${between} stands only in requests between boxes, which are signed as v2.`,
    );
  }
  const recipient = version === 'v1' ? null : onlyLine(headers, recipientHeader);
  return { timestamp, nonce, sha256, mac, recipient, isRelay: headers[relayHeader] !== undefined };
};

interface Options {
  /** A signature by any of these is accepted. */
  secrets: readonly string[];
  guard: Pick<ReplayGuard, 'isFresh' | 'clock' | 'use'>;
  /** The id of this box. */
  nodeId: string;
}

/** Verifies signatures; each is accepted once. */
export const createSignatures = ({ secrets, guard, nodeId }: Options) => ({
  /**
   * Marks the nonce as used synchronously, so that only one of many concurrent copies is accepted.
   * @returns the secret that it was signed with, the {@link clockHeader} for a box whose clock is a little off, and the
   *   signature of a box
   * @throws CodedError `signature_stale`, `signature_invalid`, `signature_replayed` or `busy`, the first that applies;
   *   the first carries {@link clockHeader}. Where the MAC is wrong as well, its `cause` is `signature_invalid`, and the
   *   clock is not signed: a host that alters requests must not be able to pass on the clock of another box.
   */
  async verify({ mac, isRelay, ...claimed }: Signature, head: SignedHead, sender: Sender) {
    const timestamp = Number(claimed.timestamp);
    const isFromBox = isRelay || claimed.recipient !== null;
    const off = Math.abs(timestamp - guard.clock());
    const isFresh = guard.isFresh(timestamp) && (!isFromBox || off <= boxFreshMs);
    const given = Buffer.from(mac, 'hex');
    const isSignedWith = (secret: string): boolean =>
      timingSafeEqual(given, signatureMac(secret, { ...head, ...claimed }));
    const secret = secrets.find(isSignedWith);
    const clock = (by: string): string => signClock(by, mac, guard.clock());
    if (!isFresh) {
      const headers = { [clockHeader]: secret === undefined ? String(guard.clock()) : clock(secret) };
      const cause = secret === undefined ? new CodedError('signature_invalid') : undefined;
      throw new CodedError('signature_stale', isFromBox ? staleRelay : undefined, { headers, cause });
    }
    if (secret === undefined) {
      const message = `The signature does not match the request: the host that it must be made for is ${head.host}.`;
      throw new CodedError('signature_invalid', message);
    }
    // What is meant for another box is not carried out here; browsers send it again when it is answered with 421.
    if (claimed.recipient === null || claimed.recipient === nodeId) await guard.use(claimed.nonce, timestamp, sender);
    const boxSignature: BoxSignature = { age: () => guard.clock() - timestamp, clock: () => clock(secret) };
    return {
      secret,
      clock: isFromBox && off > noticeMs ? clock(secret) : null,
      boxSignature: isFromBox ? boxSignature : null,
    };
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
