/** The decisions of a player that is synchronized with the other pages of its screen; pure. */
import type { LoopSchedule } from './loop-schedule.ts';
import type { Action } from './timeline.ts';

/** The state that a decision depends on: slides by index. */
export interface Scene {
  /** The current slide. Null: no slide is shown, or it has to be replaced. */
  shown: number | null;
  upcoming: { index: number; ready: boolean } | null;
}

export interface Move {
  action: Action;
  /** No slide is on schedule. */
  isIdle: boolean;
  /** Start of the slot of the current slide; null: its slot is over. */
  shownSince: number | null;
  /** Start of the slot of the slide that is prepared or swapped in. */
  upcomingSince: number;
  /** When to decide again at the latest, by the site's clock. */
  wakeAt: number;
}

/** How long before its moment a swap begins, so that the browser can draw the new layer. */
export const LEAD_MS = 300;

/**
 * @param now the site's clock, in ms since the epoch
 * @param aheadMs how long before its slot a slide is prepared
 */
export const synchronizedMove = (
  loopSchedule: LoopSchedule,
  now: number,
  { shown, upcoming }: Scene,
  isPlayable: (index: number) => boolean,
  aheadMs: number,
): Move => {
  const current = loopSchedule.slotAt(now + LEAD_MS);
  const isOn = current.index !== null && shown === current.index;
  const isFollowed = isOn || current.index === null;
  const wanted = isFollowed && Number.isFinite(current.until) ? loopSchedule.slotAt(current.until) : current;
  const moments = [current.until - LEAD_MS, wanted.since - aheadMs];

  const action = (): Action => {
    const isWanted = wanted.index !== null && wanted.index !== shown;
    if (upcoming !== null && !(isWanted && upcoming.index === wanted.index)) return 'drop';
    if (upcoming !== null) return upcoming.ready && wanted === current ? 'swap' : 'hold';
    if (isWanted && wanted.index !== null && now >= wanted.since - aheadMs && isPlayable(wanted.index)) {
      return { prepare: wanted.index };
    }
    return 'hold';
  };

  return {
    action: action(),
    isIdle: current.index === null,
    shownSince: isOn ? current.since : null,
    upcomingSince: wanted.since,
    wakeAt: Math.min(...moments.filter((moment) => moment > now)),
  };
};

/** How far to shift a page's time, in ms, to reach the start of the next or previous slot. */
export const shiftOf = (loopSchedule: LoopSchedule, now: number, step: 1 | -1): number => {
  const { since, until } = loopSchedule.slotAt(now);
  const moment = step === 1 ? until : loopSchedule.slotAt(since - 1).since;
  return Number.isFinite(moment) ? moment - now : 0;
};
