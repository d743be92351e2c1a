/**
 * Membership of the site, after SWIM (Das, Gupta, Motivala 2002): each box probes one other box per period, asks a
 * few others to probe a box that does not answer, and boxes exchange their findings. Reports of others only make a box
 * probe for itself. Pure; times are in ms by a monotonic clock.
 */
import { bucketDigests, bucketOf, differingBuckets } from './digest.ts';

/** A member and the version of its record, by node id. */
export type Versions = ReadonlyMap<string, number>;

export const memberBuckets = 16;

/** The digests of the members; see {@link bucketDigests}. */
export const memberDigests = (members: Versions): string =>
  bucketDigests(
    [...members].map(([nodeId, seq]) => [nodeId, String(seq)] as const),
    memberBuckets,
  );

/** The members in the buckets that differ. */
export const differingMembers = (members: Versions, own: string, theirs: string): Map<string, number> => {
  const buckets = differingBuckets(own, theirs);
  return new Map([...members].filter(([nodeId]) => buckets.has(bucketOf(nodeId, memberBuckets))));
};

export interface Differences {
  /** Only the other box reaches them, or knows them at all. */
  theirs: string[];
  /** Only this box reaches them. */
  ours: string[];
  /** The other box has a newer record of them. */
  wanted: string[];
  /** This box has a newer record of them. */
  newer: string[];
}

/** Compares the members of the differing buckets of two boxes. */
export const compareMembers = (own: Versions, theirs: Versions): Differences => {
  const both = [...own.keys()].filter((nodeId) => theirs.has(nodeId));
  const lead = (nodeId: string): number => (own.get(nodeId) ?? 0) - (theirs.get(nodeId) ?? 0);
  return {
    theirs: [...theirs.keys()].filter((nodeId) => !own.has(nodeId)),
    ours: [...own.keys()].filter((nodeId) => !theirs.has(nodeId)),
    wanted: both.filter((nodeId) => lead(nodeId) < 0),
    newer: both.filter((nodeId) => lead(nodeId) > 0),
  };
};

/** Returns the items that fit into `bytes` bytes of JSON, in order; an item that is too large is skipped. */
export const fitting = <T>(items: readonly T[], bytes: number): T[] => {
  let rest = bytes;
  return items.filter((item) => {
    const size = Buffer.byteLength(JSON.stringify(item)) + 1;
    const isFitting = size <= rest;
    if (isFitting) rest -= size;
    return isFitting;
  });
};

/**
 * Time between two checks of a box. All boxes check, so the first of them finds a killed one after about one and a half
 * periods at any size of the site; a large site takes a little more time to save traffic.
 */
export const periodOf = (members: number, shortest: number): number => shortest * Math.max(1, Math.log2(members) / 4.2);

/** A round in which each member is checked once. */
export interface Round {
  /** Those still to be checked. */
  queue: readonly string[];
  checked: ReadonlySet<string>;
}

export const firstRound: Round = { queue: [], checked: new Set() };

/**
 * The member to check next: each once in a random order before any is checked again. A new member gets a random place in
 * the round that is under way: at the end of it, a large site would not notice for an hour that it is gone.
 */
export const nextToCheck = (
  { queue, checked }: Round,
  members: readonly string[],
  random: () => number,
): { next: string | undefined; round: Round } => {
  const present = new Set(members);
  // Members that come and go must not keep a round open.
  const isOver = members.every((nodeId) => checked.has(nodeId)) || checked.size >= 2 * members.length;
  const rest = isOver ? [] : queue.filter((nodeId) => present.has(nodeId));
  const isQueued = new Set(rest);
  for (const nodeId of members) {
    if (isOver || !(checked.has(nodeId) || isQueued.has(nodeId)))
      rest.splice(Math.floor(random() * (rest.length + 1)), 0, nodeId);
  }
  const [next, ...others] = rest;
  const before = isOver ? [] : checked;
  return { next, round: { queue: others, checked: new Set(next === undefined ? before : [...before, next]) } };
};
