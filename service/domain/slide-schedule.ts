/** When a slide is on schedule, by the site's wall clock; pure. */
import type { Slide } from '../contract/playlist.ts';
import { addDays, instantOf, type Span, spanOf, wallTimeOf, weekdayOf } from './wall-time.ts';

export type Schedule = Pick<
  Slide,
  | 'schedule_mode'
  | 'schedule_start_datetime'
  | 'schedule_end_datetime'
  | 'schedule_start_time'
  | 'schedule_end_time'
  | 'schedule_days_json'
>;

/** The instant of an ISO 8601 date and time; without an offset it is wall-clock time in `timeZone`. */
export const momentOf = (dateTime: string, timeZone: string): number => {
  const [date = '', time = '00:00'] = dateTime.split('T');
  return /[Z+-]/.test(time) ? Date.parse(dateTime) : instantOf(date, time, timeZone);
};

/** The start and end of a schedule; infinite if it has none. */
const bounds = ({ schedule_start_datetime: start, schedule_end_datetime: end }: Schedule, timeZone: string): Span => ({
  start: start === null ? Number.NEGATIVE_INFINITY : momentOf(start, timeZone),
  end: end === null ? Number.POSITIVE_INFINITY : momentOf(end, timeZone),
});

/** Days to search: a weekly window can fall into a gap of daylight saving, and then the next one is a week later. */
const HORIZON_DAYS = 15;
/** Longer than any continuous window of a schedule that has a weekday off, including autumn's extra hour. */
const MAX_WINDOW_MS = 8 * 86_400_000;

/** The window of a weekly schedule at `now`, else the next one; adjoining windows are merged. */
const weeklySpan = (schedule: Schedule, now: number, limits: Span, timeZone: string): Span | null => {
  const weekdays = schedule.schedule_days_json === null ? null : (JSON.parse(schedule.schedule_days_json) as number[]);
  const { schedule_start_time: from, schedule_end_time: until } = schedule;
  const since = Math.max(now, limits.start);
  const today = wallTimeOf(since, timeZone).date;
  let found: Span | null = null;
  // A window that began yesterday may run past midnight.
  for (let ahead = -1; ahead < HORIZON_DAYS; ahead++) {
    const date = addDays(today, ahead);
    if (weekdays?.includes(weekdayOf(date)) === false) continue;
    const window = spanOf(date, from ?? '00:00', until ?? '00:00', timeZone);
    const start = Math.max(window.start, limits.start);
    const end = Math.min(window.end, limits.end);
    if (end <= Math.max(start, now)) continue;
    if (found === null) found = { start, end };
    else if (start <= found.end) found.end = end;
    else return found;
  }
  // Daily windows that adjoin for longer than a week never end.
  const isEndless = found !== null && found.end - Math.max(found.start, since) > MAX_WINDOW_MS;
  return found !== null && isEndless ? { start: found.start, end: limits.end } : found;
};

/** The period in which a slide is on schedule at `now`, else the next such period; null: there is no further one. */
const spanAt = (schedule: Schedule, now: number, timeZone: string): Span | null => {
  const limits =
    schedule.schedule_mode === 'always'
      ? { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY }
      : bounds(schedule, timeZone);
  if (limits.end <= Math.max(limits.start, now)) return null;
  return schedule.schedule_mode === 'weekly' ? weeklySpan(schedule, now, limits, timeZone) : limits;
};

/** Whether a slide is on schedule at `now`, in ms since the epoch. */
export const isOn = (schedule: Schedule, now: number, timeZone: string): boolean =>
  (spanAt(schedule, now, timeZone)?.start ?? Number.POSITIVE_INFINITY) <= now;

/** Whether a slide is on schedule at `now` or at any later time. */
export const playsFrom = (schedule: Schedule, now: number, timeZone: string): boolean =>
  spanAt(schedule, now, timeZone) !== null;

/** When a slide goes off schedule, in ms since the epoch: `now` if it is off, infinity if it stays on. */
export const endOf = (schedule: Schedule, now: number, timeZone: string): number => {
  const span = spanAt(schedule, now, timeZone);
  return span !== null && span.start <= now ? span.end : now;
};

/** When the next slide goes on or off schedule, in ms since the epoch; infinity: never. */
export const nextChange = (schedules: readonly Schedule[], now: number, timeZone: string): number =>
  Math.min(
    ...schedules.map((schedule) => {
      const { start, end } = spanAt(schedule, now, timeZone) ?? { start: now, end: Number.POSITIVE_INFINITY };
      return start > now ? start : end;
    }),
  );
