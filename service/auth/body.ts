import { CodedError } from '../contract/errors.ts';
import { sha256Hex } from './sign.ts';
import type { HeaderLines } from './signatures.ts';

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
