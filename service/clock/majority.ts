/**
 * The time by majority of the boxes, so that a minority of wrong or lying clocks has no effect. Pure; times are offsets to
 * the monotonic clock of this box, in ms.
 */

/** A live box; `established` is what it last sent, or null before its first answer. */
export interface Candidate {
  nodeId: string;
  established: boolean | null;
}

/**
 * The node id of the reference, which may be this one: the lowest id among the boxes whose time is established.
 * A box that has just started adopts the site's time from any other box before it provides its own, so that the time does
 * not jump when the box with the lowest id returns.
 */
export const chooseReference = (
  self: { nodeId: string; established: boolean },
  others: readonly Candidate[],
): string => {
  const eligible = others
    .filter(({ nodeId, established }) => established !== false && (!self.established || nodeId < self.nodeId))
    .map(({ nodeId }) => nodeId);
  return (
    eligible.reduce<string | null>((lowest, id) => (lowest === null || id < lowest ? id : lowest), null) ?? self.nodeId
  );
};

/** Whether a box may establish its own time: no box has established one and its id is the lowest, or it waited enough. */
export const mayEstablish = (nodeId: string, others: readonly Candidate[], waited: boolean): boolean =>
  waited || (others.length > 0 && others.every((other) => other.established === false && nodeId < other.nodeId));

/** The time that a box reports. */
export interface Opinion {
  /** The site's time; null: it has none yet. */
  site: number | null;
  /** Its own time of day; null: not reported, or never set. */
  wall: number | null;
  /** By how much both may be misjudged. */
  doubt: number;
  /** Whether its time of day follows a time server. */
  synchronized: boolean;
}

/** The value on which more than half of the boxes agree; null: there is no majority. */
export interface Verdict {
  site: number | null;
  wall: number | null;
}

/** Boxes that follow one reference have the same time of the site within this. */
const SITE_MS = 250;
/** Clocks that follow time servers agree within this. */
export const WALL_MS = 1_000;
/** Boxes whose opinion is not known count as voters until this many are known. */
const QUORUM = 5;

/**
 * The middle of the largest group of values that differ by `tolerance` at most; null unless the group is more than half of
 * `voters`.
 */
export const majorityOf = (values: readonly number[], voters: number, tolerance: number): number | null => {
  const sorted = values.toSorted((a, b) => a - b);
  let [from, count] = [0, 0];
  sorted.forEach((first, start) => {
    const size = sorted.filter((value) => value >= first && value <= first + tolerance).length;
    if (size > count) [from, count] = [start, size];
  });
  return count * 2 > voters ? (sorted[from + Math.floor((count - 1) / 2)] ?? null) : null;
};

/** Whether a box has a time of day, within what clocks are apart that most boxes agree on. */
export const isNear = (wall: number | null, of: number | null): boolean =>
  wall !== null && of !== null && Math.abs(wall - of) <= 2 * WALL_MS;

/** The boxes whose time of day it is. */
export const backersOf = (wall: number | null, opinions: readonly Opinion[]): Opinion[] =>
  opinions.filter((each) => isNear(each.wall, wall));

/** Whether more than the clock of one box tells a time, unless that follows a time server. */
export const isBorneBy = (backers: readonly Opinion[]): boolean =>
  backers.length > 1 || backers.some(({ synchronized }) => synchronized);

/**
 * The boxes that follow a time server decide where there is no majority.
 * @param unheard boxes whose opinion is not known
 * @param wasBorne whether the time was told as {@link isBorneBy} asks before: what is not, by the clock of this box too, then
 *   changes nothing
 */
export const judge = (opinions: readonly Opinion[], unheard: number, wasBorne: boolean): Verdict => {
  const absent = Math.min(unheard, Math.max(0, QUORUM - opinions.length));
  const agree = (of: 'site' | 'wall', tolerance: number): number | null => {
    const values = opinions.flatMap((opinion) => opinion[of] ?? []);
    return majorityOf(values, values.length + absent, tolerance);
  };
  const synchronized = opinions.flatMap(({ wall, synchronized: isExact }) => (isExact && wall !== null ? wall : []));
  const wall = agree('wall', WALL_MS) ?? majorityOf(synchronized, synchronized.length + absent, WALL_MS);
  const counts = !wasBorne || isBorneBy(backersOf(wall, opinions));
  return { site: agree('site', SITE_MS), wall: counts ? wall : null };
};

/** Whether a box contradicts the majority, so that its time is not followed. */
export const contradicts = ({ site, doubt }: Opinion, majority: Verdict): boolean => {
  if (site === null) return false;
  const isOff = (of: number | null, tolerance: number): boolean =>
    of !== null && Math.abs(site - of) > tolerance + doubt;
  return isOff(majority.site, SITE_MS) || isOff(majority.wall, 2 * WALL_MS);
};

/** Whether the majority confirms a time of the site, so that a box may step to it. */
export const isBacked = (site: number, doubt: number, majority: Verdict): boolean =>
  [majority.site, majority.wall].some((of) => of !== null && Math.abs(site - of) <= WALL_MS + doubt);
