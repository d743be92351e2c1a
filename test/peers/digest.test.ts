/** Digests of buckets: equal for equal sets, and otherwise they name the buckets of what differs. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bucketDigests, bucketOf, differingBuckets } from '../../service/peers/digest.ts';

const COUNT = 16;
const sets = fc.dictionary(fc.string(), fc.string(), { maxKeys: 40 });
const digestsOf = (set: Record<string, string>) => bucketDigests(Object.entries(set), COUNT);

test('sets of equal records have equal digests in any order', () => {
  fc.assert(
    fc.property(sets, (set) => {
      const reversed = bucketDigests(Object.entries(set).toReversed(), COUNT);
      expect(reversed).toBe(digestsOf(set));
      expect(differingBuckets(reversed, digestsOf(set)).size).toBe(0);
    }),
  );
});

test('the buckets that differ are those of the records that differ', () => {
  fc.assert(
    fc.property(sets, sets, (one, other) => {
      const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
      const differing = keys.filter((key) => one[key] !== other[key]);
      const buckets = new Set(differing.map((key) => bucketOf(key, COUNT)));
      expect(differingBuckets(digestsOf(one), digestsOf(other))).toEqual(buckets);
    }),
  );
});
