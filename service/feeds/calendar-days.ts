/** The events of calendars in the days that pages get. They are expanded again when a calendar or the day has changed. */
import { setTimeout as wait } from 'node:timers/promises';
import { busy } from '../contract/calendar-values.ts';
import { type CalendarEvent, calendarDays, mostCalendarEvents } from '../contract/calendars.ts';
import type { Calendar as CalendarRecord, PlaylistPayload } from '../contract/playlist.ts';
import { doubled } from '../domain/time.ts';
import { addDays, instantOf, wallTimeOf, weekdayOf } from '../domain/wall-time.ts';
import type { ServiceContext } from '../module.ts';
import { createWorker } from '../platform/worker.ts';
import type { Expansion } from './calendar.ts';
import type { Calendar } from './calendar-text.ts';
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
  /** What was expanded last; null: nothing could be. */
  good: { calendar: unknown; fetchedAt: string | null; from: number; until: number; expansion: Expansion } | null;
  /** The calendar and the day that could not be read, why, and when that is tried again. */
  failed: { calendar: unknown; from: number; reason: string; times: number; againAt: number } | null;
}

/** A calendar as pages get it: what its status says is true of its events. */
interface Shown {
  status: 'pending' | 'ok' | 'stale' | 'failed';
  fetchedAt: string | null;
  events: CalendarEvent[];
}

/** What is shown of an expansion in an hour of a day. */
interface Picked {
  from: number;
  hour: number;
  /** Those in the days that pages get. */
  events: CalendarEvent[];
  near?: CalendarEvent[];
  /** The entries of a timetable, as events. */
  timed?: CalendarEvent[];
}

const HOUR_MS = 3_600_000;
const hourOf = (at: number): number => Math.floor(at / HOUR_MS);

/** The events nearest to this hour, in the order of their starts: those that are over make room first, the latest last. */
export const nearest = (events: CalendarEvent[], now: number): CalendarEvent[] => {
  if (events.length <= mostCalendarEvents) return events;
  // By the hour, so that pages do not fetch a crowded calendar each minute.
  const hour = hourOf(now) * HOUR_MS;
  const isOver = ({ ends_at }: CalendarEvent): boolean => Date.parse(ends_at) <= hour;
  const over = events.filter(isOver).reverse();
  const kept = new Set([...events.filter((event) => !isOver(event)), ...over].slice(0, mostCalendarEvents));
  return events.filter((event) => kept.has(event));
};

/** A private event where its title is not shown. */
const hidden = (event: CalendarEvent): CalendarEvent =>
  event.private ? { ...event, title: busy, location: null } : event;

interface CalendarTroubles {
  /** Events that are left out. */
  excess: number;
  /** Events that are not there as often as they should. */
  unfinished: string[];
  /** Events that could not be read. */
  unread: number;
  /** Why its events could not be read; null: they could. */
  reason: string | null;
}

/** Entries of a timetable by weekday: those of the last day would be those of the first one. */
const TIMETABLE_DAYS = 7;

