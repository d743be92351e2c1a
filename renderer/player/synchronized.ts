/** What a player does to be in step with all others: pure functions of the rota, the moment and what is there. */
import type { Rota } from './loop-schedule.ts';
import type { Action } from './timeline.ts';

/** What the player has: slides by index. */
export interface Scene {
  /** On the stage, or about to be. Null: nothing is, or what has to go. */
  shown: number | null;
  upcoming: { index: number; ready: boolean } | null;
}

export interface Move {
  action: Action;
  /** No slide is on schedule. */
  isIdle: boolean;
  /** When the turn of what is on began, or begins; null: it is not its turn. */
  shownSince: number | null;
  /** Likewise of what is being made ready, or is swapped in. */
  upcomingSince: number;
  /** When to look again at the latest, by the site's clock. */
  wakeAt: number;
}

/** A swap is begun this long before its moment: so much time has the browser to draw the layer that comes on. */
export const LEAD_MS = 300;

/**
 * @param now by the site's clock, in ms since the epoch
 * @param aheadMs how long before its turn a slide is made ready
 */
export const moveOf = (
  rota: Rota,
  now: number,
  { shown, upcoming }: Scene,
  isPlayable: (index: number) => boolean,
  aheadMs: number,
): Move => {
  const current = rota.turn(now + LEAD_MS);
  const isOn = current.index !== null && shown === current.index;
  const isFollowed = isOn || current.index === null;
  const wanted = isFollowed && Number.isFinite(current.until) ? rota.turn(current.until) : current;
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

/** How far to shift a page's time, in ms, to go a turn on or back: to where that turn begins. */
export const shiftOf = (rota: Rota, now: number, step: 1 | -1): number => {
  const { since, until } = rota.turn(now);
  const moment = step === 1 ? until : rota.turn(since - 1).since;
  return Number.isFinite(moment) ? moment - now : 0;
};
