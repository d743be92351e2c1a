/**
 * Which of two accounts of one thing holds. Pure, and a total order each time: taking the greater of two is idempotent,
 * commutative and associative, so that boxes which heard of the same things hold the same, in whatever order and however
 * often they heard of them.
 */
import type { ContentVersion, DeviceBinding } from '../contract/peers.ts';

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Above 0 where `a` wins: by counter, then by box. The hash decides between boxes that were restored from one image, and
 * for that reason say different things under one name.
 */
export const compareVersions = (a: ContentVersion, b: ContentVersion): number =>
  a.counter - b.counter || order(a.nodeId, b.nodeId) || order(a.sha256, b.sha256);

/** More edits than a site makes while two of its boxes do not hear of each other. */
const LONGEST_LEAP = 1_000_000;
/** Leaves room to count on from. */
const HIGHEST_FIRST = 2 ** 52;

/**
 * Whether a counter can have been come by honestly, as far as a box at counter `own` can tell. One that can't is not
 * taken, nor counted on from: at the end of the safe integers no edit could win any more. A box at 0 has no content of
 * its own, and nothing to compare with.
 */
export const isPlausible = (counter: number, own: number): boolean =>
  counter <= (own === 0 ? HIGHEST_FIRST : own + LONGEST_LEAP);

/**
 * Above 0 where `a` wins: the newer one. What decides between two of one millisecond means nothing, but is the same
 * everywhere.
 */
export const compareBindings = (a: DeviceBinding, b: DeviceBinding): number =>
  order(a.updatedAt, b.updatedAt) || order(a.clientName, b.clientName) || order(a.screenSlug ?? '', b.screenSlug ?? '');

const TEN_YEARS_MS = 10 * 365 * 86_400_000;
/** A clock that says an earlier time was never set. */
const RELEASED = Date.UTC(2026, 0, 1);

/**
 * Whether an instant (ISO 8601) is of no time so far ahead that no later one could be told. A clock that is merely wrong
 * does no harm, since each change is dated later than the one before it.
 *
 * @param now ms since the epoch
 */
export const isPlausibleTime = (instant: string, now: number): boolean =>
  Date.parse(instant) <= Math.max(now, RELEASED) + TEN_YEARS_MS;

/** Those of a peer's bindings that are news: newer than what is known. @param now ms since the epoch */
export const newsAmong = <Binding extends DeviceBinding>(
  theirs: readonly Binding[],
  known: (deviceId: string) => DeviceBinding | undefined,
  now: number,
): Binding[] =>
  theirs.filter((binding) => {
    if (!isPlausibleTime(binding.updatedAt, now)) return false;
    const own = known(binding.deviceId);
    return own === undefined || compareBindings(binding, own) > 0;
  });
