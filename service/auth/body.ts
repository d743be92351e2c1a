import { CodedError } from '../errors.ts';
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

/** The same for a request whose head says that no body follows (RFC 9112, 6.3); others are checked as they are read. */
export const checkAbsentBody = (headers: HeaderLines, signed: string): void => {
  const { 'transfer-encoding': encoding, 'content-length': length } = headers;
  if (encoding === undefined && Number(length?.[0] ?? 0) === 0) checkBody(sha256Hex(''), signed);
};
