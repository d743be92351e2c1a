import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { plan } from '../../main/power/power.ts';
import { isOn, type Schedule } from '../../service/domain/slide-schedule.ts';
import type { Hours } from '../../service/public.ts';
import { repeats } from '../support/soak.ts';

const MINUTE = 60_000;
const zone = 'Europe/Vienna';
const at = (wall: string): number => Temporal.PlainDateTime.from(wall).toZonedDateTime(zone).epochMilliseconds;
const wallOf = (instant: number | null): string | null =>
  instant === null
    ? null
    : Temporal.Instant.fromEpochMilliseconds(instant)
        .toZonedDateTimeISO(zone)
        .toPlainDateTime()
        .toString()
        .slice(0, 16);

const weekly: Schedule = {
  schedule_mode: 'weekly',
  schedule_start_datetime: null,
  schedule_end_datetime: null,
  schedule_start_time: null,
  schedule_end_time: null,
  schedule_days_json: null,
};

const shop: Hours = [
  { days: [1, 2, 3, 4, 5], open: '08:00', close: '20:00' },
  { days: [6], open: '09:00', close: '13:00' },
  { date: '2026-12-24', open: '08:00', close: '14:00' },
  { date: '2026-12-25' },
  { date: '2026-12-27', open: '10:00', close: '12:00' },
];
const bar: Hours = [{ days: [5, 6], open: '20:00', close: '03:00' }];
const early: Hours = [{ open: '20:00', close: '02:30' }];
const nap: Hours = [{ open: '02:15', close: '02:45' }];
const kitchen: Hours = [
  { open: '06:00', close: '10:00' },
  { open: '17:00', close: '22:00' },
];

describe('the plan', () => {
  test.each<[string, Hours[], string, boolean, string | null]>([
    ['before opening', [shop], '2026-11-23T07:58', false, '2026-11-23T07:59'],
    ['awake a minute before', [shop], '2026-11-23T07:59', true, '2026-11-23T20:00'],
    ['open', [shop], '2026-11-23T12:00', true, '2026-11-23T20:00'],
    ['closed on the dot', [shop], '2026-11-23T20:00', false, '2026-11-24T07:59'],
    ['over the weekend', [shop], '2026-11-21T13:00', false, '2026-11-23T07:59'],
    ['an exception that closes earlier', [shop], '2026-12-24T12:00', true, '2026-12-24T14:00'],
    ['an exception that keeps it closed', [shop], '2026-12-25T12:00', false, '2026-12-26T08:59'],
    ['an exception that opens a Sunday', [shop], '2026-12-27T11:00', true, '2026-12-27T12:00'],
    ['past midnight', [bar], '2026-11-22T02:59', true, '2026-11-22T03:00'],
    ['past midnight of a day on which it does not open', [bar], '2026-11-22T03:00', false, '2026-11-27T19:59'],
    ['twice a day', [kitchen], '2026-11-23T12:00', false, '2026-11-23T16:59'],
    ['two screens: as long as one is open', [shop, bar], '2026-11-27T12:00', true, '2026-11-28T03:00'],
    ['a screen without hours keeps the box on', [shop, null], '2026-11-22T12:00', true, null],
    ['no screen yet', [], '2026-11-22T12:00', true, null],
    ['open all day, every day', [[{ open: '00:00', close: '00:00' }]], '2026-11-22T12:00', true, null],
    ['nothing but exceptions', [[{ date: '2026-11-25' }]], '2026-11-22T12:00', true, '2026-11-25T00:00'],
    ['an empty list', [[]], '2026-11-22T12:00', true, null],
    ['a night that ends in the hour that is skipped', [early], '2026-03-29T01:00', true, '2026-03-29T03:00'],
    ['nothing of what lies wholly in that hour', [nap], '2026-03-29T01:59', false, '2026-03-30T02:14'],
    ['the night that is an hour shorter', [bar], '2026-03-29T01:00', true, '2026-03-29T03:00'],
    ['the night that is an hour longer', [bar], '2026-10-25T00:30', true, '2026-10-25T03:00'],
  ])('%s', (_, screens, now, on, changesAt) => {
    const planned = plan(screens, at(now), zone, MINUTE);
    expect({ on: planned.on, changesAt: wallOf(planned.changesAt) }).toEqual({ on, changesAt });
  });
});

test('holds until it says that it changes, and changes then', () => {
  const time = fc
    .tuple(fc.nat(23), fc.nat(59))
    .map(([h, m]) => [h, m].map((n) => String(n).padStart(2, '0')).join(':'));
  const days = fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 });
  const hours = fc.array(fc.record({ days, open: time, close: time }), { minLength: 1, maxLength: 4 });
  const start = fc.integer({ min: at('2026-03-20T00:00'), max: at('2026-11-10T00:00') });
  fc.assert(
    fc.property(
      hours,
      start,
      fc.nat(10 * MINUTE),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (list, now, lead, part) => {
        const planned = plan([list], now, zone, lead);
        if (planned.changesAt === null) return;
        expect(planned.changesAt).toBeGreaterThan(now);
        const between = Math.floor(now + (planned.changesAt - now) * part);
        expect(plan([list], between, zone, lead).on).toBe(planned.on);
        expect(plan([list], planned.changesAt, zone, lead).on).toBe(!planned.on);
      },
    ),
    { numRuns: repeats(100, 2_000) },
  );
});

test('is on when a slide with the same schedule is, on the days of a change too', () => {
  const minute = fc.oneof(fc.nat(1439), fc.constantFrom(60, 119, 120, 135, 150, 165, 179, 180));
  const text = (minutes: number): string =>
    [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
  const day = fc.constantFrom('2026-03-28', '2026-03-29', '2026-10-24', '2026-10-25', '2026-11-23');
  fc.assert(
    fc.property(day, minute, minute, fc.nat(1439), (date, from, until, offset) => {
      const now = at(`${date}T00:00`) + offset * MINUTE;
      const [open, close] = [text(from), text(until)];
      const slide = { ...weekly, schedule_start_time: open, schedule_end_time: close };
      expect(plan([[{ open, close }]], now, zone, 0).on).toBe(isOn(slide, now, zone));
    }),
    { numRuns: repeats(200, 5_000) },
  );
});
