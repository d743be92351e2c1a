/** The decisions of a player that keeps its own time; pure. */
import type { Slide } from '../../service/contract/playlist.ts';
import { endOfPlaylist } from './page-plan.ts';
import type { Decision, Mode, Now, Playback, Shown } from './playback-state.ts';
import type { PlaylistSchedule } from './playlist-schedule.ts';
import { type Action, FADE_MS, LEAD_MS, PREPARE_AHEAD_MS, resumed, type Slot } from './timeline.ts';

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
    isSpent: boolean;
  } | null;
  /**
   * The slide that is being prepared, or is ready; `isCalled`: requested by a command, so it does not wait for its
   * slot.
   */
  upcoming: { index: number; isReady: boolean; isCalled: boolean } | null;
  /** The index after which the search for the next slide begins. */
  from: number;
}

interface Move {
  action: Action;
  /** Show the idle screen immediately. */
  isIdle: boolean;
  /** When the current slot ends, by the monotonic clock; null: the swap is not at the end of a slot. */
  due: number | null;
}

/** From the decision to swap until the old layer is gone: the stage warms up the new layer first. */
const FADE_LEAD_MS = FADE_MS + 100;

/**
 * @param at reading of the monotonic clock, in ms
 * @param wall the same moment by the wall clock, in ms since the epoch
 * @param aheadMs how long before its slot a slide is prepared
 */
export const standaloneMove = (
  { shown, upcoming, from }: Scene,
  { at, wall }: { at: number; wall: number },
  { isOn, endOf, dueUntil, isPlayable, next }: PlaylistSchedule,
  aheadMs: number,
): Move => {
  const slide = shown?.slide ?? null;
  const isOff = slide !== null && !isOn(slide, wall);
  const dueLeft = shown === null ? 0 : dueUntil(shown.index, wall) - wall;
  // What is no longer due stays until its successor is ready.
  const isOver = shown === null || slide === null || shown.isSpent || isOff || dueLeft <= 0;
  const due = isOver ? at : Math.min(shown.until - shown.lead, endOf(slide, wall) - wall + at, dueLeft + at);
  // Whole milliseconds, as boundaries are: a sum of fractions may lie before one.
  const wallAtSwap = Math.round(wall + Math.min(Math.max(due - at, 0), aheadMs));

  const move = (action: Action, isIdle = isOff): Move => ({
    action,
    // A slide that is off schedule disappears immediately; an edited or failed one may stay until it is replaced.
    isIdle,
    due: isOver || upcoming?.isCalled ? null : due,
  });

  if (upcoming !== null) {
    const { index, isReady, isCalled } = upcoming;
    if (!isPlayable(index, isCalled ? wall : wallAtSwap)) return move('drop');
    return move(isReady && (isCalled || at >= due) ? 'swap' : 'hold');
  }
  if (at < due - aheadMs) return move('hold');
  const index = next(from, 1, wallAtSwap);
  if (index === null) return move('hold', isOver);
  if (isOver || index !== shown.index) return move({ prepare: index });
  return at >= shown.until ? { ...move('stay'), due: shown.until } : move('hold');
};

/** The index after which the search for the next slide begins. */
export const searchFrom = ({ plan, lastFailed, shown }: Playback): number =>
  lastFailed !== null && plan.slides[lastFailed.index]?.id === lastFailed.id ? lastFailed.index : (shown?.index ?? -1);

/** The slot of the shown slide, moved by the time that it has been halted. */
export const runningSlot = ({ slot }: Shown, { haltedAt }: Playback, elapsed: number): Slot =>
  haltedAt === null ? slot : resumed(slot, haltedAt, elapsed);

/** How long before the end of its slot the fade begins, in ms, so that a video still moves until it is gone. */
const fadeLeadOf = ({ slot, movesMs, index }: Shown, { plan }: Playback): number => {
  if (plan.roundOf(index).playlist?.fade_between_slides !== true || movesMs === null) return 0;
  const late = slot.until + FADE_LEAD_MS - (slot.since + movesMs);
  return Math.min(Math.max(late, 0), FADE_LEAD_MS, (slot.until - slot.since) / 2);
};

