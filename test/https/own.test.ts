/** When the kept certificate of a box serves. */
import { expect, test } from 'vitest';
import { namesOf, serves } from '../../service/https/own.ts';
import { makeCertificate } from '../../service/platform/x509.ts';

const DAY_MS = 86_400_000;
const from = Date.UTC(2026, 9, 1);
const names = namesOf({ machineName: 'hall', publicUrl: null, allowedHosts: [] }, {});
const life = { notBefore: from, notAfter: from + 90 * DAY_MS };

test('for two thirds of its life, and where the clock cannot date a better one', async () => {
  const root = { commonName: 'root', notBefore: from - 200 * DAY_MS, notAfter: from + 1_000 * DAY_MS };
  const issuer = await makeCertificate({ ...root, authority: { permitted: { networks: [], domains: [] } } });
  const leaf = await makeCertificate({ ...life, commonName: 'hall', names, issuer });
  const signed = { ...leaf, cert: leaf.cert + issuer.cert };
  const alone = await makeCertificate({ ...life, commonName: 'hall', names });
  const at = (now: number): boolean[] => [signed, alone].map((pair) => serves(pair, names, now));
  expect(at(from + 59 * DAY_MS)).toEqual([true, true]);
  expect(at(from + 61 * DAY_MS)).toEqual([false, false]);
  expect(at(from - DAY_MS)).toEqual([false, false]);
  // In 1970.
  expect(at(300_000)).toEqual([true, true]);
  expect(serves(alone, [...names, 'other'], 300_000)).toBe(false);
});
