/**
 * What is on at a time of the site, wherever and whenever one looks: pure. All slides that are on schedule follow one
 * another in a ring that has turned since the epoch; a slide's time is its own wherever it can't be shown.
 */
import type { Slide } from '../../service/contract/playlist.ts';
import { isOn, nextChange } from './schedule.ts';
import { lengthOf } from './timeline.ts';

/** From `since` until before `until`, in ms since the epoch by the site's clock. */
export interface RotaTurn {
  /** Null: no slide is on schedule. */
  index: number | null;
  since: number;
  until: number;
}

export interface Rota {
  turn(now: number): RotaTurn;
  /** Equal where two of them turn alike: the same slides, as long and as often, whatever they show. */
  readonly key: string;
}

/** While the schedule changes nothing. */
interface Segment {
  from: number;
  until: number;
  slides: { index: number; length: number }[];
}

/** What a slide's turns depend on. */
const timesOf = (slide: Slide): unknown[] => [
  lengthOf(slide, null),
  slide.schedule_mode,
  slide.schedule_start_datetime,
  slide.schedule_end_datetime,
  slide.schedule_start_time,
  slide.schedule_end_time,
  slide.schedule_days_json,
];

export const createRota = (slides: readonly Slide[], timeZone: string): Rota => {
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
    turn: (now) => {
      const { from, until, slides: ring } = segmentAt(now);
      const round = ring.reduce((sum, { length }) => sum + length, 0);
      let since = Math.floor(now / round) * round;
      for (const { index, length } of ring) {
        if (now < since + length) return { index, since, until: Math.min(since + length, until) };
        since += length;
      }
      return { index: null, since: from, until };
    },
  };
};
