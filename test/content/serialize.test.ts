/** Parts that screens share are serialized once, into the same text. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { piecesOf, revisionOf, serializeSteps } from '../../service/content/serialize.ts';
import { jsonPieces } from '../../service/platform/json-pieces.ts';
import { atOnce } from '../../service/platform/slices.ts';

const record = fc.dictionary(
  fc.string(),
  fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.array(fc.object({ maxDepth: 2 }))),
);

test('the text is that of JSON.stringify, the first time and again', () => {
  fc.assert(
    fc.property(record, (each) => {
      const other = { first: 1, ...each };
      expect(piecesOf(each).join('')).toBe(JSON.stringify(each));
      expect(piecesOf(other).join('')).toBe(JSON.stringify(other));
    }),
  );
});

test('equal records have equal revisions, others have others', () => {
  fc.assert(
    fc.property(record, record, (one, other) => {
      expect(revisionOf(structuredClone(one))).toBe(revisionOf(one));
      expect(revisionOf(other) === revisionOf(one)).toBe(JSON.stringify(other) === JSON.stringify(one));
    }),
  );
});

test('long lists and long texts have the text of JSON.stringify, in pieces', () => {
  const lists = fc.array(fc.object({ maxDepth: 1 }), { minLength: 190, maxLength: 210 });
  // Around the cut between two pieces.
  const texts = fc
    .tuple(fc.integer({ min: 65_530, max: 65_540 }), fc.string({ unit: 'binary', maxLength: 20 }))
    .map(([length, end]) => `${'"'.repeat(length)}${end}`);
  fc.assert(
    fc.property(lists, texts, (list, text) => {
      const value = { list, bodies: [null, { slides: [...list, undefined] }, { text }, 1], text, none: {}, empty: [] };
      const pieces = [...jsonPieces(value)];
      expect(pieces.join('')).toBe(JSON.stringify(value));
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(500_000);
      atOnce(serializeSteps(list));
      expect(piecesOf({ list, text }).join('')).toBe(JSON.stringify({ list, text }));
    }),
    { numRuns: 20 },
  );
});
