/**
 * Local time of the site, independent of the machine's time zone. Pure; shared by slides, timetables and displays.
 * Instants are milliseconds since the epoch; dates are `YYYY-MM-DD`; times are `HH:MM`, or finer.
 *
 * Daylight saving: a time that is skipped in spring maps to the jump; of a time that is repeated in autumn the first one
 * counts. So each span occurs once a day, without interruption; a span within the skipped hour is empty.
 */
// Not the global one, which some versions of Node have: schedules run on the same code everywhere.
import { Temporal } from 'temporal-polyfill/implementation';

/** A local date and time of the site. */
export interface WallTime {
  date: string;
  /** Whole minutes since midnight. */
  minutes: number;
}

/** From `start` until before `end`. */
export interface Span {
  start: number;
  end: number;
}

/** The date that is `days` calendar days after a date. */
export const addDays = (date: string, days: number): string => Temporal.PlainDate.from(date).add({ days }).toString();

/** ISO 8601 weekday: 1 is Monday, 7 is Sunday. */
export const weekdayOf = (date: string): number => Temporal.PlainDate.from(date).dayOfWeek;

/** The local time at an instant. */
export const wallTimeOf = (now: number, timeZone: string): WallTime => {
  // Clocks of pages have fractions of a millisecond; Temporal accepts only whole ones.
  const reading = Temporal.Instant.fromEpochMilliseconds(Math.floor(now)).toZonedDateTimeISO(timeZone);
  return { date: reading.toPlainDate().toString(), minutes: reading.hour * 60 + reading.minute };
};

/** The first instant at which the local time is `time` or later. */
export const instantOf = (date: string, time: string, timeZone: string): number => {
  const wall = Temporal.PlainDate.from(date).toPlainDateTime(time);
  const reading = wall.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (reading.toPlainDateTime().equals(wall)) return reading.epochMilliseconds;
  // The time is skipped, and `reading` lies before the jump.
  return (reading.getTimeZoneTransition('next') ?? reading).epochMilliseconds;
};

/**
 * The instant of a date (its midnight), or of an ISO 8601 date and time, which without an offset is local time; null: it is
 * neither.
 */
export const instantAt = (text: string, timeZone: string): number | null => {
  const [date = '', time = '00:00', ...others] = text.split(/[T ]/);
  if (others.length > 0) return null;
  try {
    return /[Z+-]/i.test(time) ? Temporal.Instant.from(text).epochMilliseconds : instantOf(date, time, timeZone);
  } catch {
    return null;
  }
};

/** The span from one time of a day to another; `until` is on the next day if it is not after `from`. */
export const spanOf = (date: string, from: string, until: string, timeZone: string): Span => {
  const isOvernight = Temporal.PlainTime.compare(until, from) <= 0;
  return {
    start: instantOf(date, from, timeZone),
    end: instantOf(isOvernight ? addDays(date, 1) : date, until, timeZone),
  };
};
