/** Opening hours of screens, in local time of the site. Pure; instants in ms since the epoch. */
import type { Hours, OpeningTime } from '../contract/kiosk.ts';
import { isTrusted } from './time.ts';
import { addDays, type Span, spanOf, wallTimeOf, weekdayOf } from './wall-time.ts';

const timesOf = (hours: readonly OpeningTime[], date: string): readonly OpeningTime[] => {
  const exceptions = hours.filter((time) => time.date === date);
  if (exceptions.length > 0) return exceptions;
  const weekly = hours.filter((time) => time.date === undefined);
  // If only exceptions are given, all other days are open.
  if (weekly.length === 0) return [{ open: '00:00', close: '00:00' }];
  const weekday = weekdayOf(date);
  return weekly.filter(({ days }) => days?.includes(weekday) ?? true);
};

/** The open spans, from those that began yesterday to those that begin `ahead` days from now. */
export const openSpans = (hours: readonly OpeningTime[], now: number, timeZone: string, ahead: number): Span[] => {
  const { date: today } = wallTimeOf(now, timeZone);
  // Yesterday's span may extend past midnight.
  const dates = Array.from({ length: ahead + 2 }, (_, index) => addDays(today, index - 1));
  const spans = dates.flatMap((date) =>
    timesOf(hours, date).flatMap(({ open, close }) =>
      open === undefined || close === undefined ? [] : [spanOf(date, open, close, timeZone)],
    ),
  );
  // A daylight saving change may leave an empty span.
  return spans.filter(({ start, end }) => start < end);
};

/** A clock that was never set says nothing of the hours: displays are on. */
export const isOpen = (hours: Hours, now: number, timeZone: string): boolean =>
  hours === null ||
  !isTrusted(now) ||
  openSpans(hours, now, timeZone, 0).some(({ start, end }) => start <= now && now < end);
