/** The records of takeovers, and how boxes agree on them. Pure; `now` is in ms since the epoch. */
import { takeoverLevels } from '../contract/console/takeover-levels.ts';
import { mostTakeovers, type TakeoverRecord } from '../contract/peers.ts';
import { replacesBy } from '../domain/merge.ts';

/** By id. Never mutated. */
export type Records = ReadonlyMap<string, TakeoverRecord>;

/** How long a record outlives its end: a box that was away meanwhile may have an older record of the same id. */
const KEEP_MS = 31 * 86_400_000;

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** All fields in a fixed order: a newer version may send more of them. */
const rowOf = ({ id, targets, level, title, body, media_url, from, until, updatedAt, endedAt }: TakeoverRecord) =>
  JSON.stringify([id, targets, level, title, body, media_url, from, until, updatedAt, endedAt]);

/** Above 0 if `a` wins: the newer one. Within a millisecond the order is arbitrary, but equal on all boxes. */
export const compareTakeovers = (a: TakeoverRecord, b: TakeoverRecord): number =>
  order(a.updatedAt, b.updatedAt) || order(rowOf(a), rowOf(b));

const replaces = replacesBy<TakeoverRecord>(({ updatedAt }) => updatedAt, compareTakeovers);

/** The rows of all records in the order of their ids; equal on boxes with equal records. */
export const rowsOf = (records: Records): string[] =>
  [...records.values()].toSorted((a, b) => order(a.id, b.id)).map(rowOf);

/** Whether a takeover is on or still to come. */
export const isOpenAt = ({ endedAt, until }: TakeoverRecord, now: number): boolean =>
  endedAt === null && Date.parse(until) > now;

const levelOf = ({ level }: TakeoverRecord): number => takeoverLevels.indexOf(level);

/** Of several takeovers the page shows the first: the highest level, then the later start, then the greater id. */
export const byPrecedence = (a: TakeoverRecord, b: TakeoverRecord): number =>
  levelOf(b) - levelOf(a) || order(b.from, a.from) || order(b.id, a.id);

const keptUntil = ({ until, updatedAt }: TakeoverRecord): number =>
  Math.max(Date.parse(until), Date.parse(updatedAt)) + KEEP_MS;

/** Leaves out old records, and those beyond the limit: first the ones that are over, of these first the oldest. */
const prune = (records: Records, now: number): Records => {
  const young = [...records.values()].filter((record) => keptUntil(record) > now);
  const rank = (record: TakeoverRecord): number => (isOpenAt(record, now) ? 1 : 0);
  const ranked = young.toSorted((a, b) => rank(b) - rank(a) || -compareTakeovers(a, b));
  return new Map(ranked.slice(0, mostTakeovers).map((record) => [record.id, record]));
};

/** Adds records, in place of older ones with their ids. @returns `records` itself if none of them is newer */
export const mergeTakeovers = (records: Records, more: readonly TakeoverRecord[], now: number): Records => {
  const merged = new Map(records);
  let isChanged = false;
  for (const record of more) {
    if (!replaces(record, merged.get(record.id), now) || keptUntil(record) <= now) continue;
    merged.set(record.id, record);
    isChanged = true;
  }
  return isChanged ? prune(merged, now) : records;
};
