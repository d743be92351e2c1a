/** The records of drafts, and how boxes agree on them without losing what was typed. Pure. */
import { createHash } from 'node:crypto';
import { type DraftHead, type DraftRecord, draftHead, mostDraftRecords } from '../contract/console/drafts.ts';
import { canonical } from '../domain/canonical.ts';
import { perObject } from '../domain/collections.ts';
import { type EpochMs, longestAbsenceMs } from '../domain/time.ts';

type Counters = DraftHead['counters'];

/** Everything but the content. */
export const headOf = ({ content: _, ...head }: DraftRecord): DraftHead => head;

/** Whether this version can read a draft; others are stored and passed on alone. */
export const isReadable = perObject((head: DraftHead): boolean => draftHead.safeParse(head).success);

/** Adds the hash of a record: of all its fields, those of newer versions included. */
export const withEtag = (record: Omit<DraftRecord, 'etag'>): DraftRecord => {
  const { etag: _, ...rest } = record as DraftRecord;
  return { ...record, etag: createHash('sha256').update(canonical(rest)).digest('hex') };
};

/** Whether `a` has every save of `b`. */
const includes = (a: Counters, b: Counters): boolean =>
  Object.entries(b).every(([key, count]) => (a[key] ?? 0) >= count);

export const joined = (a: Counters, b: Counters): Counters => {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...keys].map((key) => [key, Math.max(a[key] ?? 0, b[key] ?? 0)]));
};

/** The next save of a box. */
export const advanced = (counters: Counters, nodeId: string): Counters => ({
  ...counters,
  [nodeId]: (counters[nodeId] ?? 0) + 1,
});

/** Whether a box that has `ours` lacks something of `theirs`. */
export const isNews = (ours: DraftHead | undefined, theirs: DraftHead): boolean => {
  if (ours === undefined) return true;
  // Equal counters with another content: two boxes that were started from one disk image.
  const isWhole = includes(ours.counters, theirs.counters) && !includes(theirs.counters, ours.counters);
  return ours.etag !== theirs.etag && !isWhole;
};

const mostRemovals = mostDraftRecords / 2;

const byAge = (a: DraftHead, b: DraftHead): number =>
  a.updated_at === b.updated_at ? (a.id < b.id ? 1 : -1) : a.updated_at < b.updated_at ? 1 : -1;

/**
 * The removals that are not kept: what is older than a box may be away, or than the newest. All boxes drop the same ones, so
 * that none gives another back what that one has dropped.
 * @param now by a reliable clock; null: there is none, so ages are unknown
 */
export const spentRemovals = (heads: Iterable<DraftHead>, now: EpochMs | null): DraftHead[] =>
  [...heads]
    .filter(({ removed }) => removed)
    .toSorted(byAge)
    .filter(
      ({ updated_at }, place) =>
        place >= mostRemovals || (now !== null && Date.parse(updated_at) + longestAbsenceMs < now),
    );

const numbered = (stem: string, number: number): string => {
  const end = `-${number}`;
  return stem.slice(0, 64 - end.length) + end;
};

/** The id of a copy: of `lunch` it is `lunch-2`. */
export const copyId = (id: string): string => numbered(id, 2);

/** The next id of a copy whose own is somebody else's: of `lunch-2` it is `lunch-3`. A longer number is part of the name. */
const nextId = (id: string): string => {
  const [, stem = id, number = '1'] = /^(.*)-(\d{1,4})$/.exec(id) ?? [];
  return numbered(stem, Number(number) + 1);
};

/** What a copy counts its one save by: the beginning of the hash of what it is a copy of, which is no node id. */
const copyKey = /^[0-9a-f]{16}$/;
/** Whether it is a copy that nobody has saved since. */
const isCopy = ({ counters }: DraftHead): boolean => Object.keys(counters).every((key) => copyKey.test(key));

const isLater = (a: DraftRecord, b: DraftRecord): boolean => {
  if (a.updated_at !== b.updated_at) return a.updated_at > b.updated_at;
  // The hash of a copy changes with its id, its key does not.
  const [one, other] =
    isCopy(a) && isCopy(b) ? [a, b].map(({ counters }) => Object.keys(counters).join()) : [a.etag, b.etag];
  return (one ?? '') > (other ?? '');
};

const saves = ({ title, base_sha256, content, state, note }: DraftRecord): string =>
  JSON.stringify([title, base_sha256, content, state, note]);

/** What becomes of two records of one id: the one that stays, and the older of two that were typed apart, or a copy that gives way. */
interface Settled {
  kept: DraftRecord;
  /** With an id of its own, which may be taken. */
  copy: DraftRecord | null;
}

/** Commutative: both boxes come to the same records. */
export const settle = (ours: DraftRecord, theirs: DraftRecord): Settled => {
  if (ours.etag === theirs.etag) return { kept: ours, copy: null };
  const isNewer = includes(ours.counters, theirs.counters);
  const isOlder = includes(theirs.counters, ours.counters);
  if (isNewer !== isOlder) return { kept: isNewer ? ours : theirs, copy: null };
  // What becomes of both a newer version alone can tell: it sends that.
  if (![ours, theirs].every((record) => isReadable(headOf(record)))) return { kept: ours, copy: null };
  const [later, earlier] = isLater(ours, theirs) ? [ours, theirs] : [theirs, ours];
  // An id belongs to who chose it, and after that to the latest of its copies: so the copies have the same ids everywhere.
  const mover = [earlier, later].find(isCopy);
  const holder = mover === later ? earlier : later;
  if (mover !== undefined && !holder.removed) {
    return { kept: holder, copy: withEtag({ ...mover, id: nextId(mover.id) }) };
  }
  const counters = joined(later.counters, earlier.counters);
  // What somebody typed outlives a removal that had not seen it.
  const winner = later.removed && !earlier.removed ? earlier : later;
  const kept = withEtag({ ...winner, counters });
  if (later.removed || earlier.removed || saves(later) === saves(earlier)) return { kept, copy: null };
  const own = earlier.etag.slice(0, 16);
  const copy = withEtag({
    ...earlier,
    id: copyId(earlier.id),
    author: earlier.updated_by ?? earlier.author,
    // A save of its own, so that it descends from no other draft of that id.
    counters: { [own]: 1 },
  });
  return { kept, copy };
};
