/** When a slide is on: pure, by the wall clocks of the site. */
import type { Slide } from '../../service/contract/playlist.ts';
import { addDays, instantOf, type Span, spanOf, wallTimeOf, weekdayOf } from '../../service/domain/wall-time.ts';

export type Schedule = Pick<
  Slide,
  | 'schedule_mode'
  | 'schedule_start_datetime'
  | 'schedule_end_datetime'
  | 'schedule_start_time'
  | 'schedule_end_time'
  | 'schedule_days_json'
>;

/** An ISO 8601 date and time as an instant; one without an offset is wall-clock time in the zone. */
const momentOf = (dateTime: string, timeZone: string): number => {
  const [date = '', time = '00:00'] = dateTime.split('T');
  return /[Z+-]/.test(time) ? Date.parse(dateTime) : instantOf(date, time, timeZone);
};

/** The two datetimes of a schedule; open ends reach for ever. */
const bounds = ({ schedule_start_datetime: start, schedule_end_datetime: end }: Schedule, timeZone: string): Span => ({
  start: start === null ? Number.NEGATIVE_INFINITY : momentOf(start, timeZone),
  end: end === null ? Number.POSITIVE_INFINITY : momentOf(end, timeZone),
});

/** Days to look through: a weekly window may fall into a gap, and then comes a week later. */
const HORIZON_DAYS = 15;
/** More than a week with a day off can be on in one piece, autumn's hour included. */
const LONGEST_MS = 8 * 86_400_000;

/** The window of a weekly schedule that is on at `now`, else the next one; those that touch are one. */
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
  // One that fills day after day for longer than a week never ends by itself.
  const isEndless = found !== null && found.end - Math.max(found.start, since) > LONGEST_MS;
  return found !== null && isEndless ? { start: found.start, end: limits.end } : found;
};

/** When a slide is on at `now`, else when it is on next; null: never again. */
const spanAt = (schedule: Schedule, now: number, timeZone: string): Span | null => {
  const limits =
    schedule.schedule_mode === 'always'
      ? { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY }
      : bounds(schedule, timeZone);
  if (limits.end <= Math.max(limits.start, now)) return null;
  return schedule.schedule_mode === 'weekly' ? weeklySpan(schedule, now, limits, timeZone) : limits;
};

/** Whether a slide is on at a moment, in ms since the epoch. */
export const isOn = (schedule: Schedule, now: number, timeZone: string): boolean =>
  (spanAt(schedule, now, timeZone)?.start ?? Number.POSITIVE_INFINITY) <= now;

/** When a slide goes off, in ms since the epoch: `now` where it is not on, infinity where it never does. */
export const endOf = (schedule: Schedule, now: number, timeZone: string): number => {
  const span = spanAt(schedule, now, timeZone);
  return span !== null && span.start <= now ? span.end : now;
};

/** The next moment at which any of the slides comes on or goes off, in ms since the epoch; infinity: there is none. */
export const nextChange = (schedules: readonly Schedule[], now: number, timeZone: string): number =>
  Math.min(
    ...schedules.map((schedule) => {
      const { start, end } = spanAt(schedule, now, timeZone) ?? { start: now, end: Number.POSITIVE_INFINITY };
      return start > now ? start : end;
    }),
  );
