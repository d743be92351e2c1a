/** The records of deleted media, and how boxes agree on them. Pure; `now` is in ms since the epoch. */
import { type MediaDeletion, mostDeletions } from '../contract/peers.ts';
import { isMediaName } from './media-names.ts';
import { order, replacesBy } from './merge.ts';
import { isTrusted, longestAbsenceMs } from './time.ts';

/** By the name of the medium. Never mutated. */
export type Deletions = ReadonlyMap<string, MediaDeletion>;

/** What a record says of the new name; empty: the medium was deleted. */
export const renamingOf = ({ renamed }: MediaDeletion): string =>
  renamed === undefined ? '' : JSON.stringify([renamed.to, renamed.modifiedAt]);

/** Above 0 if `a` wins: the later one, and of two at once the one that keeps the file. */
const compare = (a: MediaDeletion, b: MediaDeletion): number =>
  order(a.deletedAt, b.deletedAt) || order(a.sha256 ?? '', b.sha256 ?? '') || order(renamingOf(a), renamingOf(b));

const replaces = replacesBy<MediaDeletion>(({ deletedAt }) => deletedAt, compare);

/** Of records from a disk or another box, those that name a medium; a renaming to what names none counts as a deletion. */
export const validDeletions = (records: readonly MediaDeletion[]): MediaDeletion[] =>
  records
    .filter(({ name }) => isMediaName(name))
    .map(({ renamed, ...rest }) => (renamed !== undefined && isMediaName(renamed.to) ? { ...rest, renamed } : rest));

/** Nothing expires by a clock that is not trusted. */
const isExpired = ({ deletedAt }: MediaDeletion, now: number): boolean =>
  isTrusted(now) && Date.parse(deletedAt) + longestAbsenceMs <= now;

/**
 * Leaves out what is too old, and the oldest beyond the limit.
 * @param due names whose files are still to be removed: these are never too old
 * @returns `known` itself if nothing is left out
 */
export const pruneDeletions = (known: Deletions, now: number, due: ReadonlySet<string> = new Set()): Deletions => {
  const kept = [...known.values()].filter((each) => due.has(each.name) || !isExpired(each, now));
  if (kept.length === known.size && kept.length <= mostDeletions) return known;
  const newest = kept.toSorted((a, b) => -compare(a, b)).slice(0, mostDeletions);
  return new Map(newest.map((each) => [each.name, each]));
};

/**
 * The records among `theirs` that are newer than the known ones.
 * @param isCovered whether a file is here that the record deletes: then it counts however old it is by this clock, which
 *   may be ahead of the one that still has it
 */
export const newDeletions = (
  known: Deletions,
  theirs: readonly MediaDeletion[],
  now: number,
  isCovered: (deletion: MediaDeletion) => boolean = () => false,
): MediaDeletion[] =>
  theirs.filter((each) => replaces(each, known.get(each.name), now) && (!isExpired(each, now) || isCovered(each)));
