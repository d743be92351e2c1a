/**
 * Wall-clock times of a site, whatever zone the machine is in: pure, and free of imports, so that slides and displays
 * come on at the same moment. Instants are milliseconds since the epoch; dates are `YYYY-MM-DD`; times are `HH:MM`, or
 * finer, to `HH:MM:SS.mmm`.
 *
 * They are those of a clock that never goes back. A time that spring skips comes at the jump; of a time that autumn
 * doubles the first counts. So whatever is on from one time until another comes once a day, in one piece, and what lies
 * wholly in the hour that is skipped does not come at all.
 */

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

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

/** What a clock in UTC would show, as an instant. */
const readingOf = (date: string, time: string): number => Date.parse(`${date}T${time}Z`);

/** Years beyond four digits have a sign and six of them. */
const dateOf = (reading: number): string => new Date(reading).toISOString().slice(0, -'T00:00:00.000Z'.length);

/** The day that is `days` after a date, as dates are counted: without clocks. */
export const addDays = (date: string, days: number): string => dateOf(readingOf(date, '00:00') + days * DAY_MS);

/** As ISO 8601 counts them: 1 is Monday, 7 is Sunday. */
export const weekdayOf = (date: string): number => new Date(readingOf(date, '00:00')).getUTCDay() || 7;

/** A format takes a hundred times longer to make than to use. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** How far the clocks of a zone are ahead of UTC, in ms. */
const offsetAt = (instant: number, timeZone: string): number => {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  formats.set(timeZone, format);
  const [, sign, ...parts] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(format.format(instant)) ?? [];
  const [hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0));
  return (sign === '-' ? -1000 : 1000) * (hours * 3600 + minutes * 60 + seconds);
};

/** What the clocks show at an instant. */
export const wallTimeOf = (now: number, timeZone: string): WallTime => {
  const reading = now + offsetAt(now, timeZone);
  const date = dateOf(reading);
  return { date, minutes: Math.floor((reading - readingOf(date, '00:00')) / MINUTE_MS) };
};

/** The first instant at which the clocks show a time or a later one. */
export const instantOf = (date: string, time: string, timeZone: string): number => {
  const reading = readingOf(date, time);
  const isReached = (instant: number): boolean => instant + offsetAt(instant, timeZone) >= reading;
  // As far apart as a change near by moves the clocks.
  const before = reading - offsetAt(reading - DAY_MS, timeZone);
  const after = reading - offsetAt(reading + DAY_MS, timeZone);
  let early = Math.min(before, after);
  let late = Math.max(before, after);
  if (isReached(early)) return early;
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2);
    if (isReached(middle)) late = middle;
    else early = middle;
  }
  return late;
};

/** From a time of a day until another; that is one of the next day where it is not after the first. */
export const spanOf = (date: string, from: string, until: string, timeZone: string): Span => {
  const isOvernight = readingOf(date, until) <= readingOf(date, from);
  return {
    start: instantOf(date, from, timeZone),
    end: instantOf(isOvernight ? addDays(date, 1) : date, until, timeZone),
  };
};
