import { expect, test } from 'vitest';
import { checkBody } from '../../service/auth/body.ts';
import { sha256Hex } from '../../service/auth/sign.ts';
import { outcome } from './support.ts';

test.each([
  ['the body that was signed', 'once', sha256Hex('once'), 'accepted'],
  ['another body', 'twice', sha256Hex('once'), 'signature_invalid'],
  ['a body where nothing was signed', 'once', sha256Hex(''), 'signature_invalid'],
  ['any body of a request that is not signed', 'once', null, 'accepted'],
])('%s', async (_, body, signed, expected) => {
  expect(await outcome(() => checkBody(sha256Hex(body), signed))).toBe(expected);
});
