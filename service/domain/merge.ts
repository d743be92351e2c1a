/**
 * Conflict resolution of replicated records. Pure. Each comparison is a total order, so taking the greater of two is
 * idempotent, commutative and associative: boxes that received the same records in any order hold the same state.
 */
import type { ContentVersion, DeviceBinding } from '../contract/peers.ts';
import { canonical } from './canonical.ts';
import { type EpochMs, isOlder, longestAbsenceMs, RELEASED } from './time.ts';

/** Of texts, by their code units: the same on all boxes. */
export const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Above 0 if `a` wins: by counter, then by node id, then by hash. The hash decides between boxes that were restored from
 * one disk image and therefore share a node id.
 */
export const compareVersions = (a: ContentVersion, b: ContentVersion): number =>
  a.counter - b.counter || order(a.nodeId, b.nodeId) || order(a.sha256, b.sha256);

/** More edits than a site makes while two of its boxes are disconnected. */
const MAX_LEAP = 1_000_000;
/** One edit every three seconds for ten years: more than any site has made. */
const MAX_FIRST = 100_000_000;

/**
 * Whether a peer's counter is plausible for a box at counter `own`. An implausible one is neither accepted nor counted on
 * from: at the end of the safe integers no further edit could win. A box at 0 has no content to compare with, and goes
 * by what most of its peers count.
 * @param counters of all peers that offer content, the one in question included
 */
export const isPlausible = (counter: number, own: number, counters: readonly number[] = []): boolean => {
  if (own > 0) return counter <= own + MAX_LEAP;
  const sorted = counters.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  return counter <= (sorted.length < 2 ? MAX_FIRST : Math.min(middle + MAX_LEAP, MAX_FIRST));
};

/** Of two records of one id the newest. */
export const newest = <T extends { updated_at: string }>(a: T, b: T): T =>
  (order(a.updated_at, b.updated_at) || order(canonical(a), canonical(b))) >= 0 ? a : b;

/** Whether a record was removed so long ago that no box has it any more. */
export const isForgotten = ({ removed_at }: { removed_at: string | null }, now: EpochMs): boolean =>
  removed_at !== null && isOlder(Date.parse(removed_at), longestAbsenceMs, now);

/** A binding that this version cannot read may have anything there. */
const keyOf = ({ key }: DeviceBinding): string => (typeof key === 'string' ? key : '');

/**
 * Above 0 if `a` wins: the newer one. A key is kept without a new date, so of equals the one that has a key wins. Apart from
 * that the order within a millisecond is arbitrary, but equal on all boxes.
 */
export const compareBindings = (a: DeviceBinding, b: DeviceBinding): number =>
  order(a.updatedAt, b.updatedAt) || order(keyOf(a), keyOf(b)) || order(canonical(a), canonical(b));

const TEN_YEARS_MS = 10 * 365 * 86_400_000;

/**
 * Whether an instant (ISO 8601, or ms since the epoch) is less than ten years ahead; a later one would win over every future
 * change. A clock that is slightly wrong is harmless, because each change is dated later than the one before it.
 */
export const isPlausibleTime = (instant: string | EpochMs, now: EpochMs): boolean =>
  new Date(instant).getTime() <= Math.max(now, RELEASED) + TEN_YEARS_MS;

const MONTH_MS = 30 * 86_400_000;

/**
 * Changes when a clock is set by months, or has run for one: records that boxes refused as implausible may win now, so
 * they are compared again.
 */
export const clockMonth = (now: number): number => Math.floor(now / MONTH_MS);

/**
 * The date of a change that replaces another one: always later than the one before, unless that one's date is implausible.
 * After a wrong clock is set right, changes are dated correctly again.
 *
 * @param before ISO 8601
 * @param now ms since the epoch
 */
export const laterThan = (before: string | undefined, now: number): string => {
  const earliest = before !== undefined && isPlausibleTime(before, now) ? Date.parse(before) + 1 : 0;
  return new Date(Math.max(now, earliest)).toISOString();
};

/**
 * Makes the test whether a peer's record replaces the own one with the same key: it does if it is newer, or if the date of
 * the own one is implausible. A record with an implausible date never does.
 *
 * @param dateOf when a record was changed, ISO 8601
 * @param compare above 0 if the first of two records wins
 */
export const replacesBy =
  <Entry>(dateOf: (entry: Entry) => string, compare: (a: Entry, b: Entry) => number) =>
  /** @param now ms since the epoch */
  (theirs: Entry, own: Entry | undefined, now: number): boolean =>
    isPlausibleTime(dateOf(theirs), now) &&
    (own === undefined || !isPlausibleTime(dateOf(own), now) || compare(theirs, own) > 0);

/** Whether a peer's binding replaces the own one. */
export const bindingReplaces = replacesBy<DeviceBinding>(({ updatedAt }) => updatedAt, compareBindings);

/**
 * The peer's bindings that replace the known ones.
 * @param now ms since the epoch
 */
export const newsAmong = <Binding extends DeviceBinding>(
  theirs: readonly Binding[],
  known: (deviceId: string) => DeviceBinding | undefined,
  now: number,
): Binding[] => theirs.filter((binding) => bindingReplaces(binding, known(binding.deviceId), now));
