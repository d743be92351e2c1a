/** What the records of people mean: who there is, which keys count, and what may not be changed. Pure. */
import { mostKeys, mostPeople, mostPeopleEver } from '../contract/console/people.ts';
import { CodedError } from '../contract/errors.ts';
import type { DisablingRecord, KeyRecord, PersonRecord } from '../contract/people-records.ts';
import { isRole, type Role } from '../contract/roles.ts';
import type { Author } from '../contract/terms.ts';
import { groupBy } from '../domain/collections.ts';
import { order } from '../domain/merge.ts';

/** All records of people that a box has. */
export interface PeopleRecords {
  people: readonly PersonRecord[];
  keys: readonly KeyRecord[];
  disablings: readonly DisablingRecord[];
}

/** Why a key does not count any more. */
export interface Ending {
  at: string | null;
  by: Author | null;
  what: 'removed' | 'disabled' | 'ended';
}

export interface PersonView {
  record: PersonRecord;
  /** Null: a role of a newer version, which counts for nothing here. */
  role: Role | null;
  /** Empty for an admin, who acts on the whole site; the record keeps earlier tags. */
  tags: string[];
  /** Null: the person is not disabled. */
  disabled: { at: string; by: Author | null } | null;
  /** Those that were not removed, the oldest first; of a disabled person none counts. */
  keys: KeyRecord[];
  /** How many were removed. */
  removed: number;
}

export interface PeopleView {
  people: ReadonlyMap<string, PersonView>;
  /** Every key that there ever was, and why it does not count; `ending` null: it does, until its `ends_at`. */
  keys: ReadonlyMap<string, { key: KeyRecord; person: PersonView | null; ending: Ending | null }>;
}

/** Of one invitation that was used on two boxes the smaller key stays. */
const losersOf = (keys: readonly KeyRecord[]): Set<string> => {
  const losers = new Set<string>();
  for (const group of groupBy(keys, ({ invitation }) => invitation).values()) {
    const ids = group.map(({ id }) => id).toSorted();
    for (const id of ids.slice(1)) losers.add(id);
  }
  return losers;
};

const endingOf = (key: KeyRecord, person: PersonView | null, losers: ReadonlySet<string>): Ending | null => {
  if (key.removed !== null) return { ...key.removed, what: 'removed' };
  if (losers.has(key.id)) return { at: null, by: null, what: 'removed' };
  if (person === null) return { at: null, by: null, what: 'removed' };
  return person.disabled === null ? null : { ...person.disabled, what: 'disabled' };
};

/**
 * The sign-in keys to remove so that the person may have one more, those that end first. Browsers without storage leave theirs.
 * @param counted valid keys of one person
 */
export const signInsToEnd = (counted: readonly KeyRecord[]): KeyRecord[] => {
  const signIns = counted.filter(({ ends_at }) => ends_at !== null);
  const ordered = signIns.toSorted((a, b) => order(a.ends_at ?? '', b.ends_at ?? ''));
  return ordered.slice(0, Math.max(0, counted.length - mostKeys + 1));
};

/** A sentence for who signs with such a key. */
export const spellEnding = ({ what, by }: Ending): string => {
  const whom = by === null ? '' : ` by ${by.name}`;
  if (what === 'removed') return `This key was removed${whom}.`;
  return what === 'disabled' ? `You were disabled${whom}.` : 'Your sign-in has ended; sign in again.';
};

export const viewOf = ({ people, keys, disablings }: PeopleRecords): PeopleView => {
  const losers = losersOf(keys);
  const byPerson = groupBy(keys, ({ person }) => person);
  const open = groupBy(
    disablings.filter(({ enabled }) => enabled === null),
    ({ person }) => person,
  );
  const views = new Map(
    people.map((record): [string, PersonView] => {
      const own = byPerson.get(record.id) ?? [];
      const kept = own.filter(({ id, removed }) => removed === null && !losers.has(id));
      const [disabling] = (open.get(record.id) ?? []).toSorted((a, b) => (a.at < b.at ? -1 : 1));
      return [
        record.id,
        {
          record,
          role: isRole(record.role) ? record.role : null,
          tags: record.role === 'admin' ? [] : record.tags,
          disabled: disabling === undefined ? null : { at: disabling.at, by: disabling.by },
          keys: kept.toSorted((a, b) =>
            a.added_at === b.added_at ? (a.id < b.id ? -1 : 1) : a.added_at < b.added_at ? -1 : 1,
          ),
          removed: own.length - kept.length,
        },
      ];
    }),
  );
  return {
    people: views,
    keys: new Map(
      keys.map((key) => {
        const person = views.get(key.person) ?? null;
        return [key.id, { key, person, ending: endingOf(key, person, losers) }];
      }),
    ),
  };
};

