/** Whether displays are to be on: a pure function of opening hours and the time, in ms since the epoch. */
import { addDays, type Span, spanOf, wallTimeOf, weekdayOf } from '../../service/wire/wall-time.ts';
import type { Hours, OpeningTime } from '../service-host.ts';

/** So far ahead a change is looked for, days. */
const HORIZON_DAYS = 15;

const timesOf = (hours: readonly OpeningTime[], date: string): readonly OpeningTime[] => {
  const exceptions = hours.filter((time) => time.date === date);
  if (exceptions.length > 0) return exceptions;
  const weekly = hours.filter((time) => time.date === undefined);
  // Where only exceptions are given, the rule is: open.
  if (weekly.length === 0) return [{ open: '00:00', close: '00:00' }];
  const weekday = weekdayOf(date);
  return weekly.filter(({ days }) => days?.includes(weekday) ?? true);
};

const spansOf = (hours: readonly OpeningTime[], now: number, timeZone: string): Span[] => {
  const { date: today } = wallTimeOf(now, timeZone);
  // What opened yesterday may be open past midnight.
  const dates = Array.from({ length: HORIZON_DAYS + 1 }, (_, index) => addDays(today, index - 1));
  const spans = dates.flatMap((date) =>
    timesOf(hours, date).flatMap(({ open, close }) =>
      open === undefined || close === undefined ? [] : [spanOf(date, open, close, timeZone)],
    ),
  );
  // A change of clocks may leave nothing of one.
  return spans.filter(({ start, end }) => start < end);
};

export interface Plan {
  /** Whether the displays are to be on. */
  on: boolean;
  /** When that changes next; null: not within two weeks. */
  changesAt: number | null;
}

/**
 * What the displays of a box are to do: on while any of its screens is open, and a little before that.
 * @param leadMs how long a display takes to wake
 */
export const plan = (screens: readonly Hours[], now: number, timeZone: string, leadMs: number): Plan => {
  if (screens.length === 0 || screens.includes(null)) return { on: true, changesAt: null };
  const spans = screens
    .flatMap((hours) => spansOf(hours ?? [], now, timeZone))
    .map(({ start, end }) => ({ start: start - leadMs, end }))
    .filter(({ end }) => end > now)
    .toSorted((a, b) => a.start - b.start);
  const [first] = spans;
  if (first === undefined) return { on: false, changesAt: null };
  if (first.start > now) return { on: false, changesAt: first.start };
  let { end } = first;
  for (const span of spans) if (span.start <= end) end = Math.max(end, span.end);
  return { on: true, changesAt: end - now > (HORIZON_DAYS - 2) * 86_400_000 ? null : end };
};
