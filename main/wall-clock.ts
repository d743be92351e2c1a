/** Wall-clock time of a site, whatever zone the machine is in. Instants are milliseconds since the epoch. */

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** What the clocks of a site show. */
export interface WallTime {
  /** `YYYY-MM-DD`. */
  date: string;
  /** ISO weekday: 1 is Monday. */
  weekday: number;
  /** Minutes since midnight, as the clock shows them. */
  minutes: number;
}

/** `HH:MM` as minutes since midnight. */
export const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

/** The day that is `days` after a date, as dates are counted: without clocks. */
export const addDays = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);

export const weekdayOf = (date: string): number => new Date(`${date}T00:00:00Z`).getUTCDay() || 7;

/** A formatter takes a hundred times longer to make than to use. */
const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'iso8601',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  formats.set(timeZone, format);
  return format;
};

/** What the clocks show, written as if they were in UTC. */
const shown = (now: number, timeZone: string): number => {
  const parts = formatOf(timeZone).formatToParts(now);
  const part = (type: Intl.DateTimeFormatPartTypes): number =>
    Number(parts.find((candidate) => candidate.type === type)?.value);
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
};

export const wallTimeOf = (now: number, timeZone: string): WallTime => {
  const wall = shown(now, timeZone);
  const date = new Date(wall).toISOString().slice(0, 10);
  return { date, weekday: weekdayOf(date), minutes: Math.floor((wall % DAY_MS) / MINUTE_MS) };
};

/**
 * When the clocks of a site show a time. A time that a change to summer time skips moves forward by the gap; of one
 * that a change back doubles it is the first: as Temporal's `compatible`, and as the player's schedules do.
 */
export const instantOf = (date: string, minutes: number, timeZone: string): number => {
  const wall = Date.parse(`${date}T00:00:00Z`) + minutes * MINUTE_MS;
  const offsetAt = (instant: number): number => shown(instant, timeZone) - instant;
  const [before, after] = [wall - offsetAt(wall - DAY_MS), wall - offsetAt(wall + DAY_MS)];
  const real = [before, after].filter((instant) => shown(instant, timeZone) === wall);
  return real.length > 0 ? Math.min(...real) : before;
};

/** Whether a time of day lies between two; where the end is not after the start, they reach past midnight. */
export const isBetween = (minutes: number, from: number, until: number): boolean =>
  from < until ? minutes >= from && minutes < until : minutes >= from || minutes < until;
