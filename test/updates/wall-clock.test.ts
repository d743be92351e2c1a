import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { addDays, instantOf, isBetween, minutesOf, wallTimeOf } from '../../main/wall-clock.ts';

const zones = [
  'Europe/Vienna',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'UTC',
  'America/Sao_Paulo',
];
const zone = fc.constantFrom(...zones);
const instant = fc.integer({ min: Date.UTC(2001, 0, 1), max: Date.UTC(2040, 0, 1) });

test('shows what Temporal shows', () => {
  fc.assert(
    fc.property(instant, zone, (now, timeZone) => {
      const expected = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone);
      expect(wallTimeOf(now, timeZone)).toEqual({
        date: expected.toPlainDate().toString(),
        weekday: expected.dayOfWeek,
        minutes: expected.hour * 60 + expected.minute,
      });
    }),
  );
});

test('finds the instant that Temporal finds, through changes to summer time and back', () => {
  fc.assert(
    fc.property(instant, fc.integer({ min: 0, max: 1439 }), zone, (near, minutes, timeZone) => {
      const date = new Date(near).toISOString().slice(0, 10);
      const plainTime = Temporal.PlainTime.from({ hour: Math.floor(minutes / 60), minute: minutes % 60 });
      const expected = Temporal.PlainDate.from(date).toZonedDateTime({ timeZone, plainTime });
      expect(instantOf(date, minutes, timeZone)).toBe(expected.epochMilliseconds);
    }),
    { numRuns: 300 },
  );
  for (const [date, time] of [
    ['2026-03-29', '02:30'],
    ['2026-10-25', '02:30'],
  ] as const) {
    const expected = Temporal.PlainDateTime.from(`${date}T${time}`).toZonedDateTime('Europe/Vienna').epochMilliseconds;
    expect(instantOf(date, minutesOf(time), 'Europe/Vienna')).toBe(expected);
  }
});

test('counts days over the ends of months and years', () => {
  expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
  expect(addDays('2028-03-01', -1)).toBe('2028-02-29');
});

test.each([
  ['03:00', '05:00', '04:00', true],
  ['03:00', '05:00', '05:00', false],
  ['22:00', '02:00', '23:30', true],
  ['22:00', '02:00', '01:59', true],
  ['22:00', '02:00', '12:00', false],
  ['00:00', '00:00', '12:00', true],
])('from %s until %s holds %s: %s', (from, until, time, expected) => {
  expect(isBetween(minutesOf(time), minutesOf(from), minutesOf(until))).toBe(expected);
});
