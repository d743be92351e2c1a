/** Parts that screens share are serialized once, into the same text. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { revisionOf, textOf } from '../../service/content/model.ts';

const record = fc.dictionary(
  fc.string(),
  fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.array(fc.object({ maxDepth: 2 }))),
);

test('the text is that of JSON.stringify, the first time and again', () => {
  fc.assert(
    fc.property(record, (each) => {
      const other = { first: 1, ...each };
      expect(textOf(each)).toBe(JSON.stringify(each));
      expect(textOf(other)).toBe(JSON.stringify(other));
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
