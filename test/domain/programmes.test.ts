import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill/implementation';
import { describe, expect, it } from 'vitest';
import { dueAt, nextDate, type Programme, periodFrom, timelineOf, windowsOf } from '../../service/domain/programmes.ts';
import { isOn } from '../../service/domain/slide-schedule.ts';

/** Zones whose clocks change at different times of the day, by half an hour, in both halves of the earth, or never. */
const zones = [
  'Europe/Vienna',
  'America/New_York',
  'America/Havana',
  'America/Santiago',
  'Africa/Cairo',
  'Asia/Beirut',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Atlantic/Azores',
];

const lunch: Programme = {
  id: 'lunch',
  targets: ['all'],
  playlist_id: 'lunch',
  start_time: '11:30',
  end_time: '14:00',
};
const screen = { slug: 'cafe', tags: ['food'], playlist_id: 'day' };
const dueOn = (programmes: readonly Programme[], at: string, timeZone = 'UTC') =>
  dueAt(programmes, screen, Date.parse(at), periodFrom(Date.parse(at), 8, timeZone));

const two = (value: number): string => String(value).padStart(2, '0');
const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }), fc.constantFrom('', ':00', ':30', ':59'))
  .map(([hours, minutes, seconds]) => `${two(hours)}:${two(minutes)}${seconds}`);
const day = fc.integer({ min: 0, max: 800 }).map((days) => new Date(Date.UTC(2026, 0, 1) + days * 86_400_000));
const date = day.map((each) => each.toISOString().slice(0, 10));
const rule = fc.record({
  days: fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 7 }))),
  dates: fc.option(fc.array(date, { maxLength: 3 })),
  start_time: fc.option(time),
  end_time: fc.option(time),
  start_date: fc.option(date),
  end_date: fc.option(date),
});
const moment = fc.integer({ min: Date.UTC(2026, 0, 2), max: Date.UTC(2028, 0, 1) });
/** Half of them within a day of a change of the clock. */
const momentIn = (timeZone: string) => {
  const changes: number[] = [];
  let at: Temporal.ZonedDateTime | null = Temporal.Instant.fromEpochMilliseconds(
    Date.UTC(2026, 0, 2),
  ).toZonedDateTimeISO(timeZone);
  for (let count = 0; count < 4 && at !== null; count++) {
    at = at.getTimeZoneTransition('next');
    if (at !== null) changes.push(at.epochMilliseconds);
  }
  if (changes.length === 0) return moment;
  const near = fc.tuple(fc.constantFrom(...changes), fc.integer({ min: -90_000_000, max: 90_000_000 }));
  return fc.oneof(
    moment,
    near.map(([change, apart]) => change + apart),
  );
};
/** Weekly schedules of slides know days, and no dates. */
const weekly = rule.map((each) => ({ ...each, dates: null, start_date: null, end_date: null }));

describe('when a programme is due', () => {
  it.each(zones)(
    'is when a slide with its days and times is on schedule, through daylight saving, in %s',
    (timeZone) => {
      fc.assert(
        fc.property(weekly, momentIn(timeZone), (each, now) => {
          const { days, start_time, end_time } = each;
          const asSlide = {
            schedule_mode: 'weekly' as const,
            schedule_start_datetime: null,
            schedule_end_datetime: null,
            schedule_start_time: start_time,
            schedule_end_time: end_time,
            schedule_days_json: days && JSON.stringify(days),
          };
          const period = periodFrom(now, 8, timeZone);
          const isDue = windowsOf(each, period).some(({ start, end }) => start <= now && now < end);
          expect(isDue).toBe(isOn(asSlide, now, timeZone));
        }),
        { numRuns: 30 },
      );
    },
  );

  it.each(zones)('is what the clock on the wall says, except in the hours around its change, in %s', (timeZone) => {
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
    const wallAt = (at: number) => format.format(at).split(' ') as [string, string];
    const weekdayAt = (each: string) => new Date(`${each}T12:00:00Z`).getUTCDay() || 7;
    const offset = (at: number) => Date.parse(`${format.format(at).replace(' ', 'T')}Z`) - at;
    fc.assert(
      fc.property(rule, moment, (each, now) => {
        const whole = Math.floor(now / 1000) * 1000;
        fc.pre(Math.abs(offset(whole - 90_000_000) - offset(whole + 90_000_000)) < 1000);
        const begins = (on: string): boolean =>
          (each.start_date === null || on >= each.start_date) &&
          (each.end_date === null || on <= each.end_date) &&
          (each.dates?.includes(on) === true ||
            (each.days === null ? each.dates === null : each.days.includes(weekdayAt(on))));
        const [today, now_] = wallAt(whole);
        const [yesterday] = [new Date(Date.parse(`${today}T12:00:00Z`) - 86_400_000).toISOString().slice(0, 10)];
        const full = (value: string | null) =>
          value === null ? '00:00:00' : value.length === 5 ? `${value}:00` : value;
        const [from, until] = [full(each.start_time), full(each.end_time)];
        const isOvernight = until <= from;
        const expected =
          (begins(today) && now_ >= from && (isOvernight || now_ < until)) ||
          (begins(yesterday) && isOvernight && now_ < until);
        const period = periodFrom(whole, 8, timeZone);
        expect(windowsOf(each, period).some(({ start, end }) => start <= whole && whole < end)).toBe(expected);
      }),
      { numRuns: 30 },
    );
  });

  it('knows the next date on which it begins, and that there is none', () => {
    expect(nextDate({ days: [5] }, '2026-11-25')).toBe('2026-11-27');
    expect(nextDate({ dates: ['2026-12-24', '2026-01-06'] }, '2026-11-25')).toBe('2026-12-24');
    expect(nextDate({ days: [5], dates: ['2026-11-26'], start_date: '2026-11-26' }, '2026-11-01')).toBe('2026-11-26');
    expect(nextDate({ days: [] }, '2026-11-25')).toBe(null);
    expect(nextDate({ end_date: '2026-11-24' }, '2026-11-25')).toBe(null);
  });
});

