/** However records of people travel, all boxes come to the same ones, and nobody comes back who was removed. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type {
  DisablingRecord,
  InvitationRecord,
  KeyRecord,
  PersonRecord,
} from '../../service/contract/people-records.ts';
import { canonical } from '../../service/domain/canonical.ts';
import { newest } from '../../service/domain/merge.ts';
import { mergeDisabling, mergeInvitation, mergeKey } from '../../service/people/records.ts';
import { checkLastAdmin, checkRoomForPeople, mayInvite, removalsOf, viewOf } from '../../service/people/view.ts';

/** Clocks that are years off. */
const instant = fc.integer({ min: 0, max: 60 }).map((year) => `${1990 + year}-01-01T00:00:00.000Z`);
const by = fc.constantFrom(null, { id: 'anna', name: 'Anna' }, { id: 'bert', name: 'Bert' });
const mark = fc.option(fc.record({ at: instant, by }), { nil: null });

const person: fc.Arbitrary<PersonRecord> = fc.record({
  id: fc.constant('maria'),
  name: fc.constantFrom('Maria', 'Marie'),
  role: fc.constantFrom('viewer', 'admin', 'a role of the future'),
  tags: fc.constantFrom([], ['lobby']),
  created_at: instant,
  updated_at: instant,
});
const key: fc.Arbitrary<KeyRecord> = fc.record({
  id: fc.constant('k'),
  person: fc.constantFrom('maria', 'eve'),
  public_key: fc.constant('K'),
  device: fc.constantFrom('phone', 'laptop'),
  added_at: instant,
  via: fc.constant('invitation'),
  role: fc.constant('editor'),
  by,
  address: fc.constant(null),
  invitation: fc.constantFrom(null, 'one'),
  ends_at: fc.constant(null),
  removed: mark,
});
const disabling: fc.Arbitrary<DisablingRecord> = fc.record({
  id: fc.constant('d'),
  person: fc.constant('maria'),
  at: instant,
  by,
  enabled: mark,
});
const invitation: fc.Arbitrary<InvitationRecord> = fc.record({
  id: fc.constant('maria'),
  updated_at: instant,
  number: fc.constantFrom('one', 'two'),
  key: fc.constantFrom('', 'K', 'L'),
  expires_at: instant,
  by,
  used: fc.boolean(),
});

const laws = <T>(merge: (a: T, b: T) => T, records: fc.Arbitrary<T>): void => {
  const same = (a: T, b: T): void => expect(canonical(a)).toBe(canonical(b));
  fc.assert(
    fc.property(records, records, records, (a, b, c) => {
      same(merge(a, b), merge(b, a));
      same(merge(merge(a, b), c), merge(a, merge(b, c)));
      same(merge(merge(a, b), b), merge(a, b));
    }),
    { numRuns: 500 },
  );
};

describe('merging is commutative, associative and idempotent', () => {
  test('of people', () => laws(newest, person));
  test('of keys', () => laws(mergeKey, key));
  test('of disablings', () => laws(mergeDisabling, disabling));
  test('of invitations', () =>
    laws(
      mergeInvitation,
      // What was used holds no key any more.
      invitation.map((each) => (each.used ? { ...each, key: '' } : each)),
    ));
});

const bare = { created_at: '', updated_at: '', name: '', tags: [] };
const keyOf = (id: string, more: Partial<KeyRecord> = {}): KeyRecord => ({
  ...{ id, person: 'a', public_key: id, device: '', added_at: '', via: 'invitation', role: 'admin', by: null },
  ...{ address: null, invitation: id, ends_at: null, removed: null },
  ...more,
});

test('a removed key stays removed, whichever record comes last and whatever its clock says', () => {
  fc.assert(
    fc.property(fc.array(key, { minLength: 1, maxLength: 6 }), (records) => {
      const merged = records.reduce(mergeKey);
      expect(merged.removed === null).toBe(records.every(({ removed }) => removed === null));
    }),
  );
});