export const createCalendarDays = (
  { now, tempo }: Pick<ServiceContext, 'now' | 'tempo'>,
  { reader, timeZone, onChange }: { reader: CalendarReader; timeZone: string; onChange(): void },
) => {
  const known = new Map<string, Expanded>();
  /** The calendars that are being expanded, by their ids. */
  const running = new Map<string, Calendar>();
  const expanding = new Set<Promise<void>>();

  const windowAt = (at: number): { from: number; until: number } => {
    const { date } = wallTimeOf(at, timeZone);
    return {
      from: instantOf(date, '00:00', timeZone),
      until: instantOf(addDays(date, calendarDays), '00:00', timeZone),
    };
  };

  const expand = async (id: string, calendar: Calendar, fetchedAt: string | null): Promise<void> => {
    running.set(id, calendar);
    const at = now();
    const { from } = windowAt(at);
    // A day more than pages get: at midnight nothing is missing until it is expanded again.
    const until = instantOf(addDays(wallTimeOf(from, timeZone).date, calendarDays + 1), '00:00', timeZone);
    const before = known.get(id);
    const next = await reader.ask({ kind: 'expand', calendar, from, until, timeZone }).then(
      (expansion): Expanded => ({
        good: { calendar, fetchedAt, from, until, expansion: expansion as Expansion },
        failed: null,
      }),
      ({ message: reason }: Error): Expanded => {
        const times = before?.failed?.calendar === calendar ? before.failed.times + 1 : 0;
        const againAt = at + doubled(times, tempo.feeds.retry, tempo.feeds.maxRetry);
        return { good: before?.good ?? null, failed: { calendar, from, reason, times, againAt } };
      },
    );
    // It is no longer followed.
    if (running.get(id) !== calendar) return;
    running.delete(id);
    known.set(id, next);
    onChange();
  };

  /** Picked once an hour: of a crowded calendar that takes half a second, and each group of screens asks for it. */
  const picked = new WeakMap<Expansion, Picked>();
  const pick = (expansion: Expansion): Picked => {
    const at = now();
    const { from, until } = windowAt(at);
    const hour = hourOf(at);
    const before = picked.get(expansion);
    if (before?.from === from && before.hour === hour) return before;
    const events =
      before?.from === from
        ? before.events
        : expansion.events.filter(
            ({ starts_at, ends_at }) =>
              Date.parse(starts_at) < until && (Date.parse(ends_at) > from || Date.parse(starts_at) >= from),
          );
    const next: Picked = { from, hour, events };
    picked.set(expansion, next);
    return next;
  };

  /** Expands what has changed; until that is done, what was known before is shown. */
  const show = (
    id: string,
    calendar: unknown,
    fetchedAt: string | null,
  ): Omit<Shown, 'events'> & { pick: Picked | null } => {
    const at = now();
    const { from, until } = windowAt(at);
    const { good = null, failed = null } = known.get(id) ?? {};
    const isCurrent = good !== null && good.calendar === calendar && good.from === from;
    const isFailed = failed !== null && failed.calendar === calendar && failed.from === from;
    const isWanted = isFailed ? at >= failed.againAt : !isCurrent;
    if (isWanted && !running.has(id)) {
      const done = expand(id, calendar as Calendar, fetchedAt).finally(() => expanding.delete(done));
      expanding.add(done);
    }
    if (good === null) return { status: isFailed ? 'failed' : 'pending', fetchedAt: null, pick: null };
    const isWhole = good.from <= from && good.until >= until;
    const time = good.calendar === calendar ? fetchedAt : good.fetchedAt;
    return { status: isWhole && !isFailed ? 'ok' : 'stale', fetchedAt: time, pick: pick(good.expansion) };
  };

  /** The day, or the time of a further attempt, that was announced: what no screen shows any more is not expanded then. */
  const announced = new WeakMap<Expanded, number>();
  let hour = hourOf(now());
  const watch = setInterval(() => {
    const at = now();
    const { from } = windowAt(at);
    const isNewHour = hour !== hourOf(at);
    hour = hourOf(at);
    const due = [...known.values()].filter((each) => {
      const { good, failed } = each;
      if (failed === null && good?.from === from) return isNewHour && good.expansion.events.length > mostCalendarEvents;
      const since = failed?.againAt ?? from;
      if (since > at || announced.get(each) === since) return false;
      announced.set(each, since);
      return true;
    });
    if (due.length > 0) onChange();
  }, tempo.content.boundary);
  watch.unref();

  return {
    /** What pages get of a calendar that was fetched then. */
    shown: (id: string, calendar: unknown, fetchedAt: string | null, showsPrivate: boolean): Shown => {
      const { pick: found, ...state } = show(id, calendar, fetchedAt);
      if (found === null) return { ...state, events: [] };
      found.near ??= nearest(found.events, now());
      const events = found.near;
      return { ...state, events: showsPrivate ? events : events.map(hidden) };
    },
    /** The events as entries of a timetable; null: they are not known yet. */
    timetable: (
      id: string,
      calendar: unknown,
      fetchedAt: string | null,
    ): { entries: TimetableGroup['entries']; fetchedAt: string } | null => {
      const { pick: found, fetchedAt: time } = show(id, calendar, fetchedAt);
      if (found === null || time === null) return null;
      const { from } = windowAt(now());
      const until = instantOf(addDays(wallTimeOf(from, timeZone).date, TIMETABLE_DAYS), '00:00', timeZone);
      found.timed ??= nearest(
        found.events.filter(
          ({ all_day, starts_at }) => !all_day && Date.parse(starts_at) >= from && Date.parse(starts_at) < until,
        ),
        now(),
      );
      const entries = found.timed.map(hidden).map(({ id: entry, title, location, starts_at }) => {
        const { date, minutes } = wallTimeOf(Date.parse(starts_at), timeZone);
        const clock = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
        return { id: entry, time: clock, title, detail: null, location, days_json: JSON.stringify([weekdayOf(date)]) };
      });
      return { entries, fetchedAt: time };
    },
    /** What is wrong with the events of a calendar. */
    troubles: (id: string): CalendarTroubles => {
      const { good = null, failed = null } = known.get(id) ?? {};
      const count = good === null ? 0 : pick(good.expansion).events.length;
      return {
        excess: Math.max(0, count - mostCalendarEvents),
        unfinished: good?.expansion.unfinished ?? [],
        unread: good?.expansion.unread ?? 0,
        reason: failed?.reason ?? null,
      };
    },
    /** Resolves once the calendars that are being expanded are, but not later than in a second or so. */
    settled: async (): Promise<void> => {
      if (expanding.size === 0) return;
      const given = new AbortController();
      const late = wait(tempo.feeds.settle, undefined, { signal: given.signal }).catch(() => {});
      await Promise.race([Promise.all(expanding), late]);
      given.abort();
    },
    forget: (id: string): void => {
      known.delete(id);
      running.delete(id);
    },
    close: async (): Promise<void> => {
      running.clear();
      clearInterval(watch);
      await reader.close();
    },
  };
};
