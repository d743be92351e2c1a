/** The console signs as the service does, without Web Crypto. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createNonce, hashOf, readClock, signRequest } from '../../renderer/console/api/sign.ts';
import { signRequest as signByNode, signClock } from '../../service/auth/sign.ts';

const host = fc.constantFrom('192.168.1.20:8080', 'Box.local', '[fd00::2]:80');
const text = fc.string({ unit: 'binary' });

test('every request gets the headers that the service makes of it', () => {
  fc.assert(
    fc.property(text, host, text, fc.nat(), (secret, to, body, ms) => {
      const [method, target, now, nonce] = [
        'PUT',
        '/console/api/content?a=%20b',
        1_700_000_000_000 + ms,
        createNonce(),
      ];
      const { headers } = signRequest({ secret, method, host: to, target, sha256: hashOf(body), now, nonce });
      expect(headers).toEqual(signByNode({ secret, method, host: to, target, body, now, nonce }));
    }),
    { numRuns: 50 },
  );
});

test("the box's time is taken from a header that was made with the secret, and from no other", () => {
  const mac = 'a'.repeat(64);
  const header = signClock('the secret', mac, 1_800_000_000_000);
  expect(readClock('the secret', mac, header)).toBe(1_800_000_000_000);
  expect(readClock('another', mac, header)).toBeNull();
  expect(readClock('the secret', 'b'.repeat(64), header)).toBeNull();
  expect(readClock('the secret', mac, header.replace('18', '19'))).toBeNull();
  expect(readClock('the secret', mac, null)).toBeNull();
});
