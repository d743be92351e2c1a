/** The records of takeovers, how boxes agree on them, and their slides. Pure. */
import { takeoverLevels, takeoverSlideId } from '../contract/console/takeover-levels.ts';
import { endOfTakeover } from '../contract/console/takeovers.ts';
import { mostTakeovers, type TakeoverRecord, takeoverRecord } from '../contract/peers.ts';
import type { Slide } from '../contract/playlist.ts';
import { blankSlide } from '../contract/slide-values.ts';
import { canonical } from '../domain/canonical.ts';
import { perObject } from '../domain/collections.ts';
import { mediaTypeOf, pictureKindOf } from '../domain/media-types.ts';
import { order, replacesBy } from '../domain/merge.ts';
import { type EpochMs, isOlder, longestAbsenceMs } from '../domain/time.ts';
import type { End } from './ends.ts';

/** By id. Never mutated. */
export type Records = ReadonlyMap<string, TakeoverRecord>;

/** How long a record outlives its end: a box that was away meanwhile may have an older record of the same id. */
const KEEP_MS = 31 * 86_400_000;

/** Whether this version can read a record; others are stored and passed on alone. Records are never mutated. */
export const isReadable = perObject((record: TakeoverRecord): boolean => takeoverRecord.safeParse(record).success);

/** Above 0 if `a` wins: the newer one. Within a millisecond the order is arbitrary, but equal on all boxes. */
export const compareTakeovers = (a: TakeoverRecord, b: TakeoverRecord): number =>
  order(a.updatedAt, b.updatedAt) || order(canonical(a), canonical(b));

const replaces = replacesBy<TakeoverRecord>(({ updatedAt }) => updatedAt, compareTakeovers);

/** The rows of all records in the order of their ids; equal on boxes with equal records. */
export const rowsOf = (records: Records): string[] =>
  [...records.values()].toSorted((a, b) => order(a.id, b.id)).map(canonical);

export const isOpenAt = (record: TakeoverRecord, now: number): boolean =>
  record.endedAt === null && endOfTakeover(record) > now;

const levelOf = ({ level }: TakeoverRecord): number => takeoverLevels.indexOf(level);

/** Of several takeovers the page shows the first: the highest level, then the later start, then the greater id. */
export const byPrecedence = (a: TakeoverRecord, b: TakeoverRecord): number =>
  levelOf(b) - levelOf(a) || order(b.from, a.from) || order(b.id, a.id);

/** Whether its end is so long ago that no box has an older record of its id. */
const isForgotten = ({ until, updatedAt, endedAt }: TakeoverRecord, now: EpochMs): boolean =>
  isOlder(
    Math.max(endOfTakeover({ until: until ?? endedAt }), Date.parse(updatedAt)),
    // No box learns of the end of an open-ended one from its clock.
    until === null ? longestAbsenceMs : KEEP_MS,
    now,
  );

/**
 * Leaves out old records, if the clock can be relied on, and those beyond the limit: first the ones that are over, then those
 * that this version cannot read, of equals first the oldest.
 */
const prune = (records: Records, { now, isConfirmed }: Reading): Records => {
  const young = [...records.values()].filter((record) => !isConfirmed || !isForgotten(record, now));
  const isOpen = (record: TakeoverRecord): boolean =>
    isOpenAt(record, now) || (!isConfirmed && record.level === 'emergency' && record.endedAt === null);
  const rank = (record: TakeoverRecord): number => (isOpen(record) ? 1 + Number(isReadable(record)) : 0);
  const ranked = young.toSorted((a, b) => rank(b) - rank(a) || -compareTakeovers(a, b));
  return new Map(ranked.slice(0, mostTakeovers).map((record) => [record.id, record]));
};

/** What a clock says, and whether it can be relied on. */
interface Reading {
  now: EpochMs;
  isConfirmed: boolean;
}

/** Adds records, in place of older ones with their ids. @returns `records` itself if none of them is newer */
export const mergeTakeovers = (records: Records, more: readonly TakeoverRecord[], reading: Reading): Records => {
  const { now, isConfirmed } = reading;
  const merged = new Map(records);
  let isChanged = false;
  for (const record of more) {
    if (!replaces(record, merged.get(record.id), now) || (isConfirmed && isForgotten(record, now))) continue;
    merged.set(record.id, record);
    isChanged = true;
  }
  return isChanged ? prune(merged, reading) : records;
};

/** A record of an end of which no more is known. */
export const recordOfEnd = ({ id, updatedAt, until }: End): TakeoverRecord => {
  // Later than the record that it ends.
  const at = new Date(Date.parse(updatedAt) + 1).toISOString();
  return {
    id,
    targets: ['all'],
    level: 'info',
    title: null,
    body: null,
    media_url: null,
    from: at,
    until,
    updatedAt: at,
    endedAt: at,
  };
};

/**
 * The slide of a takeover, as it leads the playlist of a screen.
 * @param isOpenEnded its end is not known to have passed, though the clock says so: the page goes on showing it
 * @param isBegun it has begun, though the clock says that it will: the page shows it
 */
export const slideOf = (
  { id, level, title, body, media_url, from, until }: TakeoverRecord,
  isOpenEnded = false,
  isBegun = false,
): Slide => ({
  ...blankSlide,
  id: takeoverSlideId(id),
  title,
  body,
  schedule_mode: 'between',
  schedule_start_datetime: isBegun ? null : from,
  schedule_end_datetime: isOpenEnded ? null : until,
  media_url,
  media_type: media_url === null ? null : mediaTypeOf(media_url),
  kind: (media_url === null ? null : pictureKindOf(media_url)) ?? 'text',
  content: { takeover: { id, level } },
});