describe('what a screen plays', () => {
  it('is its own playlist where nothing is due, and the programme from its first to before its last moment', () => {
    expect(dueOn([lunch], '2026-11-24T11:29:59.999Z')).toMatchObject({
      programme: null,
      playlist_id: 'day',
      reason: 'default',
      next: { at: Date.parse('2026-11-24T11:30:00Z'), playlist_id: 'lunch' },
    });
    expect(dueOn([lunch], '2026-11-24T11:30:00Z')).toMatchObject({
      programme: lunch,
      reason: 'only',
      next: { at: Date.parse('2026-11-24T14:00:00Z'), playlist_id: 'day' },
    });
    expect(dueOn([lunch], '2026-11-24T14:00:00Z').programme).toBe(null);
  });

  it.each([
    ['the higher priority', { priority: 1, targets: ['all'] }, { priority: 0, targets: ['cafe'] }, 'first', 'priority'],
    ['the more specific target', { targets: ['cafe'] }, { targets: ['tag:food'] }, 'first', 'target'],
    ['a tag rather than all', { targets: ['tag:food'] }, { targets: ['all'] }, 'first', 'target'],
    ['the later in the list', { targets: ['cafe', 'all'] }, { targets: ['cafe'] }, 'second', 'order'],
  ] as const)('is of several that are due the one with %s', (_, one, other, wins, reason) => {
    const programmes = [
      { ...lunch, id: 'first', ...one },
      { ...lunch, id: 'second', ...other },
    ];
    const due = dueOn(programmes, '2026-11-24T12:00:00Z');
    expect([due.programme?.id, due.reason]).toEqual([wins, reason]);
  });

  it('is the first in rank that is due, at every moment, of any programmes', () => {
    const programmes = fc.array(
      fc.tuple(rule, fc.integer({ min: -2, max: 2 }), fc.constantFrom('all', 'cafe', 'tag:food')),
      {
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(programmes, moment, fc.constantFrom(...zones), (given, now, timeZone) => {
        const period = periodFrom(now, 8, timeZone);
        const list = given.map(([each, priority, target], index) => ({
          ...each,
          id: String(index),
          playlist_id: String(index),
          targets: [target],
          priority,
        }));
        const rank = ({ priority, targets: [target], id }: (typeof list)[number]) => [
          priority,
          ['all', 'tag:food', 'cafe'].indexOf(target ?? ''),
          Number(id),
        ];
        const best = list
          .filter((each) => windowsOf(each, period).some(({ start, end }) => start <= now && now < end))
          .sort((one, other) => {
            const [a, b] = [rank(one), rank(other)];
            const differs = a.findIndex((value, index) => value !== b[index]);
            return (b[differs] ?? 0) - (a[differs] ?? 0);
          })[0];
        expect(dueAt(list, screen, now, period).programme?.id ?? null).toBe(best?.id ?? null);
      }),
      { numRuns: 60 },
    );
  });

  it('has no gaps and no overlaps, and neighbours that differ', () => {
    const period = periodFrom(Date.UTC(2026, 2, 27), 8, 'Europe/Vienna');
    const programmes = [lunch, { ...lunch, id: 'brunch', start_time: '10:00', end_time: '12:00' }];
    const stretches = timelineOf(programmes, (each) => windowsOf(each, period), period);
    expect(stretches[0]?.start).toBe(period.start);
    expect(stretches.at(-1)?.end).toBe(period.end);
    for (const [index, { end, programme }] of stretches.slice(0, -1).entries()) {
      expect(stretches[index + 1]?.start).toBe(end);
      expect(stretches[index + 1]?.programme).not.toBe(programme);
    }
  });

  it('is found for a thousand programmes within a second of processor time', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => ({
      ...lunch,
      id: `p${index}`,
      start_time: `${two(index % 24)}:${two(index % 60)}:${two(index % 59)}`,
      end_time: `${two((index + 3) % 24)}:${two((index * 7) % 60)}`,
    }));
    const before = process.cpuUsage();
    dueOn(many, '2026-10-25T00:30:00Z', 'Europe/Vienna');
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });
});
