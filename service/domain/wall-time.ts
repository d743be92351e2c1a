/**
 * Wall-clock times of a site, whatever zone the machine is in: pure, by Temporal, and the same for slides, timetables and
 * displays. Instants are milliseconds since the epoch; dates are `YYYY-MM-DD`; times are `HH:MM`, or finer.
 *
 * They are those of a clock that never goes back. A time that spring skips comes at the jump; of a time that autumn
 * doubles the first counts. So whatever is on from one time until another comes once a day, in one piece, and what lies
 * wholly in the hour that is skipped does not come at all.
 */
import { Temporal } from 'temporal-polyfill';

/** What the clocks of a site show. */
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

/** The day that is `days` after a date, as dates are counted: without clocks. */
export const addDays = (date: string, days: number): string => Temporal.PlainDate.from(date).add({ days }).toString();

/** As ISO 8601 counts them: 1 is Monday, 7 is Sunday. */
export const weekdayOf = (date: string): number => Temporal.PlainDate.from(date).dayOfWeek;

/** What the clocks show at an instant. */
export const wallTimeOf = (now: number, timeZone: string): WallTime => {
  // Clocks of pages are finer than a millisecond, and Temporal takes whole ones alone.
  const reading = Temporal.Instant.fromEpochMilliseconds(Math.floor(now)).toZonedDateTimeISO(timeZone);
  return { date: reading.toPlainDate().toString(), minutes: reading.hour * 60 + reading.minute };
};

/** The first instant at which the clocks show a time or a later one. */
export const instantOf = (date: string, time: string, timeZone: string): number => {
  const wall = Temporal.PlainDate.from(date).toPlainDateTime(time);
  const reading = wall.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (reading.toPlainDateTime().equals(wall)) return reading.epochMilliseconds;
  // The clocks never show it, and `reading` lies before the jump.
  return (reading.getTimeZoneTransition('next') ?? reading).epochMilliseconds;
};

/** From a time of a day until another; that is one of the next day where it is not after the first. */
export const spanOf = (date: string, from: string, until: string, timeZone: string): Span => {
  const isOvernight = Temporal.PlainTime.compare(until, from) <= 0;
  return {
    start: instantOf(date, from, timeZone),
    end: instantOf(isOvernight ? addDays(date, 1) : date, until, timeZone),
  };
};
