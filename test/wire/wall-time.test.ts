/** Wall clocks of many zones, beside what Temporal makes of them. */
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { addDays, instantOf, spanOf, wallTimeOf, weekdayOf } from '../../service/wire/wall-time.ts';

const zones = [
  'UTC',
  'Europe/Vienna',
  'Europe/Dublin',
  'America/New_York',
  'America/Sao_Paulo',
  'America/Santiago',
  'America/St_Johns',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Africa/Monrovia',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
];
const instant = fc.integer({ min: Date.UTC(1950, 0, 1), max: Date.UTC(2040, 0, 1) });
const time = fc
  .tuple(fc.nat(23), fc.nat(59), fc.option(fc.nat(59), { nil: undefined }))
  .map((parts) => parts.flatMap((part) => part?.toString().padStart(2, '0') ?? []).join(':'));

/** The moments at which the clocks of a zone were changed, or will be. */
const changesOf = (timeZone: string): Temporal.ZonedDateTime[] => {
  const changes: Temporal.ZonedDateTime[] = [];
  let at = Temporal.PlainDate.from('1950-01-01').toZonedDateTime(timeZone).getTimeZoneTransition('next');
  for (; at !== null && at.year < 2040; at = at.getTimeZoneTransition('next')) changes.push(at);
  return changes;
};

const firstReading = (date: string, wallTime: string, timeZone: string): number => {
  const wall = Temporal.PlainDateTime.from(`${date}T${wallTime}`);
  const reading = wall.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  const isRead = reading.toPlainDateTime().equals(wall);
  return ((isRead ? null : reading.getTimeZoneTransition('next')) ?? reading).epochMilliseconds;
};

describe.each(zones)('the clocks of %s', (timeZone) => {
  it('show what Temporal shows', () => {
    fc.assert(
      fc.property(instant, (now) => {
        const expected = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone);
        const { date, minutes } = wallTimeOf(now, timeZone);
        expect([date, minutes]).toEqual([expected.toPlainDate().toString(), expected.hour * 60 + expected.minute]);
        expect(weekdayOf(date)).toBe(expected.dayOfWeek);
      }),
    );
  });

  it('show a time first when Temporal says so', () => {
    const holds = (date: string, wallTime: string): void => {
      const found = { date, wallTime, instant: instantOf(date, wallTime, timeZone) };
      expect(found).toEqual({ date, wallTime, instant: firstReading(date, wallTime, timeZone) });
    };
    const dateOf = (now: number): string => new Date(now).toISOString().slice(0, 10);
    fc.assert(fc.property(instant.map(dateOf), time, holds));
    const changes = changesOf(timeZone);
    if (changes.length === 0) return;
    // Within a few hours of a change, either way.
    const near = fc.tuple(fc.constantFrom(...changes), fc.integer({ min: -10_800, max: 10_800 }));
    fc.assert(
      fc.property(near, ([change, seconds]) => {
        const wall = change.toPlainDateTime().add({ seconds }).toString();
        holds(wall.slice(0, 10), wall.slice(11));
      }),
      { numRuns: 200 },
    );
  });
});

it.each([
  // At 01:00Z 02:00 becomes 03:00.
  ['2026-03-29', '02:30', '2026-03-29T01:00:00.000Z'],
  ['2026-03-29', '01:59:59.999', '2026-03-29T00:59:59.999Z'],
  ['2026-03-29', '03:00', '2026-03-29T01:00:00.000Z'],
  // At 01:00Z 03:00 becomes 02:00.
  ['2026-10-25', '02:30', '2026-10-25T00:30:00.000Z'],
  ['2026-10-25', '03:00', '2026-10-25T02:00:00.000Z'],
  ['2026-07-01', '08:15:30.123456789', '2026-07-01T06:15:30.123Z'],
  // Before there were zones, a place had its own time.
  ['1800-01-01', '00:00', '1799-12-31T22:54:39.000Z'],
  ['0000-01-01', '00:00', '-000001-12-31T22:54:39.000Z'],
  ['9999-12-31', '23:59', '9999-12-31T22:59:00.000Z'],
])('in Vienna, %s %s is %s', (date, wallTime, expected) => {
  expect(new Date(instantOf(date, wallTime, 'Europe/Vienna')).toISOString()).toBe(expected);
});

it.each([
  ['08:00', '20:00', '07:00', '19:00'],
  ['08:00', '08:00:00', '07:00', '+1 07:00'],
  ['22:00', '02:00', '21:00', '+1 01:00'],
  ['00:00', '00:00', '-1 23:00', '23:00'],
])('from %s until %s of a winter day in Vienna', (from, until, start, end) => {
  const instantIn = (text: string): number => {
    const [clock = '', days = '0'] = text.split(' ').toReversed();
    return Date.parse(`${addDays('2026-01-15', Number(days))}T${clock}Z`);
  };
  const expected = { start: instantIn(start), end: instantIn(end) };
  expect(spanOf('2026-01-15', from, until, 'Europe/Vienna')).toEqual(expected);
});

it.each([
  ['2026-12-31', 1, '2027-01-01', 5],
  ['2028-03-01', -1, '2028-02-29', 2],
  ['0000-01-01', -1, '-000001-12-31', 5],
  ['9999-12-31', 1, '+010000-01-01', 6],
])('%s and %i day: %s', (date, days, expected, weekday) => {
  const day = addDays(date, days);
  expect([day, weekdayOf(day)]).toEqual([expected, weekday]);
});
