/** Boxes agree on what was deleted, in whatever order they hear of it, and forget it after 400 days. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type MediaDeletion, mostDeletions } from '../../service/contract/peers.ts';
import { type Deletions, newDeletions, pruneDeletions } from '../../service/domain/deletions.ts';
import { longestAbsenceMs } from '../../service/domain/time.ts';

const noon = Date.UTC(2026, 5, 1, 12);
const DAY = 86_400_000;

const deletion = (name: string, at: number, sha256: string | null = null): MediaDeletion => ({
  name,
  deletedAt: new Date(at).toISOString(),
  sha256,
});
const known = (...records: MediaDeletion[]): Deletions => new Map(records.map((each) => [each.name, each]));

const merge = (own: Deletions, theirs: readonly MediaDeletion[], now: number): Deletions =>
  pruneDeletions(new Map([...own, ...newDeletions(own, theirs, now).map((each) => [each.name, each] as const)]), now);

test('boxes that hear of the same deletions in any order, more than once, hold the same', () => {
  const record = fc
    .record({
      name: fc.constantFrom('a', 'b', '__proto__'),
      at: fc.integer({ min: noon - 500 * DAY, max: noon }),
      sha256: fc.constantFrom(null, '0'.repeat(64), 'f'.repeat(64)),
    })
    .map(({ name, at, sha256 }) => deletion(name, at, sha256));
  fc.assert(
    fc.property(fc.array(record, { maxLength: 12 }), fc.array(fc.nat(11), { maxLength: 12 }), (records, again) => {
      const repeated = [...records, ...again.flatMap((index) => records[index] ?? [])];
      const one = records.reduce((own, each) => merge(own, [each], noon), known());
      const other = repeated.toReversed().reduce((own, each) => merge(own, [each], noon), known());
      expect(new Map([...other].toSorted())).toEqual(new Map([...one].toSorted()));
    }),
  );
});

test.each([
  ['within 400 days', noon + longestAbsenceMs - 1, 1],
  ['after them', noon + longestAbsenceMs, 0],
  ['never by a clock that was not set', 0, 1],
])('a deletion is known %s', (_, now, count) => {
  const own = known(deletion('a', noon));
  expect(pruneDeletions(own, now).size).toBe(count);
  expect(newDeletions(known(), [...own.values()], now)).toHaveLength(count);
});

test('a deletion counts however old it is while its file is still here', () => {
  const old = deletion('a', noon);
  const now = noon + longestAbsenceMs;
  expect(newDeletions(known(), [old], now, ({ name }) => name === 'a')).toEqual([old]);
  expect(newDeletions(known(), [old], now, ({ name }) => name === 'b')).toEqual([]);
  expect(pruneDeletions(known(old), now, new Set(['a'])).size).toBe(1);
});

test('of a deletion and a renaming at the same time the renaming counts, at every box', () => {
  const deleted = deletion('a', noon, 'f'.repeat(64));
  const [one, two] = ['b', 'c'].map((to) => ({ ...deleted, renamed: { to, modifiedAt: deleted.deletedAt } }));
  const all = [deleted, two, one] as MediaDeletion[];
  for (const order of [all, all.toReversed()]) {
    expect(order.reduce((own, each) => merge(own, [each], noon), known()).get('a')).toEqual(two);
  }
});

test('a deletion at a time that no clock can pass is refused', () => {
  expect(newDeletions(known(), [deletion('a', Date.UTC(9999, 0))], noon)).toEqual([]);
});

test('of too many deletions the oldest are forgotten', () => {
  const many = Array.from({ length: mostDeletions + 5 }, (_, index) => deletion(`file ${index}`, noon + index));
  const kept = pruneDeletions(known(...many), noon + DAY);
  expect(kept.size).toBe(mostDeletions);
  expect([kept.has('file 4'), kept.has('file 5')]).toEqual([false, true]);
});
