/** The events of a calendar in some days. Pure; a worker thread runs it, because the texts are of strangers. */
import ICAL from 'ical.js';
import { Temporal } from 'temporal-polyfill/implementation';
import { findIana } from 'windows-iana';
import type { CalendarEvent } from '../contract/calendars.ts';
import { createIterator, Endless, type Meter } from './calendar-rules.ts';
import { type Calendar, UNREAD } from './calendar-text.ts';
import { plainTitle } from './text.ts';

/** Steps for one event, in rounds of those that need more than before; the most are those of a daily one for 54 years. */
const ROUNDS = [128, 1_000, 20_000];
/** Those of all events after the first round. */
const MOST_STEPS_IN_ALL = 1_000_000;
/** What is shown takes longer than what is passed over. */
const STEPS_OF_SHOWN = 4;
/** What one event may add to a day and still be an event: more is a mistake. */
const MOST_OF_EVENT = 500;
const MOST_TITLE = 200;

type Zones = ReturnType<typeof createZones>;

const isZone = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
};

/** The IANA name of a zone as calendars write it: as it is, with a prefix (`/example.com/Europe/Vienna`), or Outlook's. */
const ianaOf = (tzid: string): string | null => {
  const name = tzid.replace(/^["']|["']$/g, '').trim();
  const parts = name.split('/');
  const [outlook] = findIana(name);
  return (
    [name, parts.slice(-3).join('/'), parts.slice(-2).join('/'), outlook ?? ''].find(
      (each) => each !== '' && isZone(each),
    ) ?? null
  );
};

const createZones = (root: ICAL.Component, siteZone: string) => {
  const own = new Map(
    root.getAllSubcomponents('vtimezone').map((zone) => [String(zone.getFirstPropertyValue('tzid')), zone]),
  );
  const known = new Map<string, string | ICAL.Timezone | null>();
  const zoneOf = (tzid: string): string | ICAL.Timezone | null => {
    const found = known.get(tzid);
    if (found !== undefined) return found;
    const component = own.get(tzid);
    const zone = ianaOf(tzid) ?? (component === undefined ? null : new ICAL.Timezone({ component, tzid }));
    known.set(tzid, zone);
    return zone;
  };
  return {
    /** The instant of a wall time, in ms. */
    instant: ({ year, month, day, hour, minute, second, zone }: ICAL.Time, tzid: string | null): number => {
      const wall = new Temporal.PlainDateTime(year, month, day, hour, minute, Math.min(second, 59));
      const isUtc = zone === ICAL.Timezone.utcTimezone;
      const named = isUtc ? 'UTC' : tzid === null ? siteZone : zoneOf(tzid);
      if (typeof named === 'string' || named === null) {
        // A time that is skipped counts by the offset before (RFC 5545, 3.3.5), of one that is repeated the first.
        return wall.toZonedDateTime(named ?? siteZone, { disambiguation: 'compatible' }).epochMilliseconds;
      }
      try {
        const local = new ICAL.Time({ year, month, day, hour, minute, second }, named);
        return local.toUnixTime() * 1000;
      } catch {
        // Its rules are broken: they are not tried again for each event.
        if (tzid !== null) known.set(tzid, null);
        return wall.toZonedDateTime(siteZone, { disambiguation: 'compatible' }).epochMilliseconds;
      }
    },
  };
};

const tzidOf = (property: ICAL.Property | null): string | null => {
  const tzid: unknown = property?.getParameter('tzid');
  return typeof tzid === 'string' && tzid !== '' ? tzid : null;
};

interface Zoned {
  time: ICAL.Time;
  tzid: string | null;
}

const timesIn = (component: ICAL.Component, name: string): Zoned[] =>
  component.getAllProperties(name).flatMap((property) =>
    property.getValues().flatMap((value: unknown) => {
      const time = value instanceof ICAL.Period ? value.start : value;
      return time instanceof ICAL.Time ? [{ time, tzid: tzidOf(property) }] : [];
    }),
  );

const floating = ({ year, month, day, hour, minute, second, isDate }: ICAL.Time): ICAL.Time =>
  new ICAL.Time({ year, month, day, hour, minute, second, isDate }, ICAL.Timezone.localTimezone);

const DAY_MS = 86_400_000;

/** A wall time as if it were UTC: wall times are compared and moved by it. */
const wallMs = ({ year, month, day, hour, minute, second }: ICAL.Time): number =>
  Date.UTC(year, month - 1, day, hour, minute, second);

const dayOf = (time: ICAL.Time): number => wallMs(time) - (wallMs(time) % DAY_MS);

const fromWallMs = (ms: number, isDate: boolean): ICAL.Time => {
  const at = new Date(ms);
  const wall = {
    year: at.getUTCFullYear(),
    month: at.getUTCMonth() + 1,
    day: at.getUTCDate(),
    hour: at.getUTCHours(),
    minute: at.getUTCMinutes(),
    second: at.getUTCSeconds(),
    isDate,
  };
  return new ICAL.Time(wall, ICAL.Timezone.localTimezone);
};

interface Window {
  from: number;
  until: number;
}

/** One event of the file: where it starts, and how its end follows from a start. */
interface Reading {
  uid: string;
  start: ICAL.Time;
  tzid: string | null;
  instant(time: ICAL.Time): number;
  /** The wall time in the event's own zone, as {@link wallMs}, of a time in any zone. */
  ownWall(time: Zoned): number;
  /** The end of an occurrence, in ms. */
  endOf(start: ICAL.Time): number;
  /** Its length by the wall times of its start and end, in ms. */
  span: number;
  details: Pick<CalendarEvent, 'title' | 'location' | 'all_day' | 'private' | 'free'>;
}

/** More than a wall time and UTC are apart. */
const ZONE_MS = 2 * DAY_MS;

/** Whether an occurrence may be on in the window: the exact time takes the rules of its zone, and most of the work. */
const isNear = ({ span }: Pick<Reading, 'span'>, start: ICAL.Time, { from, until }: Window): boolean => {
  const wall = wallMs(start);
  return wall - ZONE_MS < until && wall + span + ZONE_MS >= from;
};

/** @throws Error if a value of the event cannot be decoded, or it has no start */
const read = (event: ICAL.Component, zones: Zones, index: number): Reading => {
  const property = event.getFirstProperty('dtstart');
  const start: unknown = property?.getFirstValue();
  if (!(start instanceof ICAL.Time)) throw new Error('it has no start');
  const tzid = tzidOf(property);
  const isUtc = start.zone === ICAL.Timezone.utcTimezone;
  const instant = (time: ICAL.Time): number => zones.instant(time, isUtc ? 'UTC' : time.isDate ? null : tzid);
  const ownWall = ({ time, tzid: other }: Zoned): number => {
    const isOwn = time.zone !== ICAL.Timezone.utcTimezone && !isUtc && (other ?? tzid) === tzid;
    if (time.isDate || isOwn) return wallMs(time);
    const at = zones.instant(time, other ?? tzid);
    // By the offset at a time nearby, then by its own.
    const near = 2 * at - instant(fromWallMs(at, false));
    return near + at - instant(fromWallMs(near, false));
  };
  const end: unknown = event.getFirstPropertyValue('dtend');
  const duration: unknown = event.getFirstPropertyValue('duration');
  const endProperty = event.getFirstProperty('dtend');
  const endOf = (from: ICAL.Time): number => {
    if (end instanceof ICAL.Time) {
      const isSameZone = tzidOf(endProperty) === tzid && (end.zone === ICAL.Timezone.utcTimezone) === isUtc;
      if (isSameZone || start.isDate)
        return instant(fromWallMs(wallMs(from) + wallMs(end) - wallMs(start), start.isDate));
      return instant(from) + zones.instant(end, tzidOf(endProperty)) - instant(start);
    }
    if (duration instanceof ICAL.Duration) {
      // Days and weeks are days of the calendar, the rest is exact (RFC 5545, 3.3.6).
      const days = (duration.weeks * 7 + duration.days) * (duration.isNegative ? -1 : 1);
      const exact = duration.hours * 3600 + duration.minutes * 60 + duration.seconds;
      return instant(fromWallMs(wallMs(from) + days * DAY_MS, start.isDate)) + exact * 1000;
    }
    return start.isDate ? instant(fromWallMs(wallMs(from) + DAY_MS, true)) : instant(from);
  };
  const spanOf = (): number => {
    if (end instanceof ICAL.Time) return wallMs(end) - wallMs(start);
    return duration instanceof ICAL.Duration ? duration.toSeconds() * 1000 : start.isDate ? DAY_MS : 0;
  };
  const text = (name: string): string | null => plainTitle(String(event.getFirstPropertyValue(name) ?? ''), MOST_TITLE);
  const word = (name: string): string => String(event.getFirstPropertyValue(name) ?? '').toUpperCase();
  const secrecy = word('class');
  return {
    uid: String(event.getFirstPropertyValue('uid') ?? `event-${index}`).slice(0, 200),
    start,
    tzid,
    instant,
    ownWall,
    endOf,
    span: Math.max(0, spanOf()),
    details: {
      title: text('summary') ?? '',
      location: text('location'),
      all_day: start.isDate,
      private: secrecy === 'PRIVATE' || secrecy === 'CONFIDENTIAL',
      ...(word('transp') === 'TRANSPARENT' && { free: true }),
    },
  };
};

const isCancelled = (event: ICAL.Component): boolean =>
  String(event.getFirstPropertyValue('status') ?? '').toUpperCase() === 'CANCELLED';

/** An exception that is for all later occurrences, too. */
interface Range {
  /** The occurrence that it begins with. */
  at: number;
  /** How far it moves them, in ms of their wall time. */
  by: number;
  /** Null: they are cancelled. */
  reading: Reading | null;
}
const MOST_MOVED_MS = 31 * DAY_MS;

const isRange = (event: ICAL.Component): boolean =>
  String(event.getFirstProperty('recurrence-id')?.getParameter('range') ?? '').toUpperCase() === 'THISANDFUTURE';

/** How often a rule that is finer than days comes in a day. */
const partsOfDay: Readonly<Record<string, number>> = { HOURLY: 24, MINUTELY: 1_440, SECONDLY: 86_400 };

const commonDivisor = (one: number, other: number): number => (other === 0 ? one : commonDivisor(other, one % other));

/** What else names the days of a yearly rule. */
const daysOfYear = ['BYDAY', 'BYMONTHDAY', 'BYYEARDAY', 'BYWEEKNO'];

/** Names the day of a yearly rule that has it from its start: without that the library takes 1 March for 29 February. */
const nameDay = ({ freq, parts }: ICAL.Recur, { month, day }: ICAL.Time): void => {
  if (freq !== 'YEARLY' || day <= 28 || daysOfYear.some((part) => part in parts)) return;
  Object.assign(parts, { BYMONTH: parts['BYMONTH'] ?? [month], BYMONTHDAY: [day] });
};

/** Days after which a rule repeats itself; null: none that is counted in days, or a rule that ends after a number of times. */
const cycleOf = ({ freq, interval, count }: ICAL.Recur): number | null => {
  if (count != null) return null;
  if (freq === 'DAILY') return interval;
  if (freq === 'WEEKLY') return 7 * interval;
  const perDay = partsOfDay[freq];
  return perDay === undefined ? null : interval / commonDivisor(interval, perDay);
};

/** Months after which a rule repeats itself; null: as of {@link cycleOf}. */
const monthsOf = ({ freq, interval, count, parts }: ICAL.Recur, { month, day }: ICAL.Time): number | null => {
  if (count != null) return null;
  const { BYMONTH: months, BYMONTHDAY: days } = parts as Record<string, number[] | undefined>;
  // The library goes on with another month of them, or skips days, by what the first one was.
  if (months && (freq === 'MONTHLY' || (days && `${months}-${days}` !== `${month}-${day}`))) return null;
  return freq === 'YEARLY' ? 12 * interval : freq === 'MONTHLY' ? interval : null;
};

/** A time some months later; null: that month has no such day. */
const monthsLater = ({ year, month, day, hour, minute, second, isDate }: ICAL.Time, months: number) => {
  const at = Date.UTC(year, month - 1 + months, day, hour, minute, second);
  return new Date(at).getUTCDate() === day ? fromWallMs(at, isDate) : null;
};

/** A start from which a rule goes on as from its first one, not long before an instant: a series may be decades old. */
const closeTo = (first: ICAL.Time, rule: ICAL.Recur, before: number): ICAL.Time => {
  const months = monthsOf(rule, first);
  if (months !== null) {
    const last = new Date(before);
    const apart = (last.getUTCFullYear() - first.year) * 12 + last.getUTCMonth() + 1 - first.month;
    for (let cycles = Math.floor(apart / months) - 1; cycles > 0; cycles -= 1) {
      const start = monthsLater(first, cycles * months);
      if (start !== null) return start;
    }
    return first.clone();
  }
  const cycle = cycleOf(rule);
  const cycles = cycle === null ? 0 : Math.floor((before - wallMs(first)) / (cycle * DAY_MS)) - 1;
  return cycle !== null && cycles > 0
    ? fromWallMs(wallMs(first) + cycles * cycle * DAY_MS, first.isDate)
    : first.clone();
};

/** The starts of an event as it recurs, as wall times; `isWhole`: all of them in the window. */
const startsOf = (
  event: ICAL.Component,
  reading: Reading,
  zones: Zones,
  window: Window,
  meter: Meter,
): { starts: ICAL.Time[]; isWhole: boolean } => {
  const { start, tzid, instant, ownWall, span } = reading;
  const { from, until } = window;
  const first = floating(start);
  const starts = new Map(isNear(reading, first, window) ? [[wallMs(first), first]] : []);
  let isWhole = true;
  for (const rule of event.getAllProperties('rrule')) {
    const recur: unknown = rule.getFirstValue();
    if (!(recur instanceof ICAL.Recur)) continue;
    const last = recur.until;
    // Dates and times are compared as days. A time at the start or the end of a local day is that day, even where UTC has another one.
    const lastDay = (time: ICAL.Time): number => {
      const wall = ownWall({ time, tzid });
      const sinceMidnight = wall % DAY_MS;
      if (sinceMidnight === DAY_MS - 1_000) return wall - sinceMidnight;
      return sinceMidnight === 0 ? Math.max(wall, dayOf(time)) : dayOf(time);
    };
    const end = last == null ? Number.POSITIVE_INFINITY : last.isDate === start.isDate ? null : lastDay(last) + DAY_MS;
    const endInstant = end ?? zones.instant(last as ICAL.Time, last?.zone === ICAL.Timezone.utcTimezone ? 'UTC' : tzid);
    nameDay(recur, start);
    // Compared below: the library compares times of two zones as if they were of one.
    recur.until = null;
    try {
      const iterator = createIterator(recur, closeTo(first, recur, from - span - ZONE_MS), meter);
      for (;;) {
        // The iterator changes the time that it has returned.
        const next = iterator.next() as ICAL.Time | null;
        if (next === null) break;
        const wall = wallMs(next);
        if (wall - ZONE_MS >= until || wall - ZONE_MS > endInstant || (end !== null && wall >= end)) break;
        if (end === null && wall + ZONE_MS > endInstant && instant(next) > endInstant) break;
        if (!isNear(reading, next, window)) continue;
        starts.set(wall, floating(next));
        meter.left -= STEPS_OF_SHOWN;
      }
    } catch (error) {
      if (!(error instanceof Endless)) throw error;
      isWhole = false;
    } finally {
      recur.until = last;
    }
  }
  for (const date of timesIn(event, 'rdate')) {
    if (!isNear(reading, date.time, window)) continue;
    const wall = ownWall(date);
    starts.set(wall, fromWallMs(wall, date.time.isDate));
  }
  return { starts: [...starts.values()], isWhole };
};

const utc = (ms: number): string => new Date(ms).toISOString();

/** The newest version of each event, by its id and, of an exception, what it replaces. */
const newest = (events: readonly ICAL.Component[]): ICAL.Component[] => {
  const byName = new Map<string, ICAL.Component>();
  events.forEach((event, index) => {
    const uid = String(event.getFirstPropertyValue('uid') ?? `event-${index}`);
    // As it is written: a value that is no time cannot be read.
    const name = `${uid}\n${JSON.stringify(event.getFirstProperty('recurrence-id')?.toJSON() ?? '')}`;
    const before = byName.get(name);
    const sequence = (each: ICAL.Component): number => Number(each.getFirstPropertyValue('sequence') ?? 0);
    if (before === undefined || sequence(event) >= sequence(before)) byName.set(name, event);
  });
  return [...byName.values()];
};

export interface Expansion {
  /** In the order of their starts. */
  events: CalendarEvent[];
  /** Of events whose rule takes too long to follow, or never comes to an end: their titles, or ids if they are private. */
  unfinished: string[];
  /** How many events could not be read. */
  unread: number;
}

/** The events of a calendar that are on within the window. */
export const expandCalendar = (calendar: Calendar, window: Window, timeZone: string): Expansion => {
  const root = new ICAL.Component(calendar);
  const zones = createZones(root, timeZone);
  const found: (CalendarEvent & { at: number })[] = [];
  const add = (reading: Reading, start: ICAL.Time): void => {
    if (!isNear(reading, start, window)) return;
    const { uid, endOf, instant, details } = reading;
    const startsAt = instant(start);
    const endsAt = Math.max(startsAt, endOf(start));
    const isOn = startsAt < window.until && (endsAt > window.from || startsAt >= window.from);
    if (!isOn) return;
    found.push({
      id: `${uid}/${utc(startsAt)}`,
      ...details,
      starts_at: utc(startsAt),
      ends_at: utc(endsAt),
      at: startsAt,
    });
  };
  const events = newest(root.getAllSubcomponents('vevent'));
  /** What exceptions replace, by the id of their event. */
  const replaced = new Map<string, Zoned[]>();
  /** Exceptions that are shown where their event is not cancelled. */
  const exceptions: Reading[] = [];
  /** Exceptions that are for all occurrences from one on (RFC 5545, 3.2.13), by the id of their event. */
  const ranges = new Map<string, Range[]>();
  const masters: [ICAL.Component, Reading][] = [];
  // Values are decoded here; those whose lines are broken were counted before.
  let unread = Number(root.getFirstPropertyValue(UNREAD) ?? 0);
  events.forEach((event, index) => {
    try {
      const reading = read(event, zones, index);
      const [exception] = timesIn(event, 'recurrence-id');
      if (exception === undefined) {
        masters.push([event, reading]);
        return;
      }
      const { time, tzid } = exception;
      const at = zones.instant(time, time.isDate ? null : (tzid ?? reading.tzid));
      const others = replaced.get(reading.uid) ?? [];
      others.push({ time, tzid: tzid ?? reading.tzid });
      replaced.set(reading.uid, others);
      if (isRange(event)) {
        const by = wallMs(reading.start) - reading.ownWall(exception);
        ranges.set(reading.uid, [
          ...(ranges.get(reading.uid) ?? []),
          { at, by, reading: isCancelled(event) ? null : reading },
        ]);
      }
      if (!isCancelled(event)) exceptions.push(reading);
    } catch {
      // One event that cannot be read does not hide the others.
      unread += 1;
    }
  });
  const cancelled = new Set(masters.filter(([event]) => isCancelled(event)).map(([, { uid }]) => uid));
  for (const reading of exceptions) {
    if (cancelled.has(reading.uid)) continue;
    try {
      add(reading, floating(reading.start));
    } catch {
      unread += 1;
    }
  }
  /** Adds an event as it recurs; false: it takes more steps. */
  const addSeries = (event: ICAL.Component, reading: Reading, meter: Meter, isLast: boolean): boolean => {
    const excluded = [...timesIn(event, 'exdate'), ...(replaced.get(reading.uid) ?? [])].map(({ time, tzid }) => ({
      at: zones.instant(time, time.isDate ? null : (tzid ?? reading.tzid)),
      // A date excludes, or replaces, what starts on it.
      date: time.isDate && !reading.start.isDate ? wallMs(time) : null,
    }));
    const dates = new Set(excluded.flatMap(({ date }) => date ?? []));
    const instants = new Set(excluded.flatMap(({ at, date }) => (date === null ? at : [])));
    const following = (ranges.get(reading.uid) ?? []).toSorted((a, b) => b.at - a.at);
    // What is moved into the window begins outside of it.
    const reach = Math.min(MOST_MOVED_MS, Math.max(0, ...following.map(({ by }) => Math.abs(by))));
    const wide = { from: window.from - reach, until: window.until + reach };
    const { starts, isWhole } = startsOf(event, reading, zones, wide, meter);
    if (!isWhole && !isLast) return false;
    let count = 0;
    for (const start of starts) {
      const at = reading.instant(start);
      if (instants.has(at) || dates.has(dayOf(start))) continue;
      if (count++ > MOST_OF_EVENT * 100) break;
      const range = following.find((each) => each.at <= at);
      if (range === undefined) add(reading, start);
      else if (range.reading !== null)
        add(range.reading, fromWallMs(wallMs(start) + range.by, range.reading.start.isDate));
    }
    return isWhole;
  };
  let left = Number.POSITIVE_INFINITY;
  /** What is short comes first: no series keeps another from being shown. */
  let long = masters.filter(([event]) => !isCancelled(event));
  ROUNDS.forEach((most, round) => {
    const isLast = round === ROUNDS.length - 1;
    long = long.filter(([event, reading]) => {
      const steps = Math.min(most, left);
      const meter = { left: steps };
      let isWhole = true;
      try {
        isWhole = addSeries(event, reading, meter, isLast);
      } catch {
        // As above; it is not tried again.
        unread += 1;
      }
      left -= steps - Math.max(0, meter.left);
      return !isWhole;
    });
    left = Math.min(left, MOST_STEPS_IN_ALL);
  });
  const unfinished = long.map(([, { details, uid }]) =>
    details.private || details.title === '' ? uid : details.title,
  );
  found.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  return {
    events: found.map(({ at: _, ...event }) => event),
    unfinished,
    unread,
  };
};
