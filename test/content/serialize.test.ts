/** Parts that screens share are serialized once, into the same text. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonOf } from '../../service/content/serialize.ts';

test('the text is that of JSON.stringify, the first time and again', () => {
  const record = fc.dictionary(
    fc.string(),
    fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.array(fc.object({ maxDepth: 2 }))),
  );
  fc.assert(
    fc.property(record, (each) => {
      const other = { first: 1, ...each };
      expect(jsonOf(each)).toBe(JSON.stringify(each));
      expect(jsonOf(other)).toBe(JSON.stringify(other));
    }),
  );
});
