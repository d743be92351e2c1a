/** People with keys of their own: who they are, what they may do, and which keys count. */
import { hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { countingSigner, isJoinProof, isPersonKey, type Keyring, type KnownKey, keyIdOf } from '../auth/person-keys.ts';
import type { SiteAuthority } from '../authority/index.ts';
import {
  invitationMs,
  type JoinRequest,
  type KeyRequest,
  mostKeys,
  mostPeopleEver,
  mostRemovedKeys,
  type PersonRequest,
} from '../contract/console/people.ts';
import { CodedError } from '../contract/errors.ts';
import {
  type DisablingRecord,
  disablingRecord,
  type InvitationRecord,
  invitationRecord,
  type KeyRecord,
  keyRecord,
  type PersonRecord,
  personRecord,
} from '../contract/people-records.ts';
import type { Role } from '../contract/roles.ts';
import type { Author } from '../contract/terms.ts';
import { createEmitter } from '../domain/emitter.ts';
import { joinInfo } from '../domain/joining.ts';
import { laterThan, newest } from '../domain/merge.ts';
import { type SiteTime, unconfirmed } from '../domain/time.ts';
import type { Module, ServiceContext } from '../module.ts';
import { createQueue } from '../platform/queue.ts';
import type { Shared } from '../shared/index.ts';
import { openEndings } from './endings.ts';
import { createKeyWatches } from './key-watches.ts';
import { mergeDisabling, mergeInvitation, mergeKey } from './records.ts';
import { openUses } from './uses.ts';
import {
  checkLastAdmin,
  checkRoomForPeople,
  endedSince,
  hasAdminJoined,
  mayInvite,
  type PeopleRecords,
  type PeopleView,
  type PersonView,
  removalsOf,
  signInsToEnd,
  spellEnding,
  viewOf,
} from './view.ts';

export type { PersonView } from './view.ts';
export type People = Awaited<ReturnType<typeof createPeople>>;

const DAY_MS = 86_400_000;
const MAX_KEYS = 2 * mostPeopleEver * mostKeys;
const MAX_DISABLINGS = 100_000;
const CODE_BYTES = 16;
/** For how long a key of a sign-in counts. */
const SIGN_IN_MS = 12 * 3_600_000;
/** For how long an admin who was made at a box stands in /healthz. */
const RECOVERED_MS = 7 * DAY_MS;
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

interface Dependencies {
  shared: Pick<Shared, 'open'>;
  authority: Pick<SiteAuthority, 'shown'>;
}

interface NewKey {
  person: string;
  public_key: string;
  device: string;
  via: string;
  role: string;
  by: Author | null;
  address: string;
  invitation: string | null;
  ends_at: string | null;
}

/** 26 characters of base32 (RFC 4648) for 128 bits. */
const newCode = (): string => {
  const bits = [...randomBytes(CODE_BYTES)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.padEnd(130, '0').match(/.{5}/g) ?? []).map((five) => base32[Number.parseInt(five, 2)]).join('');
};

/** The key of the proof. @param code as it is written */
const proofKeyOf = (code: string): Buffer => Buffer.from(hkdfSync('sha256', code, new Uint8Array(), joinInfo, 32));

export const createPeople = async (context: ServiceContext, { shared, authority }: Dependencies) => {
  const { options, now, tempo } = context;
  const people = await shared.open<PersonRecord>({
    name: 'people',
    schema: personRecord,
    merge: newest,
    most: mostPeopleEver,
    protection: 'secret',
  });
  const keys = await shared.open<KeyRecord>({
    name: 'keys',
    schema: keyRecord,
    merge: mergeKey,
    most: MAX_KEYS,
    protection: 'secret',
    isOver: ({ ends_at }, at) => ends_at !== null && Date.parse(ends_at) + DAY_MS < at,
    endsByAnyClock: true,
  });
  const disablings = await shared.open<DisablingRecord>({
    name: 'disablings',
    schema: disablingRecord,
    merge: mergeDisabling,
    most: MAX_DISABLINGS,
    protection: 'secret',
  });
  const invitations = await shared.open<InvitationRecord>({
    name: 'invitations',
    schema: invitationRecord,
    merge: mergeInvitation,
    most: mostPeopleEver,
    protection: 'sealed',
    isOver: ({ expires_at }, at) => Date.parse(expires_at) < at,
    endsByAnyClock: true,
    isEmptied: ({ used }) => used,
  });
  const uses = await openUses(context);
  let siteTime: SiteTime = unconfirmed(now);
  const endings = await openEndings(context, { keys, invitations, siteTime: () => siteTime });
  const enqueue = createQueue();
  const changes = createEmitter();
  let timer: NodeJS.Timeout | undefined;

  const records = (): PeopleRecords => ({ people: people.list(), keys: keys.list(), disablings: disablings.list() });
  const removed = () => removalsOf(records(), endings.hasEnded);
  let known: PeopleView | null = null;
  const view = (): PeopleView => (known ??= viewOf(records()));

  const find = (keyId: string): KnownKey | null => {
    const found = view().keys.get(keyId);
    if (found === undefined) return null;
    const { key, person } = found;
    const ending =
      found.ending ?? (endings.hasEnded(key) ? ({ at: key.ends_at, by: null, what: 'ended' } as const) : null);
    const role = person?.role ?? null;
    if (person === null || role === null || ending !== null) {
      const reason = ending === null ? 'Your role is one of a newer version; update this box.' : spellEnding(ending);
      return { publicKey: key.public_key, signer: null, reason };
    }
    const { id, name } = person.record;
    const { tags } = person;
    return { publicKey: key.public_key, signer: { keyId, id, name, role, tags }, reason: '' };
  };
  const live = createKeyWatches(find, tempo.people.end);
  const onChange = (): void => {
    known = null;
    live.check();
    changes.emit();
  };
  for (const set of [people, keys, disablings]) set.onChange(onChange);

  /** A person that is there. @throws CodedError `person_not_found` */
  const need = (id: string): PersonView => {
    const found = view().people.get(id);
    if (found === undefined) throw new CodedError('person_not_found');
    return found;
  };

  /** @throws CodedError `secret_required` without a secret */
  const checkSecret = (): void => {
    if (options.sharedSecret === null) throw new CodedError('secret_required');
  };

  const iso = (ms = now()): string => new Date(ms).toISOString();

  /**
   * @param ends when it shall end
   * @throws CodedError `invitation_invalid` for a key of another person, one that was removed, or one that ends at another time;
   *   `too_many_keys`
   */
  const checkKey = (person: PersonView, keyId: string, ends: string | null): void => {
    const found = view().keys.get(keyId);
    const isHeld = found?.key.person === person.record.id && found.ending === null && found.key.ends_at === ends;
    const isOwn = found === undefined || isHeld;
    if (!isOwn)
      throw new CodedError(
        'invitation_invalid',
        'This key was removed, ends with a sign-in, or is another person’s; make a new one.',
      );
    const isNew = found === undefined;
    const counted = person.keys.filter((key) => !endings.hasEnded(key));
    if (isNew && (counted.length >= mostKeys || person.removed >= mostRemovedKeys))
      throw new CodedError('too_many_keys');
  };

  const enable = async (id: string, by: Author | null): Promise<void> => {
    const open = disablings.list().filter(({ person, enabled }) => person === id && enabled === null);
    await disablings.put(...open.map((each) => ({ ...each, enabled: { at: iso(), by } })));
  };

  /** Ends the open ones that a person made, whose codes they may know; before what may fail. @param isAll also those for them */
  const endInvitations = async (id: string, isAll = true): Promise<void> => {
    const open = invitations.list().filter((each) => !each.used && (each.by?.id === id || (isAll && each.id === id)));
    await invitations.put(...open.map((each) => ({ ...each, used: true, key: '' })));
  };

  const addKey = async (key: NewKey): Promise<string> => {
    const id = keyIdOf(key.public_key);
    const device = key.device.trim();
    if (view().keys.get(id) === undefined) await keys.put({ ...key, device, id, added_at: iso(), removed: null });
    return id;
  };

  const keyring: Keyring = {
    find,
    noteUse: uses.note,
    isRequired: () => options.requirePeople && hasAdminJoined({ keys: keys.list() }, view()),
  };

  return {
    /** Null in the baseline variant, which has no people. */
    keyring: options.variant === 'baseline' ? null : keyring,
    watchKey: live.watch,
    states: {
      person: (id) => {
        const found = view().people.get(id);
        if (found === undefined) return null;
        const { name, role } = found.record;
        const { tags } = found;
        return { name, role, tags, disabled: found.disabled !== null, keys: found.keys.map(({ id: key }) => key) };
      },
    },
    checkSecret,
    /** In the order of their names, which is the same at all boxes. */
    list: (): PersonView[] =>
      [...view().people.values()].toSorted(
        ({ record: a }, { record: b }) => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1),
      ),
    get: (id: string): PersonView | null => view().people.get(id) ?? null,
    /** Admins who were made at a maintenance page lately. */
    health: () => {
      if (options.variant === 'baseline') return {};
      const since = iso(now() - RECOVERED_MS);
      const made = keys
        .list()
        .filter(({ via, added_at, removed }) => via === 'recovery' && removed === null && added_at > since);
      return {
        // Everybody reads /healthz: no name of a person stands in it.
        notes: made.map(({ by, added_at }) => `An admin joined at ${by?.name ?? 'a box'} on ${added_at.slice(0, 10)}.`),
      };
    },
    /** Whether somebody could sign in. */
    hasPeople: (): boolean => people.list().length > 0,
    /** Calls `listener` after people or keys changed, here or by another box. */
    onChange: changes.on,
    /** When keys were used at this box, ISO 8601, by id. */
    uses: uses.all,
    hasRemovals: (): boolean => removed().flat().length > 0,
    /** What was removed, as text: equal on boxes that know of the same removals. */
    removals: (): string => JSON.stringify(removed()),
    /** The root certificate of the site, PEM; null: there is none. */
    root: (): string | null => authority.shown()?.rootPem ?? null,

    /** Makes or changes a person. @throws CodedError `secret_required`, `too_many_people`, `last_admin`, `invalid_field` */
    put: (id: string, { name, role, tags = [], disabled }: PersonRequest, by: Author | null, isNewOnly = false) =>
      enqueue(async () => {
        checkSecret();
        if (role === 'admin' && tags.length > 0) {
          throw new CodedError('invalid_field', 'tags is not valid: an admin acts on the whole site.', {
            field: 'tags',
          });
        }
        const before = view().people.get(id);
        if (isNewOnly && before !== undefined)
          throw new CodedError('precondition_failed', 'There is a person of this id already.');
        const isEnabling = disabled === false && before?.disabled != null;
        if (before === undefined || isEnabling) checkRoomForPeople(view(), before === undefined);
        checkLastAdmin(view(), id, { role });
        if (before?.role === 'admin' && role !== 'admin') await endInvitations(id, false);
        const old = before?.record;
        await people.put({
          ...old,
          id,
          name,
          role,
          tags: [...new Set(tags)],
          created_at: old?.created_at ?? iso(),
          updated_at: laterThan(old?.updated_at, siteTime.timeOfDay()),
        });
        if (isEnabling) await enable(id, by);
        return { person: need(id), isNew: before === undefined };
      }),

    /** @throws CodedError `secret_required`, `person_not_found`, `last_admin` */
    disable: (id: string, by: Author | null): Promise<void> =>
      enqueue(async () => {
        checkSecret();
        if (need(id).disabled === null) {
          checkLastAdmin(view(), id, { disabled: { at: iso(), by } });
          await disablings.put({ id: randomUUID(), person: id, at: iso(), by, enabled: null });
        }
        // One that is open would count again once they are enabled. An attempt before may have failed here.
        await endInvitations(id);
      }),

    /** @throws CodedError `secret_required`, `person_not_found`, `key_not_found`, `last_admin` */
    removeKey: (id: string, keyId: string, by: Author | null, isSigner: boolean): Promise<void> =>
      enqueue(async () => {
        checkSecret();
        const person = need(id);
        const key = person.keys.find((each) => each.id === keyId);
        if (key === undefined) throw new CodedError('key_not_found');
        checkLastAdmin(view(), id, { keys: person.keys.filter((each) => each !== key) });
        // Who leaves a browser keeps what they have sent.
        if (!isSigner) await endInvitations(id, false);
        await keys.put({ ...key, removed: { at: iso(), by } });
      }),

    /**
     * Adds a further key of a person, which ends when the one does that they have signed with.
     * @throws CodedError `key_unknown` where that one counts no more
     */
    addKey: ({ id, keyId }: { id: string; keyId: string }, { public_key, device }: KeyRequest, address: string) =>
      enqueue(async () => {
        checkSecret();
        // It may have been removed while this waited.
        countingSigner(find(keyId));
        const person = need(id);
        if (!isPersonKey(public_key)) throw weakKey();
        const { via: first, ends_at } = view().keys.get(keyId)?.key ?? { via: 'key', ends_at: null };
        checkKey(person, keyIdOf(public_key), ends_at);
        const via = first === 'recovery' ? 'key' : first;
        const by = { id, name: person.record.name };
        const role = person.record.role;
        return addKey({ person: id, public_key, device, via, role, by, address, invitation: null, ends_at });
      }),

    /**
     * Makes the invitation of a person, which ends the one before.
     * @param ms for how long it counts; `via`: `recovery` at the maintenance page
     * @throws CodedError `secret_required`, `person_not_found`, `invalid_field` if the person is disabled
     */
    invite: (
      id: string,
      by: Author | null,
      { ms = invitationMs, via = 'invitation' } = {},
    ): Promise<{ code: string; expires_at: string }> =>
      enqueue(async () => {
        checkSecret();
        if (need(id).disabled !== null) {
          throw new CodedError('invalid_field', 'id is not valid: the person is disabled; enable them first.', {
            field: 'id',
          });
        }
        const code = newCode();
        const expires_at = iso(now() + ms);
        await invitations.put({
          id,
          updated_at: laterThan(invitations.get(id)?.updated_at, siteTime.timeOfDay()),
          number: randomUUID(),
          key: proofKeyOf(code).toString('base64url'),
          expires_at,
          by,
          via,
          used: false,
        });
        return { code, expires_at };
      }),

    /**
     * Judges the proof of an invitation. @returns the key of the proof; null: there is no such invitation, or the proof is wrong
     */
    checkProof: (request: JoinRequest): Buffer | null => {
      const invitation = invitations.get(request.person);
      const isOpen = invitation !== undefined && endings.isOpen(invitation);
      // A person without an invitation takes as long.
      const key = isOpen ? Buffer.from(invitation.key, 'base64url') : randomBytes(32);
      return isJoinProof(key, request) && isOpen ? key : null;
    },

    /**
     * Adds the key of a person who has proven to know the code of their invitation, which is used then.
     * @throws CodedError `secret_required`, `invitation_invalid`, `too_many_keys`, `invalid_field`
     */
    join: ({ person: id, public_key, device }: JoinRequest, proofKey: Buffer, address: string) =>
      enqueue(async () => {
        checkSecret();
        const invitation = invitations.get(id);
        const person = view().people.get(id);
        // Of two who have the code the first one joins.
        const isOpen =
          invitation !== undefined && !invitation.used && invitation.key === proofKey.toString('base64url');
        if (person === undefined || person.disabled !== null || !isOpen || !mayInvite(view(), invitation.by))
          throw new CodedError('invitation_invalid');
        if (!isPersonKey(public_key)) throw weakKey();
        checkKey(person, keyIdOf(public_key), null);
        await invitations.put({ ...invitation, used: true, key: '' });
        const { by, number } = invitation;
        const { role } = person.record;
        const rest = { via: invitation.via ?? 'invitation', role, by, address, invitation: number, ends_at: null };
        const key = await addKey({ person: id, public_key, device, ...rest });
        return { key, person: need(id) };
      }),

    /**
     * Adds the key of a person whom the provider of the single sign-on has named; it counts for twelve hours.
     * @param person as the provider tells them now, with the hash of the token, which is taken once by all boxes; tags are
     *   those that an admin gave
     * @throws CodedError `secret_required`, `invitation_invalid`, `key_unknown` for a disabled person, `too_many_keys`,
     *   `too_many_people`, `last_admin`
     */
    signIn: (
      { id, name, role, token }: { id: string; name: string; role: Role; token: string },
      { public_key, device }: KeyRequest,
      address: string,
    ) =>
      enqueue(async () => {
        checkSecret();
        // The key that a token was taken for is kept for longer than any token counts.
        if (keys.list().some(({ invitation }) => invitation === token))
          throw new CodedError('invitation_invalid', 'The token was used before.');
        const before = view().people.get(id);
        if (before?.disabled != null)
          throw new CodedError('key_unknown', spellEnding({ ...before.disabled, what: 'disabled' }));
        if (before === undefined) checkRoomForPeople(view(), true);
        if (!isPersonKey(public_key)) throw weakKey();
        if (view().keys.has(keyIdOf(public_key)))
          throw new CodedError('invitation_invalid', 'Each sign-in needs a new key.');
        const over = signInsToEnd(before?.keys.filter((key) => !endings.hasEnded(key)) ?? []);
        if (before !== undefined) {
          const kept = before.keys.filter((key) => !over.includes(key));
          checkKey({ ...before, keys: kept }, keyIdOf(public_key), null);
        }
        checkLastAdmin(view(), id, { role });
        if (before?.role === 'admin' && role !== 'admin') await endInvitations(id, false);
        const old = before?.record;
        await people.put({
          ...old,
          id,
          name,
          role,
          // Those of one who is an admin for now count again afterwards.
          tags: old?.tags ?? [],
          created_at: old?.created_at ?? iso(),
          updated_at: laterThan(old?.updated_at, siteTime.timeOfDay()),
        });
        const ends_at = iso(siteTime.now() + SIGN_IN_MS);
        await keys.put(...over.map((each) => ({ ...each, removed: { at: iso(), by: null } })));
        const rest = { via: 'sign-in', role, by: null, address, invitation: token, ends_at };
        const key = await addKey({ person: id, public_key, device, ...rest });
        return { key, person: need(id) };
      }),

    /** Called once, by the clock of the site. */
    followClock: (clock: SiteTime): void => {
      siteTime = clock;
    },

    /** The records for a backup; no invitation. */
    records,
    /**
     * Adds people and keys of a backup that are not known. It enables nobody, and brings no key back.
     * @returns sentences about what was left out
     */
    restore: (backup: PeopleRecords): Promise<string[]> =>
      enqueue(async () => {
        const before = view();
        const then = viewOf(backup);
        const leftOut = endedSince(backup, then, before);
        const added = backup.keys.filter(({ id }) => !keys.has(id));
        // The person with this id here may be somebody else, and enabled.
        const isEnded = ({ id, person }: KeyRecord): boolean =>
          before.people.has(person) && then.keys.get(id)?.ending?.what === 'disabled';
        // In this order nobody counts for a moment who was disabled, nor for good after a power cut.
        await disablings.put(
          ...backup.disablings.filter(({ id, person }) => !disablings.has(id) && !before.people.has(person)),
        );
        await keys.put(...added.filter((key) => !isEnded(key)));
        await people.put(...backup.people.filter(({ id }) => !people.has(id)));
        return leftOut;
      }),

    start: (): void => {
      timer = setInterval(() => {
        endings.look();
        live.check();
      }, tempo.people.poll).unref();
    },
    close: async (): Promise<void> => {
      clearInterval(timer);
      live.close();
      await uses.store();
    },
  } satisfies Module & Record<string, unknown>;
};

const weakKey = (): CodedError =>
  new CodedError('invalid_field', 'public_key is not valid: anybody could sign with such a key; make another one.', {
    field: 'public_key',
  });
