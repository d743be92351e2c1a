/** What a screen plays at a given time, by the player's own rules; pure. Loaded on demand. */
import type { OpeningTime } from '../../../service/contract/kiosk.ts';
import type { PlaylistPayload, Slide } from '../../../service/contract/playlist.ts';
import { kindsWithOwnLength } from '../../../service/contract/slide-values.ts';
import { isOpen, openSpans } from '../../../service/domain/opening-hours.ts';
import { isOn, nextChange } from '../../../service/domain/slide-schedule.ts';
import { createPagePlan, oneRound } from '../../player/page-plan.ts';
import { createLoopSchedule } from '../../player/synchronized.ts';
import { following, lengthOf } from '../../player/timeline.ts';

export interface PlannedSlide {
  index: number;
  slide: Slide;
  /** Its start, ms since the epoch; null: not known to the second. */
  since: number | null;
  /** Its duration, ms; null: that of its medium. */
  length: number | null;
}

export interface Plan {
  /** Null: open. Else when it opens, ms since the epoch; infinity: not within two weeks. */
  closedUntil: number | null;
  /** In chronological order. */
  slides: PlannedSlide[];
  /** When a slide goes on or off schedule, ms since the epoch; infinity: never. */
  changesAt: number;
}

interface Question {
  slides: readonly Slide[];
  hours: readonly OpeningTime[] | null;
  timeZone: string;
  /** ms since the epoch. */
  at: number;
  /** All pages show the same slide at the same time, so the start of each slide is known. */
  isSynchronized: boolean;
  /** The slide that is on at that time; null: unknown. */
  current: number | null;
  /** How many slides to name. */
  count: number;
}

const DAYS_AHEAD = 14;
const MAX_COUNT = 50;

const synchronized = ({ slides, timeZone, at, count }: Question): PlannedSlide[] => {
  const loop = createLoopSchedule(oneRound(slides, true), timeZone);
  const planned: PlannedSlide[] = [];
  let moment = at;
  while (planned.length < count) {
    const { index, since, until } = loop.slotAt(moment);
    const slide = index === null ? undefined : slides[index];
    if (index === null || slide === undefined || !Number.isFinite(until)) break;
    planned.push({ index, slide, since, length: until - since });
    moment = until;
  }
  return planned;
};

const inTurn = ({ slides, timeZone, at, current, count }: Question): PlannedSlide[] => {
  const isPlayable = (index: number): boolean => {
    const slide = slides[index];
    return slide !== undefined && isOn(slide, at, timeZone);
  };
  const planned: PlannedSlide[] = [];
  let index = current !== null && isPlayable(current) ? current : following(slides.length, -1, 1, isPlayable);
  const first = index;
  while (index !== null && planned.length < count) {
    const slide = slides[index] as Slide;
    const isOwn = slide.duration_seconds === null && kindsWithOwnLength.includes(slide.kind);
    planned.push({ index, slide, since: null, length: isOwn ? null : lengthOf(slide, null) });
    index = following(slides.length, index, 1, isPlayable);
    if (index === first) break;
  }
  return planned;
};

export const planAt = (question: Question): Plan => {
  const { slides, hours, timeZone, at, isSynchronized } = question;
  const bounded = { ...question, count: Math.min(question.count, MAX_COUNT) };
  const isClosed = !isOpen(hours, at, timeZone);
  const openings =
    hours === null ? [] : openSpans(hours, at, timeZone, DAYS_AHEAD).flatMap(({ start }) => (start > at ? start : []));
  return {
    closedUntil: isClosed ? Math.min(...openings) : null,
    slides: isSynchronized ? synchronized(bounded) : inTurn(bounded),
    changesAt: nextChange(slides, at, timeZone),
  };
};

/** Whether the payload tells what is due at a time: its programmes are evaluated for 8 days. */
export const isPlannedAt = ({ programme }: PlaylistPayload, at: number): boolean =>
  programme === undefined || (Date.parse(programme.from) <= at && at < Date.parse(programme.until));

/** The round that is due at a time, by the programmes of the payload. */
export const roundAt = (payload: PlaylistPayload, isSynchronized: boolean, at: number) => {
  const plan = createPagePlan(payload, isSynchronized);
  const { start, end, isSynchronized: isInStep } = plan.roundAt(at);
  return { slides: plan.slides.slice(start, end), isSynchronized: isInStep, changesAt: plan.changesAt(at) };
};
