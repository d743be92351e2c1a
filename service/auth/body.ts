import { CodedError } from '../contract/errors.ts';
import { sha256Hex } from './sign.ts';
import type { HeaderLines } from './signatures.ts';

/**
 * Compares a body that has arrived with the one that was signed.
 * @param sha256 of what arrived, hex
 * @param signed what it must be; null where the request is not signed
 * @throws CodedError `signature_invalid`
 */
export const checkBody = (sha256: string, signed: string | null): void => {
  if (signed !== null && sha256 !== signed) {
    throw new CodedError('signature_invalid', 'The body is not the one that was signed.');
  }
};

/** Whoever sends a body with these sends what nobody reads. */
const bodiless = ['GET', 'HEAD', 'DELETE'];

/**
 * The same for a request whose head says that no body follows (RFC 9112, 6.3), or should; others are checked as they are
 * read.
 * @throws CodedError `signature_invalid`
 */
export const checkAbsentBody = (method: string, headers: HeaderLines, signed: string): void => {
  const { 'transfer-encoding': encoding, 'content-length': length } = headers;
  const isAnnounced = encoding !== undefined || Number(length?.[0] ?? 0) > 0;
  if (!isAnnounced) checkBody(sha256Hex(''), signed);
  else if (bodiless.includes(method)) {
    throw new CodedError('signature_invalid', `A signed ${method} has no body.`);
  }
};
