/** Digests of sets of records, by which two boxes find their differences without sending the sets. Pure. */
import { hash } from 'node:crypto';

export type Row = readonly [key: string, version: string];

/** Hex digits of the digest of one bucket. */
export const bucketDigits = 8;

const hashOf = (text: string): number => hash('sha256', text, 'buffer').readUInt32BE(0);

export const bucketOf = (key: string, count: number): number => hashOf(key) % count;

/** The digests of all `count` buckets, joined; equal for equal sets in any order of their rows. */
export const bucketDigests = (rows: Iterable<Row>, count: number): string => {
  const sums = new Uint32Array(count);
  for (const [key, version] of rows) {
    const bucket = bucketOf(key, count);
    sums[bucket] = (sums[bucket] ?? 0) ^ hashOf(JSON.stringify([key, version]));
  }
  return [...sums].map((sum) => sum.toString(16).padStart(bucketDigits, '0')).join('');
};

export const differingBuckets = (own: string, theirs: string): Set<number> => {
  const differing = new Set<number>();
  for (let at = 0; at < own.length; at += bucketDigits) {
    if (own.slice(at, at + bucketDigits) !== theirs.slice(at, at + bucketDigits)) differing.add(at / bucketDigits);
  }
  return differing;
};
