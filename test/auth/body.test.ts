import { expect, test } from 'vitest';
import { sha256Hex } from '../../service/auth/sign.ts';
import { checkAbsentBody, checkBody } from '../../service/auth/signatures.ts';
import { outcome } from './support.ts';

test.each([
  ['the body that was signed', 'once', sha256Hex('once'), 'accepted'],
  ['another body', 'twice', sha256Hex('once'), 'signature_invalid'],
  ['a body where nothing was signed', 'once', sha256Hex(''), 'signature_invalid'],
  ['any body of a request that is not signed', 'once', null, 'accepted'],
])('%s', async (_, body, signed, expected) => {
  expect(await outcome(() => checkBody(sha256Hex(body), signed))).toBe(expected);
});

test.each([
  ['GET', {}, '', 'accepted'],
  ['POST', {}, '', 'accepted'],
  ['DELETE', { 'content-length': ['0'] }, '', 'accepted'],
  ['DELETE', {}, 'once', 'signature_invalid'],
  ['POST', { 'content-length': ['0'] }, 'once', 'signature_invalid'],
  ['POST', { 'content-length': ['4'] }, 'once', 'accepted'],
  ['PUT', { 'transfer-encoding': ['chunked'] }, 'once', 'accepted'],
  ['DELETE', { 'content-length': ['4'] }, 'once', 'signature_invalid'],
  ['GET', { 'transfer-encoding': ['chunked'] }, '', 'signature_invalid'],
])('the head of a %s with %j that was signed with "%s"', async (method, headers, signed, expected) => {
  expect(await outcome(() => checkAbsentBody(method, headers, sha256Hex(signed)))).toBe(expected);
});
