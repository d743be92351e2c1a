/** When slides are on schedule and screens are open, in one week of the site; pure. */
import type { OpeningTime } from '../../../service/contract/kiosk.ts';
import { openSpans } from '../../../service/domain/opening-hours.ts';
import { isOn, nextChange, type Schedule } from '../../../service/domain/slide-schedule.ts';
import { addDays, instantOf, type Span, wallTimeOf, weekdayOf } from '../../../service/domain/wall-time.ts';

const DAYS = 7;
/** A schedule changes at most twice a day. */
const MAX_SPANS = 3 * DAYS;

/** The eight midnights of the week of `now`, from Monday's to the next Monday's, ms since the epoch. */
export const weekOf = (now: number, timeZone: string): number[] => {
  const { date } = wallTimeOf(now, timeZone);
  const monday = addDays(date, 1 - weekdayOf(date));
  return Array.from({ length: DAYS + 1 }, (_, day) => instantOf(addDays(monday, day), '00:00', timeZone));
};

const boundsOf = (week: readonly number[]): Span => ({ start: week[0] ?? 0, end: week.at(-1) ?? 0 });

/** When a slide is on schedule in a week; null: its schedule has errors. */
export const spansOfSlide = (schedule: Schedule, week: readonly number[], timeZone: string): Span[] | null => {
  const { start, end } = boundsOf(week);
  const spans: Span[] = [];
  try {
    for (let at = start, steps = 0; at < end && steps < MAX_SPANS; steps += 1) {
      const next = nextChange([schedule], at, timeZone);
      if (isOn(schedule, at, timeZone)) spans.push({ start: at, end: Math.min(next, end) });
      if (!(next > at)) break;
      at = next;
    }
    return spans;
  } catch {
    // The schedule is incomplete while it is being typed.
    return null;
  }
};

export const spansOfHours = (hours: readonly OpeningTime[], week: readonly number[], timeZone: string): Span[] => {
  const { start, end } = boundsOf(week);
  try {
    return openSpans(hours, start, timeZone, DAYS)
      .map((span) => ({ start: Math.max(span.start, start), end: Math.min(span.end, end) }))
      .filter((span) => span.start < span.end);
  } catch {
    return [];
  }
};
