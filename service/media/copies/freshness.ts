/** When a copy is revalidated, and the state of a remote file that the content names. All times are in ms. */
import { doubled, type EpochMs } from '../../domain/time.ts';
import type { FetchFault } from '../../platform/outbound/answer.ts';
import type { Tempo } from '../../tempo.ts';
import { isOutOfSpace } from '../download.ts';
import type { FetchHeld } from '../fetch-limits.ts';
import type { Named } from './named.ts';

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

type Retry = Pick<Tempo['media'], 'retry' | 'maxRetry'>;

/**
 * The delay after `failures` consecutive failures: up to 6 h for lasting ones.
 * @param random from 0 to 1
 */
export const retryAfter = (
  failures: number,
  { lasting, pause }: Failed,
  { retry, maxRetry }: Retry,
  random: number,
): number => {
  const [first, max] = lasting ? [30 * MINUTE, 6 * HOUR] : [retry, maxRetry];
  const wait = doubled(failures - 1, first, max) * (0.5 + random / 2);
  return Math.max(wait, Math.min(pause, LATEST));
};

/** The state of a remote file that the content names. */
export interface MediumState extends Named {
  /** When it is next checked. */
  due: EpochMs;
  /** Consecutive failures. */
  failures: number;
  reason: string | null;
  /** The file is needed, and is not fetched at this time of day. */
  isHeld: boolean;
  /** The last attempt failed only for lack of space, so the address passed all network checks. */
  isOutOfSpace: boolean;
  /** Since when another box is to download the file; null: this one does. */
  waitsSince: EpochMs | null;
}

const faultless = { failures: 0, reason: null, isHeld: false } as const;

export const newState = (named: Named, due: number): MediumState => ({
  ...named,
  ...faultless,
  due,
  isOutOfSpace: false,
  waitsSince: null,
});

/** The copy is current. @param due when it is checked next */
export const noteDone = (state: MediumState, due: number): void => {
  Object.assign(state, faultless, { isOutOfSpace: false, due });
};

/**
 * The file is not fetched at this time of day.
 * @param isNeeded whether there is no copy; an update of a copy can wait
 * @param longest until it is checked again, ms
 */
export const noteHeld = (
  state: MediumState,
  { message, pause }: FetchHeld,
  isNeeded: boolean,
  longest: number,
): void => {
  state.due = Date.now() + Math.min(pause, longest);
  state.isHeld = isNeeded;
  state.waitsSince = null;
  if (isNeeded) state.reason = message;
};

/**
 * Another box downloads the file. An earlier error is kept until that succeeds, because the download may fall back to
 * this box.
 */
export const noteAwaited = (state: MediumState, { pause, isComing }: { pause: number; isComing: boolean }): void => {
  state.due = Date.now() + pause;
  if (isComing || state.isHeld) Object.assign(state, faultless);
};

export const noteFailed = (state: MediumState, fault: FetchFault, tempo: Retry, random: number): void => {
  state.isHeld = false;
  state.failures += 1;
  state.reason = fault.message;
  state.isOutOfSpace = isOutOfSpace(fault.cause);
  state.due = Date.now() + retryAfter(state.failures, fault, tempo, random);
};
