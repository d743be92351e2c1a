/** When a copy is revalidated: pure functions of response headers, time and random numbers. All times are in ms. */
import { doubled } from '../../domain/backoff.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The minimum and maximum interval between revalidations at the origin. */
const SOONEST = MINUTE;
const LATEST = 24 * HOUR;
/** The minimum for files without validators that are larger than SMALL_BYTES: they must be fetched whole. */
const SOONEST_WHOLE = 6 * HOUR;
const SMALL_BYTES = 1024 ** 2;
/** The freshness lifetime if the response has an ETag, but neither Cache-Control nor Last-Modified. */
const UNKNOWN = HOUR;

/** The parts of a response that determine its freshness lifetime (RFC 9111). */
interface ResponseMetadata {
  cacheControl: string | null;
  etag: string | null;
  lastModified: string | null;
  /** Bytes. */
  size: number;
}

const statedLifetime = ({ cacheControl, etag, lastModified }: ResponseMetadata, at: number): number => {
  const directives = (cacheControl ?? '').toLowerCase();
  if (/\bno-(?:cache|store)\b/.test(directives)) return 0;
  const maxAge = /\bmax-age="?(\d{1,10})/.exec(directives)?.[1];
  if (maxAge !== undefined) return Number(maxAge) * SECOND;
  // Heuristic freshness (RFC 9111, 4.2.2): a tenth of the file's age.
  const age = at - Date.parse(lastModified ?? '');
  if (age >= 0) return age / 10;
  // Without any of these headers it may be the picture of a camera, which changes constantly.
  return etag === null ? 0 : UNKNOWN;
};

/** The freshness lifetime of a copy that was fetched or revalidated at `at`. */
export const freshnessLifetime = (response: ResponseMetadata, at: number): number => {
  const isCheap = response.etag !== null || response.lastModified !== null || response.size <= SMALL_BYTES;
  return Math.min(Math.max(statedLifetime(response, at), isCheap ? SOONEST : SOONEST_WHOLE), LATEST);
};

/**
 * How long until a copy that no page requests is revalidated: at least an hour, with jitter, so that copies that were
 * fetched together are not revalidated together. `random` is from 0 to 1.
 */
export const idleLifetime = (life: number, random: number): number => Math.max(life, HOUR) * (1 + random / 4);

interface Failed {
  /** A retry is unlikely to succeed. */
  lasting: boolean;
  /** The Retry-After of the origin. */
  pause: number;
}

/** The delay after `failures` consecutive failures: up to 15 min, or 6 h for lasting ones. `random`: from 0 to 1. */
export const retryAfter = (failures: number, { lasting, pause }: Failed, random: number): number => {
  const [first, max] = lasting ? [30 * MINUTE, 6 * HOUR] : [15 * SECOND, 15 * MINUTE];
  const wait = doubled(failures - 1, first, max) * (0.5 + random / 2);
  return Math.max(wait, Math.min(pause, LATEST));
};
