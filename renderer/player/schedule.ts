/**
 * When a slide is on: pure, by Temporal, in the time zone of the site.
 *
 * Wall-clock times are those of a clock that never goes back. A time that spring skips comes at the jump; of a time that
 * autumn doubles the first counts. So every window comes once a day, in one piece, and one that lies wholly in the hour
 * that is skipped does not come at all.
 */
import { Temporal } from 'temporal-polyfill';
import type { Slide } from '../../service/wire/playlist.ts';

export type Schedule = Pick<
  Slide,
  | 'schedule_mode'
  | 'schedule_start_datetime'
  | 'schedule_end_datetime'
  | 'schedule_start_time'
  | 'schedule_end_time'
  | 'schedule_days_json'
>;

/** From `start` until before `end`, in milliseconds since the epoch. */
interface Span {
  start: number;
  end: number;
}

/** The first moment at which the wall clock of a zone reads a time or a later one, in ms since the epoch. */
const firstReading = (wall: Temporal.PlainDateTime, timeZone: string): number => {
  const reading = wall.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (reading.toPlainDateTime().equals(wall)) return reading.epochMilliseconds;
  // The clock never reads it, and `reading` lies before the gap.
  return (reading.getTimeZoneTransition('next') ?? reading).epochMilliseconds;
};

/** An ISO 8601 date and time as an instant; one without an offset is wall-clock time in the zone. */
const instantOf = (dateTime: string, timeZone: string): number =>
  /(Z|[+-]\d\d:?\d\d)$/i.test(dateTime.slice(10))
    ? Temporal.Instant.from(dateTime).epochMilliseconds
    : firstReading(Temporal.PlainDateTime.from(dateTime), timeZone);

/** The two datetimes of a schedule; open ends reach for ever. */
const bounds = ({ schedule_start_datetime: start, schedule_end_datetime: end }: Schedule, timeZone: string): Span => ({
  start: start === null ? Number.NEGATIVE_INFINITY : instantOf(start, timeZone),
  end: end === null ? Number.POSITIVE_INFINITY : instantOf(end, timeZone),
});

/** The window that begins on a day. */
const windowOf = (day: Temporal.PlainDate, schedule: Schedule, timeZone: string): Span => {
  const start = Temporal.PlainTime.from(schedule.schedule_start_time ?? '00:00');
  const end = Temporal.PlainTime.from(schedule.schedule_end_time ?? '00:00');
  const endDay = Temporal.PlainTime.compare(end, start) <= 0 ? day.add({ days: 1 }) : day;
  return {
    start: firstReading(day.toPlainDateTime(start), timeZone),
    end: firstReading(endDay.toPlainDateTime(end), timeZone),
  };
};

/** Days to look through: a weekly window may fall into a gap, and then comes a week later. */
const HORIZON_DAYS = 15;
/** More than a week with a day off can be on in one piece, autumn's hour included. */
const LONGEST_MS = 8 * 86_400_000;

/** The window of a weekly schedule that is on at `now`, else the next one; those that touch are one. */
const weeklySpan = (schedule: Schedule, now: number, limits: Span, timeZone: string): Span | null => {
  const weekdays = schedule.schedule_days_json === null ? null : (JSON.parse(schedule.schedule_days_json) as number[]);
  // The player's clock is finer than a millisecond, and Temporal takes whole ones alone.
  const from = Temporal.Instant.fromEpochMilliseconds(Math.floor(Math.max(now, limits.start)));
  const today = from.toZonedDateTimeISO(timeZone).toPlainDate();
  let found: Span | null = null;
  // A window that began yesterday may run past midnight.
  for (let ahead = -1; ahead < HORIZON_DAYS; ahead++) {
    const day = today.add({ days: ahead });
    if (weekdays?.includes(day.dayOfWeek) === false) continue;
    const window = windowOf(day, schedule, timeZone);
    const start = Math.max(window.start, limits.start);
    const end = Math.min(window.end, limits.end);
    if (end <= Math.max(start, now)) continue;
    if (found === null) found = { start, end };
    else if (start <= found.end) found.end = end;
    else return found;
  }
  // One that fills day after day for longer than a week never ends by itself.
  const isEndless = found !== null && found.end - Math.max(found.start, from.epochMilliseconds) > LONGEST_MS;
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
