/** When a slide is on: pure, by Temporal, in the time zone of the site. */
import { Temporal } from 'temporal-polyfill';
import type { Slide } from '../../service/wire.ts';

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

/** An ISO 8601 date and time as an instant; one without an offset is wall-clock time in the zone. */
const instantOf = (dateTime: string, timeZone: string): number =>
  /(Z|[+-]\d\d:?\d\d)$/i.test(dateTime.slice(10))
    ? Temporal.Instant.from(dateTime).epochMilliseconds
    : Temporal.PlainDateTime.from(dateTime).toZonedDateTime(timeZone).epochMilliseconds;

/** The two datetimes of a schedule; open ends reach for ever. */
const bounds = ({ schedule_start_datetime: start, schedule_end_datetime: end }: Schedule, timeZone: string): Span => ({
  start: start === null ? Number.NEGATIVE_INFINITY : instantOf(start, timeZone),
  end: end === null ? Number.POSITIVE_INFINITY : instantOf(end, timeZone),
});

/** The span that begins on a day. Wall times that DST skips move forward by the gap; doubled ones are the first. */
const spanOfDay = (day: Temporal.PlainDate, schedule: Schedule, timeZone: string): Span => {
  const start = Temporal.PlainTime.from(schedule.schedule_start_time ?? '00:00');
  const end = Temporal.PlainTime.from(schedule.schedule_end_time ?? '00:00');
  const endDay = Temporal.PlainTime.compare(end, start) <= 0 ? day.add({ days: 1 }) : day;
  return {
    start: day.toZonedDateTime({ timeZone, plainTime: start }).epochMilliseconds,
    end: endDay.toZonedDateTime({ timeZone, plainTime: end }).epochMilliseconds,
  };
};

const intersection = (a: Span, b: Span): Span => ({ start: Math.max(a.start, b.start), end: Math.min(a.end, b.end) });

/** The spans of a schedule that touch the days from the one before `now` to `days` after it. */
const spans = (schedule: Schedule, now: number, days: number, timeZone: string): Span[] => {
  if (schedule.schedule_mode === 'always') return [{ start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY }];
  const limits = bounds(schedule, timeZone);
  if (schedule.schedule_mode === 'between') return [limits];
  const weekdays = schedule.schedule_days_json === null ? null : (JSON.parse(schedule.schedule_days_json) as number[]);
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone).toPlainDate();
  // A span that began yesterday may run past midnight.
  return Array.from({ length: days + 2 }, (_, index) => today.add({ days: index - 1 }))
    .filter((day) => weekdays === null || weekdays.includes(day.dayOfWeek))
    .map((day) => intersection(spanOfDay(day, schedule, timeZone), limits))
    .filter(({ start, end }) => start < end);
};

/** Whether a slide is on at a moment. */
export const isOn = (schedule: Schedule, now: number, timeZone: string): boolean =>
  schedule.schedule_mode === 'always' ||
  spans(schedule, now, 0, timeZone).some(({ start, end }) => start <= now && now < end);

/** When a slide that is on at a moment goes off, in ms since the epoch; infinity: as far as a day can see, never. */
export const endOf = (schedule: Schedule, now: number, timeZone: string): number =>
  Math.max(...spans(schedule, now, 1, timeZone).map(({ start, end }) => (start <= now && now < end ? end : now)));

const DAY_MS = 86_400_000;

/** The next moment at which any of the slides may come on or go off, at most a day ahead. */
export const nextChange = (schedules: readonly Schedule[], now: number, timeZone: string): number =>
  schedules
    .flatMap((schedule) => spans(schedule, now, 1, timeZone))
    .flatMap(({ start, end }) => [start, end])
    .filter((moment) => moment > now)
    .reduce((earliest, moment) => Math.min(earliest, moment), now + DAY_MS);
