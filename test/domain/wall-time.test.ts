/** Wall clocks of many zones, beside what Intl says of every moment. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addDays, instantOf, spanOf, wallTimeOf, weekdayOf } from '../../service/domain/wall-time.ts';
import { repeats } from '../support/soak.ts';

const HOUR = 3_600_000;
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

/** What the clocks of a zone show at an instant, to the second: `YYYY-MM-DD HH:MM:SS`. */
const readerOf = (timeZone: string) => {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return (at: number): string => format.format(at);
};

/** The instants about which the clocks of a zone jump, found by looking at every six hours. */
const jumpsOf = (timeZone: string): number[] => {
  const read = readerOf(timeZone);
  const aheadAt = (at: number): number => Date.parse(`${read(at).replace(' ', 'T')}Z`) - at;
  const jumps: number[] = [];
  for (let at = Date.UTC(1975, 0, 1); at < Date.UTC(2035, 0, 1); at += 6 * HOUR) {
    if (aheadAt(at) !== aheadAt(at + 6 * HOUR)) jumps.push(at);
  }
  return jumps;
};

describe.each(zones)('the clocks of %s', (timeZone) => {
  const read = readerOf(timeZone);

  it('show what Intl says', () => {
    fc.assert(
      fc.property(instant, (now) => {
        const { date, minutes } = wallTimeOf(now + 0.5, timeZone);
        const time = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
        expect(`${date} ${time}`).toBe(read(now).slice(0, -':00'.length));
        expect(weekdayOf(date)).toBe(new Date(`${date}T00:00Z`).getUTCDay() || 7);
      }),
    );
  });

  it('show a time, or what comes after it, first at its instant', () => {
    const jumps = jumpsOf(timeZone);
    const near = jumps.length === 0 ? instant : fc.constantFrom(...jumps);
    fc.assert(
      fc.property(fc.oneof(instant, near), fc.integer({ min: -12 * 3600, max: 12 * 3600 }), (at, seconds) => {
        // Not only times that are shown: those that are skipped too.
        const wall = new Date(Date.parse(`${read(at).replace(' ', 'T')}Z`) + seconds * 1000).toISOString();
        const [date = '', time = ''] = wall.slice(0, -'.000Z'.length).split('T');
        const found = instantOf(date, time, timeZone);
        const shown = (ms: number): boolean => read(found + ms) >= `${date} ${time}`;
        expect({ date, time, at: shown(0), before: shown(-1) }).toEqual({ date, time, at: true, before: false });
        // Nor had it been shown before autumn set the clocks back.
        for (let hours = 1; hours <= 24; hours++) expect(shown(-hours * HOUR)).toBe(false);
      }),
      { numRuns: repeats(60, 2_000) },
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
