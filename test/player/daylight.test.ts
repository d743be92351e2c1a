/** Schedules on the days on which clocks are changed: a table by hand, and all minutes of a year by another reckoning. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOf, isOn, nextChange, type Schedule } from '../../service/domain/slide-schedule.ts';
import { repeats } from '../support/soak.ts';

const weekly = (start: string, end: string, days: readonly number[] | null = null): Schedule => ({
  schedule_mode: 'weekly',
  schedule_start_datetime: null,
  schedule_end_datetime: null,
  schedule_start_time: start,
  schedule_end_time: end,
  schedule_days_json: days === null ? null : JSON.stringify(days),
});

/** When a schedule is on between two instants, as the player walks through it: from change to change. */
const walk = (schedule: Schedule, from: number, to: number, timeZone: string): [start: number, end: number][] => {
  const spans: [number, number][] = [];
  for (let at = from; at < to; ) {
    const next = Math.min(to, nextChange([schedule], at, timeZone));
    if (isOn(schedule, at, timeZone)) spans.push([at, Math.min(to, endOf(schedule, at, timeZone))]);
    at = next;
  }
  return spans;
};

describe('on the day of a change the window', () => {
  it.each([
    // Central Europe: at 01:00Z 02:00 becomes 03:00.
    ['Europe/Vienna', '2026-03-29', 'is an hour short', '01:30', '03:30', '00:30', '01:30'],
    ['Europe/Vienna', '2026-03-29', 'begins at the jump', '02:30', '03:30', '01:00', '01:30'],
    ['Europe/Vienna', '2026-03-29', 'ends at the jump', '01:15:30', '02:30', '00:15:30', '01:00'],
    ['Europe/Vienna', '2026-03-29', 'does not come where it is skipped', '02:15', '02:45', null, null],
    ['Europe/Vienna', '2026-03-29', 'does not come where it is what is skipped', '02:00', '03:00', null, null],
    ['Europe/Vienna', '2026-03-28', 'of the night before it ends at the jump', '23:00', '02:30', '22:00', '+1 01:00'],
    ['Europe/Vienna', '2026-03-29', 'of the night after it is as always', '23:00', '02:30', '21:00', '+1 00:30'],
    // At 01:00Z 03:00 becomes 02:00.
    ['Europe/Vienna', '2026-10-25', 'is an hour longer', '01:30', '03:30', '-1 23:30', '02:30'],
    ['Europe/Vienna', '2026-10-25', 'begins at the first of two', '02:30', '03:30', '00:30', '02:30'],
    ['Europe/Vienna', '2026-10-25', 'ends at the first of two', '01:15', '02:30:15', '-1 23:15', '00:30:15'],
    ['Europe/Vienna', '2026-10-24', 'of the night before ends at the first', '23:00', '02:30', '21:00', '+1 00:30'],
    ['Europe/Vienna', '2026-10-25', 'comes once', '02:15', '02:45', '00:15', '00:45'],
    ['Europe/Vienna', '2026-10-25', 'holds the whole of the doubled hour', '02:00', '03:00', '00:00', '02:00'],
    // The United States: at 07:00Z (08:00Z in Chicago) 02:00 becomes 03:00; at 06:00Z 02:00 becomes 01:00.
    ['America/New_York', '2026-03-08', 'is an hour short', '01:00', '04:00', '06:00', '08:00'],
    ['America/New_York', '2026-11-01', 'is an hour longer', '00:30', '02:00', '04:30', '07:00'],
    // Half an hour at 15:30Z: 02:00 becomes 02:30; at 15:00Z 02:00 becomes 01:30.
    ['Australia/Lord_Howe', '2026-10-04', 'begins at the jump', '02:15', '03:00', '-1 15:30', '-1 16:00'],
    ['Australia/Lord_Howe', '2026-10-04', 'does not come where it is skipped', '02:00', '02:30', null, null],
    ['Australia/Lord_Howe', '2026-04-05', 'begins at the first of two', '01:40', '02:10', '-1 14:40', '-1 15:40'],
    // Southern summers; in Chile clocks are changed at midnight.
    ['Australia/Sydney', '2026-10-04', 'is an hour short', '01:00', '04:00', '-1 15:00', '-1 17:00'],
    ['Australia/Sydney', '2026-04-05', 'is an hour longer', '01:00', '04:00', '-1 14:00', '-1 18:00'],
    ['America/Santiago', '2026-09-06', 'begins when the day does', '00:00', '02:00', '04:00', '05:00'],
    [
      'America/Santiago',
      '2026-04-04',
      'holds the hour before midnight twice',
      '23:00',
      '00:30',
      '+1 02:00',
      '+1 04:30',
    ],
    ['Africa/Cairo', '2026-04-24', 'begins when the day does', '00:30', '06:00', '-1 22:00', '03:00'],
    // No change at all, and 45 minutes off.
    ['Asia/Kathmandu', '2026-03-29', 'is as always', '02:15', '02:45', '-1 20:30', '-1 21:00'],
  ])('%s %s %s (%s to %s)', (timeZone, day, _, start, end, from, to) => {
    const midnight = Date.parse(`${day}T00:00Z`);
    /** `[DAYS ]HH:MM[:SS]` of UTC, from the day of the change on. */
    const instant = (text: string): number => {
      const [time = '', days = '0'] = text.split(' ').toReversed();
      return Date.parse(`${new Date(midnight + Number(days) * 86_400_000).toISOString().slice(0, 10)}T${time}Z`);
    };
    const weekday = new Date(midnight).getUTCDay() || 7;
    const spans = walk(weekly(start, end, [weekday]), midnight - 2 * 86_400_000, midnight + 3 * 86_400_000, timeZone);
    expect(spans).toEqual(from === null || to === null ? [] : [[instant(from), instant(to)]]);
  });

  it('of a day that there was not does not come', () => {
    // Samoa went from the 29th to the 31st of December 2011, a Saturday.
    const from = Date.parse('2011-12-28T00:00Z');
    expect(walk(weekly('09:00', '17:00', [5]), from, from + 6 * 86_400_000, 'Pacific/Apia')).toEqual([]);
  });
});

