/** What a slide shows of calendars; pure. */
import type { CalendarEvent } from '../contract/calendars.ts';
import { addDays, instantOf, wallTimeOf } from './wall-time.ts';

type Content = Readonly<Record<string, unknown>> | null;

/** The calendars of a slide of the kind `calendar`. */
export const calendarIdsOf = (content: Content): string[] => {
  const { calendar_id: one, calendar_ids: many } = content ?? {};
  const ids: unknown[] = Array.isArray(many) ? many : [one];
  return ids.filter((id) => typeof id === 'string');
};

export interface Day {
  /** YYYY-MM-DD */
  date: string;
  /** Its midnight. */
  start: number;
  end: number;
  /** All-day events first, then by their starts. */
  events: CalendarEvent[];
}

const startOf = ({ starts_at }: CalendarEvent): number => Date.parse(starts_at);
const endOf = ({ ends_at }: CalendarEvent): number => Date.parse(ends_at);

export const isNow = (event: CalendarEvent, now: number): boolean => startOf(event) <= now && now < endOf(event);

export const daysOf = (events: readonly CalendarEvent[], now: number, count: number, timeZone: string): Day[] => {
  const today = wallTimeOf(now, timeZone).date;
  return Array.from({ length: count }, (_, index) => {
    const date = addDays(today, index);
    const [start, end] = [instantOf(date, '00:00', timeZone), instantOf(addDays(date, 1), '00:00', timeZone)];
    const on = events.filter((event) => startOf(event) < end && (endOf(event) > start || startOf(event) >= start));
    const ordered = on.sort((a, b) => Number(b.all_day) - Number(a.all_day) || startOf(a) - startOf(b));
    return { date, start, end, events: ordered };
  });
};

/** What is on in a room, and what comes next on the same day. */
export const roomAt = (
  events: readonly CalendarEvent[],
  now: number,
  timeZone: string,
): { current: CalendarEvent | null; next: CalendarEvent[] } => {
  const [today] = daysOf(events, now, 1, timeZone);
  const all = (today?.events ?? []).filter(({ free }) => free !== true);
  // What takes a part of the day says more than what takes all of it.
  const on = all.filter((event) => isNow(event, now)).sort((a, b) => startOf(b) - startOf(a));
  const current = on.find(({ all_day }) => !all_day) ?? on[0] ?? null;
  return { current, next: all.filter((event) => startOf(event) > now) };
};
