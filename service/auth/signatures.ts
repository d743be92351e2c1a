import { timingSafeEqual } from 'node:crypto';
import { CodedError } from '../contract/errors.ts';
import { clockHeader, type SignedParts, signatureHeader, timestampHeader } from '../domain/request-signature.ts';
import type { Sender } from './nonces.ts';
import type { ReplayGuard } from './replay.ts';
import { signatureMac, signClock } from './sign.ts';

/** Header values by lower-case name, as in `IncomingMessage.headersDistinct`. */
export type HeaderLines = Readonly<NodeJS.Dict<string[]>>;

/** The parts of a request head that the signature covers. */
export type SignedHead = Pick<SignedParts, 'method' | 'host' | 'target'>;

/** The parsed headers of a signed request. */
interface Signature extends Pick<SignedParts, 'timestamp' | 'nonce' | 'sha256'> {
  /** Hex. */
  mac: string;
}

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

/** @throws CodedError `signature_invalid` where a header is missing, repeated or malformed */
export const parseSignature = (headers: HeaderLines): Signature => {
  const timestamp = onlyLine(headers, timestampHeader);
  const line = onlyLine(headers, signatureHeader);
  if (!/^\d{13}$/.test(timestamp)) {
    throw new CodedError('signature_invalid', 'The timestamp must be milliseconds since the epoch, in 13 digits.');
  }
  const match = /^v1;nonce=([\w-]{16,64});sha256=([\da-f]{64});mac=([\da-f]{64})$/.exec(line);
  if (match === null)
    throw new CodedError('signature_invalid', 'The signature must have the form v1;nonce=N;sha256=B;mac=M.');
  const [, nonce = '', sha256 = '', mac = ''] = match;
  return { timestamp, nonce, sha256, mac };
};

interface Options {
  /** A signature by any of these is accepted. */
  secrets: readonly string[];
  guard: Pick<ReplayGuard, 'isFresh' | 'clock' | 'use'>;
}

/** Verifies signatures; each is accepted once. */
export const createSignatures = ({ secrets, guard }: Options) => ({
  /**
   * Marks the nonce as used synchronously, so that only one of many concurrent copies is accepted.
   * @returns the secret that it was signed with
   * @throws CodedError `signature_stale`, `signature_invalid`, `signature_replayed` or `busy`, the first that applies;
   *   the first carries {@link clockHeader} where the sender knows a secret
   */
  async verify({ mac, ...claimed }: Signature, head: SignedHead, sender: Sender): Promise<string> {
    const timestamp = Number(claimed.timestamp);
    const isFresh = guard.isFresh(timestamp);
    const given = Buffer.from(mac, 'hex');
    const isSignedWith = (secret: string): boolean =>
      timingSafeEqual(given, signatureMac(secret, { ...head, ...claimed }));
    const secret = secrets.find(isSignedWith);
    if (!isFresh) {
      const headers = secret === undefined ? {} : { [clockHeader]: signClock(secret, mac, guard.clock()) };
      throw new CodedError('signature_stale', undefined, { headers });
    }
    if (secret === undefined) throw new CodedError('signature_invalid');
    await guard.use(claimed.nonce, timestamp, sender);
    return secret;
  },
});
