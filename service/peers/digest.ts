/** Digests of sets of records, by which two boxes find their differences without sending the sets. Pure. */
import { createHash } from 'node:crypto';

export type Row = readonly [key: string, version: string];

/** Hex digits of the digest of one bucket. */
export const bucketDigits = 8;

/** Hashes a key, or a row. */
export type Hash = (text: string) => number;

export const hashOf: Hash = (text) => createHash('sha256').update(text).digest().readUInt32BE(0);

/** The bucket of a key. @param hash {@link hashOf}, or one that remembers its results */
export const bucketOf = (key: string, count: number, hash = hashOf): number => hash(key) % count;

/**
 * The digests of all `count` buckets, joined; equal for equal sets in any order of their rows.
 * @param hash {@link hashOf}, or one that remembers its results
 */
export const bucketDigests = (rows: Iterable<Row>, count: number, hash = hashOf): string => {
  const sums = new Uint32Array(count);
  for (const [key, version] of rows) {
    const bucket = bucketOf(key, count, hash);
    sums[bucket] = (sums[bucket] ?? 0) ^ hash(JSON.stringify([key, version]));
  }
  return [...sums].map((sum) => sum.toString(16).padStart(bucketDigits, '0')).join('');
};

/** The buckets in which two sets differ. */
export const differingBuckets = (own: string, theirs: string): Set<number> => {
  const differing = new Set<number>();
  for (let at = 0; at < own.length; at += bucketDigits) {
    if (own.slice(at, at + bucketDigits) !== theirs.slice(at, at + bucketDigits)) differing.add(at / bucketDigits);
  }
  return differing;
};
