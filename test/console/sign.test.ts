/** The console signs as the service does, without Web Crypto. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPageSigning } from '../../renderer/shared/page-signing.ts';
import { signRequest as signByNode } from '../../service/auth/sign.ts';
import { headerText } from '../../service/domain/request-signature.ts';

const signing = createPageSigning();
const host = fc.constantFrom('192.168.1.20:8080', 'Box.local', '[fd00::2]:80');
const text = fc.string({ unit: 'binary' });

test('every request gets the headers that the service makes of it', () => {
  fc.assert(
    fc.property(text, host, text, fc.nat(), (secret, to, body, ms) => {
      const headers = { 'x-signage-operator': headerText('Zoë'), 'If-Match': '"abc"' };
      const parts = { method: 'PUT', host: to, target: '/console/api/content?a=%20b', nonce: 'n'.repeat(16), headers };
      const now = 1_700_000_000_000 + ms;
      for (const recipient of [{}, { recipient: 'node-1' }]) {
        const signed = { secret, body, now, ...parts, ...recipient };
        expect(signing.signRequest(signed)).toEqual(signByNode(signed));
      }
    }),
    { numRuns: 50 },
  );
});
