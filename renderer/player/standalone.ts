/** What a player does that goes by its own time: a pure function of the moment, the schedules and what is there. */
import type { Slide } from '../../service/contract/playlist.ts';
import type { Programme } from './screen-document.ts';
import type { Action } from './timeline.ts';

/** What the player has. */
export interface Scene {
  /** On the stage; with no slide it is the idle screen. Null: nothing is on yet. */
  shown: {
    slide: Slide | null;
    index: number;
    /** When its time is up, by the clock that never jumps. */
    until: number;
    /** How long before that what follows comes on, ms: a fade takes its time. */
    lead: number;
    /** It goes as soon as something can come. */
    spent: boolean;
  } | null;
  /** Being made ready, or ready; `isCalled`: a person asked for it, and it does not wait for its turn. */
  upcoming: { index: number; ready: boolean; isCalled: boolean } | null;
  /** The index that the search for what comes next begins after. */
  from: number;
}

export interface Move {
  action: Action;
  /** The idle screen comes on at once. */
  isIdle: boolean;
  /** When the time of what is on is up, by the clock that never jumps; null: what comes on comes out of turn. */
  due: number | null;
}

/**
 * @param at by the clock that never jumps
 * @param wall the same moment by the wall clock
 * @param aheadMs how long before its turn a slide is made ready
 */
export const moveAlone = (
  { shown, upcoming, from }: Scene,
  { at, wall }: { at: number; wall: number },
  { isOn, endOf, isPlayable, next }: Programme,
  aheadMs: number,
): Move => {
  const slide = shown?.slide ?? null;
  const isOff = slide !== null && !isOn(slide, wall);
  const isOver = shown === null || slide === null || shown.spent || isOff;
  const due = isOver ? at : Math.min(shown.until - shown.lead, endOf(slide, wall) - wall + at);
  const wallAtSwap = wall + Math.min(Math.max(due - at, 0), aheadMs);

  const move = (action: Action, isIdle = isOff): Move => ({
    action,
    // What is over by the schedule is not shown a moment longer; what was changed or broke may stay until it is replaced.
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
