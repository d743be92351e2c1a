/**
 * The slide that synchronized pages show at a given time; pure. All slides that are on schedule form a loop that has run
 * since the epoch. A slide keeps its slot on pages that can't show it.
 */
import type { Slide } from '../../service/contract/playlist.ts';
import { isOn, nextChange } from '../../service/domain/slide-schedule.ts';
import { lengthOf } from './timeline.ts';

/** From `since` until before `until`, in ms since the epoch by the site's clock. */
export interface LoopSlot {
  /** Null: no slide is on schedule. */
  index: number | null;
  since: number;
  until: number;
}

export interface LoopSchedule {
  slotAt(now: number): LoopSlot;
  /** Equal for loops with the same slots: the same slides, durations and schedules. The contents of the slides do not count. */
  readonly key: string;
}

/** A period during which no slide goes on or off schedule. */
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

export const createLoopSchedule = (slides: readonly Slide[], timeZone: string): LoopSchedule => {
  let segment: Segment = { from: 0, until: 0, slides: [] };

  const segmentAt = (now: number): Segment => {
    if (now < segment.from || now >= segment.until) {
      segment = {
        from: now,
        until: nextChange(slides, now, timeZone),
        // Whole milliseconds, so that sums are exact.
        slides: slides.flatMap((slide, index) =>
          isOn(slide, now, timeZone) ? { index, length: Math.max(1, Math.round(lengthOf(slide, null))) } : [],
        ),
      };
    }
    return segment;
  };

  return {
    key: JSON.stringify(slides.map((slide) => [slide.id, ...timesOf(slide)])),
    slotAt: (now) => {
      const { from, until, slides: loop } = segmentAt(now);
      const loopMs = loop.reduce((sum, { length }) => sum + length, 0);
      let since = Math.floor(now / loopMs) * loopMs;
      for (const { index, length } of loop) {
        if (now < since + length) return { index, since, until: Math.min(since + length, until) };
        since += length;
      }
      return { index: null, since: from, until };
    },
  };
};
