/** How pages of a screen show the same slide at the same time. All slides that are on schedule form a loop that has run since the epoch; a slide keeps its slot on pages that can't show it. Pure. */
import type { Slide } from '../../service/contract/playlist.ts';
import { endOf, isOn, nextChange } from '../../service/domain/slide-schedule.ts';
import { addDays, instantOf, wallTimeOf } from '../../service/domain/wall-time.ts';
import type { PagePlan } from './page-plan.ts';
import type { LoopOrigin, Now, Playback, Step, Synchronized } from './playback-state.ts';
import { type Action, LEAD_MS, lengthOf, PREPARE_AHEAD_MS } from './timeline.ts';

/** From `since` until before `until`, in ms since the epoch by the site's clock. */
interface LoopSlot {
  /** Null: no slide is on schedule. */
  index: number | null;
  since: number;
  until: number;
}

type LoopSchedule = ReturnType<typeof createLoopSchedule>;

/** A period during which no slide goes on or off schedule, and one round is due. */
interface Segment {
  from: number;
  until: number;
  /** `start`: when the slot begins, in ms since the start of the loop. */
  slides: { index: number; start: number; length: number }[];
  loopMs: number;
}

/** The properties that a slide's slots depend on. */
const timesOf = (slide: Slide): unknown[] => [
  lengthOf(slide, null),
  slide.schedule_mode,
  slide.schedule_start_datetime,
  slide.schedule_end_datetime,
  slide.schedule_start_time,
  slide.schedule_end_time,
  slide.schedule_days_json,
];

export const createLoopSchedule = (plan: PagePlan, timeZone: string) => {
  const { slides } = plan;
  let segment: Segment = { from: 0, until: 0, slides: [], loopMs: 0 };

  const segmentAt = (now: number): Segment => {
    if (now < segment.from || now >= segment.until) {
      const { start, end, isSynchronized } = plan.roundAt(now);
      const round = slides.slice(start, end);
      const on: Segment['slides'] = [];
      let loopMs = 0;
      for (const [index, slide] of round.entries()) {
        if (!isOn(slide, now, timeZone)) continue;
        // Whole milliseconds, so that sums are exact.
        const length = Math.max(1, Math.round(lengthOf(slide, null)));
        on.push({ index: start + index, start: loopMs, length });
        loopMs += length;
        // A round that is not synchronized begins with its first slide; pages then keep their own time.
        if (!isSynchronized) break;
      }
      const until = Math.min(nextChange(round, now, timeZone), plan.changesAt(now));
      segment = { from: now, until, slides: on, loopMs };
    }
    return segment;
  };

  return {
    /** Equal for loops with the same slots: the same slides, durations and schedules. The contents of the slides do not count. */
    key: JSON.stringify(slides.map((slide) => [slide.id, ...timesOf(slide)])),
    /** The slot of a slide that is not usable goes to the nearest usable one before it, where there is one. */
    slotAt: (now: number, origin: LoopOrigin | null = null, isUsable = (_: number): boolean => true): LoopSlot => {
      const { until, slides: loop, loopMs } = segmentAt(now);
      const isMoved = origin !== null && now < origin.until && origin.until <= until;
      const zero = isMoved ? origin.at : 0;
      const begin = zero + Math.floor((now - zero) / loopMs) * loopMs;
      const place = loop.findIndex(({ start, length }) => now < begin + start + length);
      const own = loop[place];
      if (own === undefined) return { index: null, since: now, until };
      const { start, length } = own;
      const isOfUsable = ({ index }: { index: number }): boolean => isUsable(index);
      const used = isUsable(own.index)
        ? own
        : (loop.slice(0, place).findLast(isOfUsable) ?? loop.slice(place + 1).findLast(isOfUsable) ?? own);
      return {
        index: used.index,
        since: begin + used.start - (used.start > start ? loopMs : 0),
        until: Math.min(begin + start + length, isMoved ? origin.until : until),
      };
    },
    /**
     * The origin with which the slot of a slide begins at `now`; null: it is not in the loop. It ends with the day at the
     * latest, so that pages that missed a command are together again.
     */
    originAt: (now: number, index: number): LoopOrigin | null => {
      const { until, slides: loop } = segmentAt(now);
      const slot = loop.find((each) => each.index === index);
      const midnight = instantOf(addDays(wallTimeOf(now, timeZone).date, 1), '00:00', timeZone);
      return slot === undefined ? null : { at: Math.floor(now) - slot.start, until: Math.min(until, midnight) };
    },
  };
};

/** The state that a decision depends on: slides by index. */
export interface Scene {
  /** The current slide. Null: no slide is shown, or it has to be replaced. */
  shown: number | null;
  upcoming: { index: number; isReady: boolean } | null;
}

interface Move {
  action: Action;
  /** No slide is on schedule. */
  isIdle: boolean;
  /** Start of the slot of the current slide; null: its slot is over. */
  shownSince: number | null;
  /** The slot of the slide that is prepared or swapped in; `appears`: when it comes on, within its slot at a boundary. */
  upcomingSlot: { since: number; appears: number };
  /** When to decide again at the latest, by the site's clock. */
  wakeAt: number;
}

/**
 * @param now the site's clock, in ms since the epoch
 * @param aheadMs how long before its slot a slide is prepared
 */
