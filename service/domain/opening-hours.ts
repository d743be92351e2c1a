/** When screens are open: pure, by the wall clocks of the site; instants in ms since the epoch. */
import type { Hours, OpeningTime } from '../contract/kiosk.ts';
import { addDays, type Span, spanOf, wallTimeOf, weekdayOf } from './wall-time.ts';

const timesOf = (hours: readonly OpeningTime[], date: string): readonly OpeningTime[] => {
  const exceptions = hours.filter((time) => time.date === date);
  if (exceptions.length > 0) return exceptions;
  const weekly = hours.filter((time) => time.date === undefined);
  // Where only exceptions are given, the rule is: open.
  if (weekly.length === 0) return [{ open: '00:00', close: '00:00' }];
  const weekday = weekdayOf(date);
  return weekly.filter(({ days }) => days?.includes(weekday) ?? true);
};

/** The times at which it is open, from those that began yesterday to those that begin `ahead` days from now. */
export const openSpans = (hours: readonly OpeningTime[], now: number, timeZone: string, ahead: number): Span[] => {
  const { date: today } = wallTimeOf(now, timeZone);
  // What opened yesterday may be open past midnight.
  const dates = Array.from({ length: ahead + 2 }, (_, index) => addDays(today, index - 1));
  const spans = dates.flatMap((date) =>
    timesOf(hours, date).flatMap(({ open, close }) =>
      open === undefined || close === undefined ? [] : [spanOf(date, open, close, timeZone)],
    ),
  );
  // A change of clocks may leave nothing of one.
  return spans.filter(({ start, end }) => start < end);
};

export const isOpen = (hours: Hours, now: number, timeZone: string): boolean =>
  hours === null || openSpans(hours, now, timeZone, 0).some(({ start, end }) => start <= now && now < end);
