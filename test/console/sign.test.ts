/** The console signs as the service does, without Web Crypto. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPageSigning, macOf } from '../../renderer/console/api/client.ts';
import { signRequest as signByNode } from '../../service/auth/sign.ts';

const signing = createPageSigning();
const host = fc.constantFrom('192.168.1.20:8080', 'Box.local', '[fd00::2]:80');
const text = fc.string({ unit: 'binary' });

test('every request gets the headers that the service makes of it', () => {
  fc.assert(
    fc.property(text, host, text, fc.nat(), (secret, to, body, ms) => {
      const parts = { method: 'PUT', host: to, target: '/console/api/content?a=%20b', nonce: 'n'.repeat(16) };
      const now = 1_700_000_000_000 + ms;
      const headers = signing.signRequest({ secret, body, now, ...parts });
      expect(headers).toEqual(signByNode({ secret, body, now, ...parts }));
      expect(Object.values(headers)[1]).toContain(`;mac=${macOf(headers)}`);
    }),
    { numRuns: 50 },
  );
});
