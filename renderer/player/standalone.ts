/** The decisions of a player that keeps its own time; pure. */
import type { Slide } from '../../service/contract/playlist.ts';
import type { PlaylistSchedule } from './screen-document.ts';
import type { Action } from './timeline.ts';

/** The state that a decision depends on. */
export interface Scene {
  /** The current view; without a slide, the idle screen. Null: nothing was shown yet. */
  shown: {
    slide: Slide | null;
    index: number;
    /** When its slot ends, by the monotonic clock. */
    until: number;
    /** How long before that the next slide starts to fade in, in ms. */
    lead: number;
    /** It is replaced as soon as another slide is ready. */
    spent: boolean;
  } | null;
  /** The slide that is being prepared, or is ready; `isCalled`: a command asked for it, so it does not wait for its slot. */
  upcoming: { index: number; ready: boolean; isCalled: boolean } | null;
  /** The index after which the search for the next slide begins. */
  from: number;
}

export interface Move {
  action: Action;
  /** Show the idle screen at once. */
  isIdle: boolean;
  /** When the current slot ends, by the monotonic clock; null: the swap is not at the end of a slot. */
  due: number | null;
}

/**
 * @param at reading of the monotonic clock, in ms
 * @param wall the same moment by the wall clock, in ms since the epoch
 * @param aheadMs how long before its slot a slide is prepared
 */
export const standaloneMove = (
  { shown, upcoming, from }: Scene,
  { at, wall }: { at: number; wall: number },
  { isOn, endOf, isPlayable, next }: PlaylistSchedule,
  aheadMs: number,
): Move => {
  const slide = shown?.slide ?? null;
  const isOff = slide !== null && !isOn(slide, wall);
  const isOver = shown === null || slide === null || shown.spent || isOff;
  const due = isOver ? at : Math.min(shown.until - shown.lead, endOf(slide, wall) - wall + at);
  const wallAtSwap = wall + Math.min(Math.max(due - at, 0), aheadMs);

  const move = (action: Action, isIdle = isOff): Move => ({
    action,
    // A slide that is off schedule disappears at once; an edited or failed one may stay until it is replaced.
    isIdle,
    due: isOver || upcoming?.isCalled ? null : due,
  });

  if (upcoming !== null) {
    const { index, ready, isCalled } = upcoming;
    if (!isPlayable(index, isCalled ? wall : wallAtSwap)) return move('drop');
    return move(ready && (isCalled || at >= due) ? 'swap' : 'hold');
  }
  if (at < due - aheadMs) return move('hold');
  const index = next(from, 1, wallAtSwap);
  if (index === null) return move('hold', isOver);
  if (isOver || index !== shown.index) return move({ prepare: index });
  return at >= shown.until ? { ...move('stay'), due: shown.until } : move('hold');
};