const zones = [
  'Europe/Vienna',
  'America/Santiago',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Europe/Dublin',
  'America/New_York',
  'America/Havana',
  'America/St_Johns',
  'Africa/Cairo',
  'Asia/Kathmandu',
].slice(0, repeats(4, 10));
const FROM = Date.parse('2025-06-01T00:00Z');
const YEARS = repeats(1, 2);
const MINUTES = YEARS * 365 * 1440;
const MINUTE_MS = 60_000;

/** What a clock on the wall read at each minute, by the browser's own calendar: minutes since the epoch, as if of UTC. */
const wallClock = (timeZone: string): Float64Array => {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const read = (minute: number): number =>
    Date.parse(`${format.format(FROM + minute * MINUTE_MS).replace(' ', 'T')}Z`) / MINUTE_MS;
  const readings = new Float64Array(MINUTES);
  for (let hour = 0; hour < MINUTES; hour += 60) {
    const first = read(hour);
    const isPlain = read(hour + 59) === first + 59;
    for (let minute = 0; minute < 60; minute++)
      readings[hour + minute] = isPlain ? first + minute : read(hour + minute);
  }
  return readings;
};

const clocks = new Map(zones.map((zone) => [zone, wallClock(zone)]));

/** Minutes at which a schedule is on, by the readings of a clock that waits wherever the one on the wall goes back. */
const reckon = (readings: Float64Array, start: number, end: number, days: readonly number[]): Uint8Array => {
  const length = end > start ? end - start : end + 1440 - start;
  const isOnDay = Array.from({ length: 7 }, (_, index) => days.includes(index + 1));
  /** 1970-01-01 was a Thursday. */
  const isIn = (reading: number, day: number): boolean =>
    isOnDay[(day + 3) % 7] === true && reading >= day * 1440 + start && reading < day * 1440 + start + length;
  let latest = 0;
  return Uint8Array.from(readings, (reading) => {
    latest = Math.max(latest, reading);
    const day = Math.floor(latest / 1440);
    return isIn(latest, day) || isIn(latest, day - 1) ? 1 : 0;
  });
};

const timeOf = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;

/** Any minute of the day, and often one of those that change. */
const time = fc.oneof(fc.nat(1439), fc.constantFrom(0, 59, 60, 90, 119, 120, 135, 150, 179, 180, 1380, 1439));
const weekdays = fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 });

describe(`over ${YEARS === 1 ? 'a year' : 'two years'}, minute by minute`, () => {
  it.each(zones)('in %s every schedule is on when a clock that never goes back says so', (zone) => {
    const readings = clocks.get(zone) ?? new Float64Array();
    const holds = (start: number, end: number, days: number[]): void => {
      const expected = reckon(readings, start, end, days);
      const actual = new Uint8Array(MINUTES);
      const schedule = weekly(timeOf(start), timeOf(end), days);
      for (const [from, to] of walk(schedule, FROM, FROM + MINUTES * MINUTE_MS, zone)) {
        actual.fill(1, (from - FROM) / MINUTE_MS, (to - FROM) / MINUTE_MS);
      }
      const wrong = actual.findIndex((on, minute) => on !== expected[minute]);
      expect(wrong === -1 ? null : new Date(FROM + wrong * MINUTE_MS).toISOString()).toBeNull();
    };
    fc.assert(fc.property(time, time, weekdays, holds), {
      numRuns: repeats(1, 30, 'SIGNAGE_TEST_SCHEDULES'),
      examples: [[135, 165, [1, 2, 3, 4, 5, 6, 7]]],
    });
  });
});
