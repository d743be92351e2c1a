/** Slot times and the order of slides; pure functions. */
import type { Slide } from '../../service/contract/playlist.ts';
import { doubled } from '../../service/domain/time.ts';

/** How long before its slot a slide is prepared: late enough for fresh data, early enough to load. */
export const PREPARE_AHEAD_MS = 15_000;
/** How long before its moment a swap begins, so that the browser can draw the new layer. */
export const LEAD_MS = 300;
/** How long slides take to fade into each other. */
export const FADE_MS = 800;
const DEFAULT_MS = 10_000;
const STREAM_COOLDOWN_MS = 2_000;
/** A swap later than this was delayed by sleep or a slow successor, and does not count from the due time. */
const LATE_MS = 1_000;

/** A slide's time on the screen. `since` and `until` are readings of a monotonic clock, in ms. */
export interface Slot {
  since: number;
  until: number;
}

/**
 * What a player does next. `hold`: nothing. `stay`: play the current slide again, because no other one is playable.
 * `swap`: show the upcoming slide. `drop`: discard it. `prepare`: prepare the slide with this index.
 */
export type Action = 'hold' | 'stay' | 'swap' | 'drop' | { prepare: number };

/** How long a slide is shown, in ms: its own duration, else that of its medium, else 10 s. */
export const lengthOf = ({ duration_seconds }: Pick<Slide, 'duration_seconds'>, mediumMs: number | null): number =>
  duration_seconds !== null ? duration_seconds * 1000 : (mediumMs ?? DEFAULT_MS);

/** Whether `lateMs` is more than the time that a swap takes, for a slide of this length. */
export const isLate = (lateMs: number, length: number): boolean => lateMs >= Math.min(LATE_MS, length / 2);

/**
 * The slot of a slide that appears at `at`, after one whose slot ended at `due` (null: not at the end of a slot, as by a
 * command). It counts from `due`, so that the time that swaps take does not add up.
 */
export const slotOf = (length: number, at: number, due: number | null): Slot => {
  const since = due !== null && !isLate(at - due, length) ? due : at;
  return { since, until: since + length };
};

/** The slot after a halt, moved by the length of the halt. */
export const resumed = ({ since, until }: Slot, haltedAt: number, at: number): Slot => {
  const halt = at - Math.max(haltedAt, since);
  return { since: since + halt, until: until + halt };
};

/**
 * The next playable index after `from` in direction `step`, wrapping around at `count`. `from` itself is tried last; null:
 * no index is playable. Without a previous slide, `from` is -1 (or `count`, going back).
 */
export const following = (
  count: number,
  from: number,
  step: 1 | -1,
  isPlayable: (index: number) => boolean,
): number | null => {
  for (let distance = 1; distance <= count; distance++) {
    const index = (((from + step * distance) % count) + count) % count;
    if (isPlayable(index)) return index;
  }
  return null;
};

/**
 * How long a slide is skipped after `failures` failures in a row, in ms: a live stream 2 s, since it may be back at any
 * moment; other kinds 15 s, doubling up to 5 min.
 */
export const cooldownMs = (kind: Slide['kind'], failures: number): number =>
  kind === 'stream' ? STREAM_COOLDOWN_MS : doubled(failures - 1, 15_000, 300_000);
