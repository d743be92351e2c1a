/** How pages of a screen show the same slide at the same time. All slides that are on schedule form a loop that has run since the epoch; a slide keeps its slot on pages that can't show it. Pure. */
import type { Slide } from '../../service/contract/playlist.ts';
import { isOn, nextChange } from '../../service/domain/slide-schedule.ts';
import type { PagePlan } from './page-plan.ts';
import type { Direction, Now, Playback, Synchronized } from './playback-state.ts';
import { type Action, LEAD_MS, lengthOf, PREPARE_AHEAD_MS } from './timeline.ts';

/** From `since` until before `until`, in ms since the epoch by the site's clock. */
interface LoopSlot {
  /** Null: no slide is on schedule. */
  index: number | null;
  since: number;
  until: number;
  /** When it comes on: later than `since` if what is on schedule has changed meanwhile. */
  appears: number;
}

type LoopSchedule = ReturnType<typeof createLoopSchedule>;

/** A period during which no slide goes on or off schedule, and one round is due. */
interface Segment {
  from: number;
  until: number;
  slides: { index: number; length: number }[];
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
  let segment: Segment = { from: 0, until: 0, slides: [] };

  const segmentAt = (now: number): Segment => {
    if (now < segment.from || now >= segment.until) {
      const { start, end, isSynchronized } = plan.roundAt(now);
      const round = slides.slice(start, end);
      // Whole milliseconds, so that sums are exact.
      const on = round.flatMap((slide, index) =>
        isOn(slide, now, timeZone)
          ? { index: start + index, length: Math.max(1, Math.round(lengthOf(slide, null))) }
          : [],
      );
      segment = {
        from: now,
        until: Math.min(nextChange(round, now, timeZone), plan.changesAt(now)),
        // A round that is not synchronized begins with its first slide; pages then keep their own time.
        slides: isSynchronized ? on : on.slice(0, 1),
      };
    }
    return segment;
  };

  return {
    /** Equal for loops with the same slots: the same slides, durations and schedules. The contents of the slides do not count. */
    key: JSON.stringify(slides.map((slide) => [slide.id, ...timesOf(slide)])),
    slotAt: (now: number): LoopSlot => {
      const { from, until, slides: loop } = segmentAt(now);
      const loopMs = loop.reduce((sum, { length }) => sum + length, 0);
      let since = Math.floor(now / loopMs) * loopMs;
      for (const { index, length } of loop) {
        if (now < since + length) {
          return { index, since, until: Math.min(since + length, until), appears: Math.max(since, from) };
        }
        since += length;
      }
      return { index: null, since: from, until, appears: from };
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
  /** The slot of the slide that is prepared or swapped in. */
  upcomingSlot: Pick<LoopSlot, 'since' | 'appears'>;
  /** When to decide again at the latest, by the site's clock. */
  wakeAt: number;
}

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
  const isCurrent = current.index !== null && shown === current.index;
  const isFollowed = isCurrent || current.index === null;
  const wanted = isFollowed && Number.isFinite(current.until) ? loopSchedule.slotAt(current.until) : current;
  const moments = [current.until - LEAD_MS, wanted.appears - aheadMs];

  const action = (): Action => {
    const isWanted = wanted.index !== null && wanted.index !== shown;
    if (upcoming !== null && !(isWanted && upcoming.index === wanted.index)) return 'drop';
    if (upcoming !== null) return upcoming.isReady && wanted === current ? 'swap' : 'hold';
    if (isWanted && wanted.index !== null && now >= wanted.appears - aheadMs && isPlayable(wanted.index)) {
      return { prepare: wanted.index };
    }
    return 'hold';
  };

  return {
    action: action(),
    isIdle: current.index === null,
    shownSince: isCurrent ? current.since : null,
    upcomingSlot: wanted,
    wakeAt: Math.min(...moments.filter((moment) => moment > now)),
  };
};

/** How far to shift a page's time, in ms, to reach the start of the next or previous slot. */
export const shiftOf = (loopSchedule: LoopSchedule, now: number, step: Direction): number => {
  const { since, until } = loopSchedule.slotAt(now);
  const moment = step === 1 ? until : loopSchedule.slotAt(since - 1).since;
  return Number.isFinite(moment) ? moment - now : 0;
};

/** The site's time as this page plays it. The time of a halted page stops until its slide goes off schedule. */
const timeOf = (loopSchedule: LoopSchedule, { plan, timeZone, haltedAt, shift }: Playback, now: Now): number => {
  const time = now.site + shift;
  const halted = haltedAt === null ? time : time - (now.elapsed - haltedAt);
  const slide = plan.slides[loopSchedule.slotAt(halted).index ?? -1];
  const isDue = plan.roundAt(halted) === plan.roundAt(time);
  return isDue && slide !== undefined && isOn(slide, time, timeZone) ? halted : time;
};

/** A slide that can't be shown leaves its slot to the slide before it, so that pages stay synchronized. */
export const createSynchronized = (loopSchedule: LoopSchedule): Synchronized => ({
  key: loopSchedule.key,
  indexAt: (now) => loopSchedule.slotAt(now).index,
  decide: (state, now) => {
    const { shown, upcoming, timeZone } = state;
    const time = timeOf(loopSchedule, state, now);
    const schedule = state.scheduleAt(state.cooldowns, now);
    const scene = { shown: shown?.slide == null || shown.isSpent ? null : shown.index, upcoming };
    const move = synchronizedMove(loopSchedule, time, scene, schedule.isAvailable, PREPARE_AHEAD_MS);
    const isOff = shown?.slide != null && !isOn(shown.slide, time + LEAD_MS, timeZone);
    const isEmpty = shown === null && upcoming === null && move.action === 'hold';
    return {
      action: move.action,
      isIdle: move.isIdle || isOff || isEmpty,
      due: null,
      shownStartsAt: move.shownSince,
      upcomingSlot: move.upcomingSlot,
      wakeTimes: [now.elapsed + move.wakeAt - time],
    };
  },
  /** Goes to the start of the previous or next slot whose slide is not failing; the page keeps that offset. */
  step: (state, by, now) => {
    const { isAvailable } = state.scheduleAt(state.cooldowns, now);
    let shift = 0;
    for (let tries = state.plan.slides.length; tries > 0; tries--) {
      const time = timeOf(loopSchedule, { ...state, shift: state.shift + shift }, now);
      const moved = shiftOf(loopSchedule, time, by);
      shift += moved;
      if (isAvailable(loopSchedule.slotAt(time + moved).index ?? -1)) break;
    }
    return { shift };
  },
  /** Goes to the start of the next slot of the slide, by whole milliseconds; the page keeps that offset. */
  goTo: (state, place, now) => {
    let time = timeOf(loopSchedule, state, now);
    const start = time;
    for (let tries = state.plan.slides.length; tries > 0; tries--) {
      time += shiftOf(loopSchedule, time, 1);
      if (loopSchedule.slotAt(time).index === place) return { shift: Math.ceil(time - start) };
    }
    return 'hold';
  },
  positionOf: ({ shown, upcoming, leaving, shift }, key, { site }) => {
    const view = [shown, upcoming, leaving].find((each) => each?.key === key);
    return view == null ? null : site + shift - view.startsAt;
  },
});