/** A synchronized round is entered at its place by the site's clock. */
const entering = (state: Playback, now: Now): PlaylistSchedule => {
  const { plan, synchronized } = state;
  const schedule = state.scheduleAt(state.cooldowns, now);
  if (synchronized === null || !now.isClockSet) return schedule;
  return {
    ...schedule,
    next: (from, step, wall) => {
      const round = plan.roundAt(wall);
      if (!round.isSynchronized || plan.roundOf(from) === round) return schedule.next(from, step, wall);
      const { index } = synchronized.slotAt(wall);
      return index !== null && schedule.isPlayable(index, wall) ? index : null;
    },
  };
};

/** The slot of a slide with which a synchronized round is entered at the end of what is due; null: its round is not one. */
const entryOf = ({ plan, synchronized }: Playback, index: number, now: Now): Decision['upcomingSlot'] => {
  if (synchronized === null || !now.isClockSet || !plan.roundOf(index).isSynchronized) return null;
  const appears = endOfPlaylist(plan, now.wall);
  return { since: synchronized.slotAt(appears).since, appears };
};

export const standalone: Mode = {
  decide: (state, now) => {
    const { shown, upcoming, haltedAt } = state;
    const { elapsed: at } = now;
    const schedule = entering(state, now);
    const boundary = state.plan.changesAt(now.wall);
    // A little before a boundary, so that the swap is on the screen in its frame.
    const wall = now.isClockSet && boundary - now.wall <= LEAD_MS ? boundary : now.wall;
    const early = wall - now.wall;
    const lead = shown === null ? 0 : fadeLeadOf(shown, state);
    // A halt stops the slide's time, not its schedule.
    const until = haltedAt === null ? (shown?.slot.until ?? at) : Number.POSITIVE_INFINITY;
    const move = standaloneMove(
      {
        shown: shown && { ...shown, until, lead },
        upcoming: upcoming && { ...upcoming, isCalled: upcoming.step !== null },
        from: searchFrom(state),
      },
      { at, wall },
      schedule,
      PREPARE_AHEAD_MS,
    );
    const changesAt = schedule.changesAt(wall) - wall + at;
    const ends = shown?.slide == null ? [] : [until, until - lead];
    return {
      ...move,
      due: early > 0 && move.action === 'swap' && upcoming?.step == null ? at + early : move.due,
      shownStartsAt: null,
      upcomingSlot: entryOf(
        state,
        typeof move.action === 'object' ? move.action.prepare : (upcoming?.index ?? -1),
        now,
      ),
      haltedAt,
      wakeTimes: [
        ...[...ends, changesAt].flatMap((moment) => [moment, moment - PREPARE_AHEAD_MS]),
        changesAt - LEAD_MS,
      ],
    };
  },
  step: (state, by, now) => {
    const { shown, upcoming } = state;
    const from = upcoming?.step != null ? upcoming.index : (shown?.index ?? -1);
    const index = state.scheduleAt(state.cooldowns, now).next(from, by, now.wall);
    if (index === null || shown?.slide == null) return 'hold';
    return index === shown.index && !shown.isSpent ? 'restart' : { call: index };
  },
  goTo: (state, place, now) => {
    const { shown } = state;
    if (shown === null || !state.scheduleAt(state.cooldowns, now).isPlayable(place, now.wall)) return 'hold';
    return place === shown.index && !shown.isSpent ? 'restart' : { call: place };
  },
  positionOf: (state, key, now) => {
    const { shown, upcoming, synchronized } = state;
    const { elapsed } = now;
    const isContinued = upcoming?.key === key && upcoming.isContinued;
    if (shown !== null && (shown.key === key || isContinued)) return elapsed - runningSlot(shown, state, elapsed).since;
    // What enters a synchronized round, or has just left one.
    return synchronized?.positionOf(state, key, now) ?? null;
  },
};
