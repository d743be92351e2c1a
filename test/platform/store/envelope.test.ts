import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seal, unseal } from '../../../service/platform/store/adapter.ts';

const savedAt = Date.UTC(2026, 0, 31, 8);

test('what is sealed comes back', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 1 }), (body, seq) => {
      expect(unseal(seal(body, seq, savedAt))).toEqual({ format: 1, seq, body: JSON.parse(JSON.stringify(body)) });
    }),
  );
});

test('the body cannot change unnoticed', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (one, other) => {
      fc.pre(one !== other);
      const forged = JSON.stringify({ ...JSON.parse(seal([one], 1, savedAt).toString()), body: [other] });
      expect(() => unseal(Buffer.from(forged))).toThrow('checksum');
    }),
  );
});

test('a file that was reformatted by hand is still good', () => {
  const pretty = JSON.stringify(JSON.parse(seal({ a: [1] }, 3, savedAt).toString()), null, 2);
  expect(unseal(Buffer.from(pretty))).toEqual({ format: 1, seq: 3, body: { a: [1] } });
});