test('two admins who remove each other are both disabled, until somebody enables them', () => {
  const people = ['a', 'b'].map((id) => ({ ...bare, id, role: 'admin' }));
  const disablings = ['a', 'b'].map((id) => ({ id: `of ${id}`, person: id, at: '', by: null, enabled: null }));
  const keys = [keyOf('1', { person: 'a' }), keyOf('2', { person: 'b' })];
  const view = viewOf({ people, keys, disablings });
  expect([...view.people.values()].every(({ disabled }) => disabled !== null)).toBe(true);
  expect([...view.keys.values()].every(({ ending }) => ending?.what === 'disabled')).toBe(true);
  const enabled = disablings.map((each) => ({ ...each, enabled: { at: '', by: null } }));
  expect(viewOf({ people, keys, disablings: enabled }).people.get('a')?.disabled).toBeNull();
  // A disabling that the enabling did not name still counts.
  const more = [...enabled, { id: 'later', person: 'a', at: '', by: null, enabled: null }];
  expect(viewOf({ people, keys, disablings: more }).people.get('a')?.disabled).not.toBeNull();
});

test('an invitation that another box made counts while its maker is an admin, and always by the secret', () => {
  const roles = { anna: 'admin', bert: 'admin', eve: 'viewer' };
  const people = Object.entries(roles).map(([id, role]) => ({ ...bare, id, role }));
  const view = viewOf({ people, keys: [], disablings: [{ id: 'd', person: 'bert', at: '', by: null, enabled: null }] });
  const counting = [null, 'anna', 'bert', 'eve', 'nobody'].filter((id) => mayInvite(view, { id, name: 'N' }));
  expect(counting).toEqual([null, 'anna']);
  expect(mayInvite(view, null)).toBe(true);
});

test('of one invitation that was used on two boxes the smaller key stays, even if it is removed later', () => {
  const people = [{ ...bare, id: 'a', role: 'viewer' }];
  const keys = [keyOf('2', { invitation: 'one' }), keyOf('1', { invitation: 'one' }), keyOf('3')];
  const idsOf = (records: KeyRecord[]) =>
    viewOf({ people, keys: records, disablings: [] })
      .people.get('a')
      ?.keys.map(({ id }) => id);
  expect(idsOf(keys)).toEqual(['1', '3']);
  expect(idsOf(keys.toReversed())).toEqual(['1', '3']);
  expect(idsOf(keys.map((each) => (each.id === '1' ? { ...each, removed: { at: '', by: null } } : each)))).toEqual([
    '3',
  ]);
});

test('a key of a sign-in makes nobody the last admin', () => {
  const people = ['a', 'b'].map((id) => ({ ...bare, id, role: 'admin' }));
  const keys = [keyOf('1'), keyOf('2', { person: 'b', ends_at: '2026-01-01T00:00:00.000Z' })];
  const view = viewOf({ people, keys, disablings: [] });
  expect(() => checkLastAdmin(view, 'a', { role: 'editor' })).toThrow('last admin');
  expect(() => checkLastAdmin(view, 'b', { role: 'editor' })).not.toThrow();
});

test('a thousand people may sign in, and there are ten thousand in all', () => {
  const people = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...bare, id: String(index), role: 'viewer' }));
  const disablingOf = (id: string) => ({ id, person: id, at: '', by: null, enabled: null });
  const viewWith = (count: number, disabled: number) =>
    viewOf({ people: people(count), keys: [], disablings: people(disabled).map(({ id }) => disablingOf(id)) });
  expect(() => checkRoomForPeople(viewWith(999, 0), true)).not.toThrow();
  expect(() => checkRoomForPeople(viewWith(1_000, 0), true)).toThrow('1,000');
  expect(() => checkRoomForPeople(viewWith(1_000, 1), true)).not.toThrow();
  expect(() => checkRoomForPeople(viewWith(10_000, 9_500), true)).toThrow('1,000');
  // Who is enabled is there already.
  expect(() => checkRoomForPeople(viewWith(10_000, 9_500), false)).not.toThrow();
});

test('a removed key that has ended since is no removal that another box has to hear of', () => {
  const removed = { at: '', by: null };
  const keys = [keyOf('2', { removed }), keyOf('1', { removed, ends_at: 'past' }), keyOf('3')];
  const records = { people: [], keys, disablings: [] };
  expect(removalsOf(records, ({ ends_at }) => ends_at === 'past')).toEqual([['2'], []]);
});
