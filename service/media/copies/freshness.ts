/** When a copy is looked at again: pure functions of what is known and of chance. All times are in ms. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The soonest and the latest that an origin is asked whether a copy is still the same. */
const SOONEST = MINUTE;
const LATEST = 24 * HOUR;
/** The soonest for what can only be fetched whole, and is larger than this. */
const SOONEST_WHOLE = 6 * HOUR;
const SMALL_BYTES = 1024 ** 2;
/** Where the origin says nothing at all. */
const UNKNOWN = HOUR;

/** What an origin says of a medium's life (RFC 9111). */
interface Said {
  cacheControl: string | null;
  etag: string | null;
  lastModified: string | null;
  /** Bytes. */
  size: number;
}

const saidLife = ({ cacheControl, etag, lastModified }: Said, at: number): number => {
  const directives = (cacheControl ?? '').toLowerCase();
  if (/\bno-(?:cache|store)\b/.test(directives)) return 0;
  const maxAge = /\bmax-age="?(\d{1,10})/.exec(directives)?.[1];
  if (maxAge !== undefined) return Number(maxAge) * SECOND;
  // 4.2.2: what has not changed for long will not change soon.
  const age = at - Date.parse(lastModified ?? '');
  if (age >= 0) return age / 10;
  // With nothing to go by it may be a camera's picture, another each time.
  return etag === null ? 0 : UNKNOWN;
};

/** For how long a copy that was fetched or confirmed at `at` is taken for the same as its original. */
export const lifeOf = (said: Said, at: number): number => {
  const isCheap = said.etag !== null || said.lastModified !== null || said.size <= SMALL_BYTES;
  return Math.min(Math.max(saidLife(said, at), isCheap ? SOONEST : SOONEST_WHOLE), LATEST);
};

/**
 * When a copy that nobody looks at is asked after: no sooner than in an hour, and so that copies that came together are
 * not asked after together. `chance` is from 0 to 1.
 */
export const idleLife = (life: number, chance: number): number => Math.max(life, HOUR) * (1 + chance / 4);

interface Failed {
  /** No better is to be expected. */
  lasting: boolean;
  /** So long the origin asks to be left alone. */
  pause: number;
}

/** How long to wait after so many failures in a row: up to 15 min, or 6 h where no better is to be expected. */
export const retryAfter = (failures: number, { lasting, pause }: Failed, chance: number): number => {
  const [first, most] = lasting ? [30 * MINUTE, 6 * HOUR] : [15 * SECOND, 15 * MINUTE];
  const wait = Math.min(first * 2 ** (failures - 1), most) * (0.5 + chance / 2);
  return Math.max(wait, Math.min(pause, LATEST));
};
