/** The events of calendars in the days that pages get. They are expanded again when a calendar or the day has changed. */
import { busy } from '../contract/calendar-values.ts';
import { type CalendarEvent, calendarDays, mostCalendarEvents } from '../contract/calendars.ts';
import type { Calendar as CalendarRecord, PlaylistPayload } from '../contract/playlist.ts';
import { addDays, instantOf, wallTimeOf, weekdayOf } from '../domain/wall-time.ts';
import type { ServiceContext } from '../module.ts';
import { createWorker } from '../platform/worker.ts';
import type { Calendar } from './calendar.ts';
import type { CalendarQuestion } from './calendar-thread.ts';

type TimetableGroup = PlaylistPayload['timetableGroups'][number];

/** A timetable of the content; `calendarId`: its entries are the events of a calendar. */
export type FilledTimetable = TimetableGroup & { calendarId?: string };
/** A calendar of the content that slides of a screen show; `showsPrivate`: with the titles of private events. */
export type FilledCalendar = CalendarRecord & { showsPrivate?: boolean };

export const createCalendarReader = ({ tempo: { feeds } }: Pick<ServiceContext, 'tempo'>) =>
  createWorker<CalendarQuestion>({
    bundle: 'calendars-thread',
    source: 'feeds/calendar-thread.ts',
    patienceMs: feeds.calendar,
    idleMs: feeds.idle,
  });
export type CalendarReader = ReturnType<typeof createCalendarReader>;

interface Expanded {
  calendar: unknown;
  from: number;
  events: CalendarEvent[];
  /** It could not be read for these days; the events are those from before. */
  isFailed: boolean;
}

/** A private event where its title is not shown. */
const hidden = (event: CalendarEvent): CalendarEvent =>
  event.private ? { ...event, title: busy, location: null } : event;

/** Entries of a timetable by weekday: those of the last day would be those of the first one. */
const TIMETABLE_DAYS = 7;

export const createCalendarDays = (
  { now, tempo }: Pick<ServiceContext, 'now' | 'tempo'>,
  { reader, timeZone, onChange }: { reader: CalendarReader; timeZone: string; onChange(): void },
) => {
  const known = new Map<string, Expanded>();
  const running = new Set<string>();

  const windowAt = (at: number): { from: number; until: number } => {
    const { date } = wallTimeOf(at, timeZone);
    return {
      from: instantOf(date, '00:00', timeZone),
      until: instantOf(addDays(date, calendarDays), '00:00', timeZone),
    };
  };

  const expand = async (id: string, calendar: Calendar): Promise<void> => {
    running.add(id);
    const window = windowAt(now());
    const question = { kind: 'expand' as const, calendar, ...window, timeZone };
    const found = (await reader.ask(question).catch(() => null)) as CalendarEvent[] | null;
    running.delete(id);
    const events = found ?? known.get(id)?.events ?? [];
    known.set(id, { calendar, from: window.from, events, isFailed: found === null });
    onChange();
  };

  /** All events of a calendar in the days; those known before while they are expanded. */
  const eventsOf = (id: string, calendar: unknown): CalendarEvent[] => {
    const before = known.get(id);
    const { from, until } = windowAt(now());
    if (before !== undefined && before.calendar === calendar && before.from === from) return before.events;
    if (!running.has(id)) void expand(id, calendar as Calendar);
    const events = before?.events ?? [];
    return events.filter(({ starts_at, ends_at }) => Date.parse(ends_at) > from && Date.parse(starts_at) < until);
  };

  const watch = setInterval(() => {
    const { from } = windowAt(now());
    if ([...known.values()].some((each) => each.from !== from)) onChange();
  }, tempo.content.boundary);
  watch.unref();

  return {
    /** The events that pages get. */
    events: (id: string, calendar: unknown, showsPrivate: boolean): CalendarEvent[] => {
      const events = eventsOf(id, calendar).slice(0, mostCalendarEvents);
      return showsPrivate ? events : events.map(hidden);
    },
    /** The events as entries of a timetable. */
    entries: (id: string, calendar: unknown): TimetableGroup['entries'] => {
      const { from } = windowAt(now());
      const until = instantOf(addDays(wallTimeOf(from, timeZone).date, TIMETABLE_DAYS), '00:00', timeZone);
      return eventsOf(id, calendar)
        .filter(({ all_day, starts_at }) => !all_day && Date.parse(starts_at) >= from && Date.parse(starts_at) < until)
        .slice(0, mostCalendarEvents)
        .map(hidden)
        .map(({ id: entry, title, location, starts_at }) => {
          const { date, minutes } = wallTimeOf(Date.parse(starts_at), timeZone);
          const time = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
          return { id: entry, time, title, detail: null, location, days_json: JSON.stringify([weekdayOf(date)]) };
        });
    },
    /** How many events of a calendar are left out. */
    excess: (id: string): number => Math.max(0, (known.get(id)?.events.length ?? 0) - mostCalendarEvents),
    isFailed: (id: string): boolean => known.get(id)?.isFailed === true,
    forget: (id: string): void => void known.delete(id),
    close: async (): Promise<void> => {
      clearInterval(watch);
      await reader.close();
    },
  };
};
