/** What comes when: pure functions of the slides, the moment and what the operator asked for. */
import type { Slide } from '../../service/contract/playlist.ts';

const DEFAULT_MS = 10_000;
const STREAM_REST_MS = 2_000;
/** A slide that ends later than this after its time was held up, by sleep or by a slow successor. */
const LATE_MS = 1_000;

/** A slide's time on the screen. `since` and `until` are readings of a clock that never jumps, in ms. */
export interface Turn {
  since: number;
  until: number;
}

/**
 * What a player does next. `hold`: what is on stays, whatever it is. `stay`: it has another turn, since nothing else can
 * come on. `swap` and `drop`: what is being made ready comes on, or is not wanted any more.
 */
export type Action = 'hold' | 'stay' | 'swap' | 'drop' | { prepare: number };

/** How long a slide is on: as it says, else as long as its medium, else 10 s. In ms. */
export const lengthOf = ({ duration_seconds }: Pick<Slide, 'duration_seconds'>, mediumMs: number | null): number =>
  duration_seconds !== null ? duration_seconds * 1000 : (mediumMs ?? DEFAULT_MS);

/**
 * The turn of a slide that comes on at `at`, after one whose time was up at `due` (null: out of turn, as by a
 * command). It counts from `due`, so that a playlist does not drift by the time that swaps take.
 */
export const turnOf = (length: number, at: number, due: number | null): Turn => {
  const since = due !== null && at - due < Math.min(LATE_MS, length / 2) ? due : at;
  return { since, until: since + length };
};

/** A turn that was halted for a while takes up where it stopped. */
export const resumed = ({ since, until }: Turn, haltedAt: number, at: number): Turn => {
  const halt = at - Math.max(haltedAt, since);
  return { since: since + halt, until: until + halt };
};

/**
 * The index that follows `from` in a ring of `count`, in steps of `step`, among those that are playable. `from`
 * itself comes last; null: none is playable. With no slide before it, `from` is -1 (or `count`, going back).
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
 * How long a slide that failed so many times in a row is left out, in ms: a live stream hardly, since it may be back at
 * any moment; anything else from 15 s on, doubling up to 5 min.
 */
export const restMs = (kind: Slide['kind'], failures: number): number =>
  kind === 'stream' ? STREAM_REST_MS : Math.min(15_000 * 2 ** (failures - 1), 300_000);