/** Sentences about the people and keys of a backup that were disabled and removed after it. */
export const endedSince = ({ people, keys }: PeopleRecords, then: PeopleView, now: PeopleView): string[] => {
  const sentences = people
    .filter(({ id }) => now.people.get(id)?.disabled != null && then.people.get(id)?.disabled == null)
    .map(({ name }) => `${name} was disabled after the backup, and stays so.`);
  const removed = new Map<string, number>();
  for (const { id, person, removed: gone } of keys) {
    if (gone === null && now.keys.get(id)?.ending?.what === 'removed')
      removed.set(person, (removed.get(person) ?? 0) + 1);
  }
  for (const [id, count] of removed) {
    const [what, are, stay] = count === 1 ? ['key', 'was', 'stays'] : ['keys', 'were', 'stay'];
    const name = now.people.get(id)?.record.name ?? id;
    sentences.push(`${count} ${what} of ${name} ${are} removed after the backup, and ${stay} so.`);
  }
  return sentences;
};

/** Whether a key lasts until it is removed. */
const isLasting = ({ ends_at }: KeyRecord): boolean => ends_at === null;

const isAdmin = ({ role, disabled, keys }: PersonView): boolean =>
  role === 'admin' && disabled === null && keys.some(isLasting);

/**
 * Refuses a change after which no admin has a key from an invitation, where there is one before it.
 * @param after what becomes of a person; null: nothing is left
 * @throws CodedError `last_admin`
 */
export const checkLastAdmin = (
  { people }: PeopleView,
  id: string,
  after: Partial<Pick<PersonView, 'role' | 'disabled' | 'keys'>>,
): void => {
  const person = people.get(id);
  if (person === undefined || !isAdmin(person) || isAdmin({ ...person, ...after })) return;
  const others = [...people.values()].some((other) => other.record.id !== id && isAdmin(other));
  if (!others) throw new CodedError('last_admin');
};

/**
 * Whether invitations of an author count still. Another box may have made one before it heard that the person is no admin.
 * @param by `id` null: no person, but the secret
 */
export const mayInvite = ({ people }: PeopleView, by: Author | null): boolean => {
  if (by === null || by.id === null) return true;
  const maker = people.get(by.id);
  return maker?.role === 'admin' && maker.disabled === null;
};

/** @throws CodedError `too_many_people` if one more cannot be made, or enabled */
export const checkRoomForPeople = ({ people }: PeopleView, isNew: boolean): void => {
  const active = [...people.values()].filter(({ disabled }) => disabled === null).length;
  if (active >= mostPeople || (isNew && people.size >= mostPeopleEver)) throw new CodedError('too_many_people');
};

const isInvited = ({ via }: KeyRecord): boolean => via === 'invitation' || via === 'recovery';

/**
 * Whether somebody has ever joined by invitation as an admin, or is one by now: from then on the secret is for boxes, where
 * the setting says so. It stays, because the last admin with a key cannot be lowered.
 */
export const hasAdminJoined = ({ keys }: Pick<PeopleRecords, 'keys'>, { people }: PeopleView): boolean =>
  keys.some((key) => key.role === 'admin' && isInvited(key)) ||
  [...people.values()].some((person) => person.role === 'admin' && person.keys.some(isInvited));

/**
 * The ids of removed keys, and of disablings with whether they were enabled. Keys that have ended are left out: boxes drop
 * them at different times, and do not exchange them.
 */
export const removalsOf = (
  { keys, disablings }: PeopleRecords,
  hasEnded: (key: KeyRecord) => boolean,
): [keys: string[], disablings: string[]] => [
  keys.flatMap((key) => (key.removed === null || hasEnded(key) ? [] : key.id)).toSorted(),
  disablings.map(({ id, enabled }) => `${id} ${enabled !== null}`).toSorted(),
];