export const synchronizedMove = (
  { slotAt }: { slotAt(at: number): LoopSlot },
  now: number,
  { shown, upcoming }: Scene,
  isPlayable: (index: number) => boolean,
  aheadMs: number,
): Move => {
  const current = slotAt(now + LEAD_MS);
  const isCurrent = current.index !== null && shown === current.index;
  const isFollowed = isCurrent || current.index === null;
  const wanted = isFollowed && Number.isFinite(current.until) ? slotAt(current.until) : current;
  const ends = wanted === current ? slotAt(now).until : current.until;
  const isEntered = wanted === current && ends > now + LEAD_MS;
  const appears = isEntered ? wanted.since : Math.max(wanted.since, ends);
  const moments = [current.until - LEAD_MS, appears - aheadMs];

  const action = (): Action => {
    const isWanted = wanted.index !== null && wanted.index !== shown;
    if (upcoming !== null && !(isWanted && upcoming.index === wanted.index)) return 'drop';
    if (upcoming !== null) return upcoming.isReady && wanted === current ? 'swap' : 'hold';
    if (isWanted && wanted.index !== null && now >= appears - aheadMs && isPlayable(wanted.index)) {
      return { prepare: wanted.index };
    }
    return 'hold';
  };

  return {
    action: action(),
    isIdle: current.index === null,
    shownSince: isCurrent ? current.since : null,
    upcomingSlot: { since: wanted.since, appears },
    wakeAt: Math.min(...moments.filter((moment) => moment > now)),
  };
};

/** Until when the slide of a place is due, in ms since the epoch; `now`: it is not. */
const dueUntil = ({ plan, timeZone }: Playback, index: number, now: number): number => {
  const slide = plan.slides[index];
  const isDue = slide !== undefined && plan.roundOf(index) === plan.roundAt(now);
  return isDue ? Math.min(endOf(slide, now, timeZone), plan.changesAt(now)) : now;
};

export const createSynchronized = (loopSchedule: LoopSchedule): Synchronized => {
  /** The slot that a halted page keeps: the one in which it was halted, for as long as its slide is due; null: none. */
  const heldSlot = (state: Playback, now: Now, isUsable: (index: number) => boolean): LoopSlot | null => {
    if (state.haltedAt === null) return null;
    const at = now.site + LEAD_MS;
    const slot = loopSchedule.slotAt(at - (now.elapsed - state.haltedAt), state.origin, isUsable);
    const until = dueUntil(state, slot.index ?? -1, at);
    return until > at && isUsable(slot.index ?? -1) ? { ...slot, until } : null;
  };

  const moveTo = (index: number | null, { site }: Now): Step => {
    const origin = index === null ? null : loopSchedule.originAt(site, index);
    return origin === null ? 'hold' : { origin };
  };

  return {
    key: loopSchedule.key,
    slotAt: (now) => loopSchedule.slotAt(now),
    decide: (state, now) => {
      const { shown, upcoming, plan, timeZone, origin, haltedAt } = state;
      const at = now.site + LEAD_MS;
      const { isAvailable, changesAt } = state.scheduleAt(state.cooldowns, now);
      const isOver = shown?.slide == null || shown.isSpent || dueUntil(state, shown.index, at) <= at;
      // What is due keeps the slots of slides that can't be shown, so that pages stay synchronized.
      const isUsable = isOver ? isAvailable : () => true;
      const held = heldSlot(state, now, isUsable);
      const slotAt = (time: number): LoopSlot =>
        held !== null && time < held.until ? held : loopSchedule.slotAt(time, origin, isUsable);
      const scene = { shown: isOver ? null : shown.index, upcoming };
      const move = synchronizedMove({ slotAt }, now.site, scene, isAvailable, PREPARE_AHEAD_MS);
      const isOff = shown?.slide != null && !isOn(shown.slide, at, timeZone);
      const isEmpty = isOver && upcoming === null && move.action === 'hold' && plan.roundAt(at).isSynchronized;
      return {
        action: move.action,
        isIdle: move.isIdle || isOff || isEmpty,
        due: null,
        shownStartsAt: move.shownSince,
        upcomingSlot: move.upcomingSlot,
        haltedAt: held === null && haltedAt !== null ? now.elapsed : haltedAt,
        wakeTimes: [move.wakeAt, changesAt(now.site) - LEAD_MS].map((time) => now.elapsed + time - now.site),
      };
    },
    step: (state, by, now) => {
      const { isAvailable, next } = state.scheduleAt(state.cooldowns, now);
      const { index } = heldSlot(state, now, isAvailable) ?? loopSchedule.slotAt(now.site, state.origin, isAvailable);
      return moveTo(next(index ?? -1, by, now.site), now);
    },
    goTo: (state, place, now) => {
      const { isPlayable } = state.scheduleAt(state.cooldowns, now);
      return moveTo(isPlayable(place, now.site) ? place : null, now);
    },
    positionOf: ({ shown, upcoming, leaving }, key, { site }) => {
      const view = [shown, upcoming, leaving].find((each) => each?.key === key);
      if (view == null) return null;
      // Until it comes on, a view is made ready for the position that it comes on with.
      return (view === upcoming ? Math.max(site, view.appearsAt) : site) - view.startsAt;
    },
  };
};
