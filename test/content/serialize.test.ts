/** Parts that screens share are serialized once, into the same text. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonOf, serializeSteps } from '../../service/content/serialize.ts';
import { atOnce } from '../../service/platform/slices.ts';

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

test('a long list that is serialized ahead, step by step, has the text of JSON.stringify', () => {
  const lists = fc.array(fc.object({ maxDepth: 1 }), { minLength: 490, maxLength: 510 });
  fc.assert(
    fc.property(lists, (list) => {
      const slides = [...list, ...list];
      atOnce(serializeSteps(list));
      atOnce(serializeSteps(slides));
      expect(jsonOf({ list, slides })).toBe(JSON.stringify({ list, slides }));
    }),
    { numRuns: 5 },
  );
});
