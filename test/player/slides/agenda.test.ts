import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agendaOf, type Entry } from '../../../renderer/player/slides/timetable.ts';

const entry = (time: string, days_json: string | null = null): Entry => ({
  ...{ id: `${time} ${days_json}`, time, title: time, detail: null, location: null, days_json },
});
const at = (moment: string): number => Date.parse(moment);
const told = (entries: Entry[], now: string, timeZone = 'Europe/Vienna') => {
  const agenda = agendaOf({ entries }, at(now), timeZone);
  return agenda && [agenda.daysAhead, agenda.entries.map(({ entry: { time } }) => time)];
};

describe('what is to come', () => {
  // 2026-11-21 is a Saturday; Vienna is an hour ahead of UTC then.
  const day = ['18:00', '08:15', '08:15:30', '12:00'].map((time) => entry(time));
  it.each<[string, Entry[], string, [number, string[]] | null]>([
    ['in the morning', day, '2026-11-21T05:00:00Z', [0, ['08:15', '08:15:30', '12:00', '18:00']]],
    [
      'in the minute that an entry names',
      day,
      '2026-11-21T07:15:59.999Z',
      [0, ['08:15', '08:15:30', '12:00', '18:00']],
    ],
    ['after that minute', day, '2026-11-21T07:16:00Z', [0, ['08:15:30', '12:00', '18:00']]],
    ['after the last', day, '2026-11-21T17:01:00Z', [1, ['08:15', '08:15:30', '12:00', '18:00']]],
    [
      'on another day of the week',
      [entry('09:00', '[1]'), entry('10:00', '[6]')],
      '2026-11-21T05:00:00Z',
      [0, ['10:00']],
    ],
    ['on Saturday of what is on Mondays', [entry('09:00', '[1]')], '2026-11-21T05:00:00Z', [2, ['09:00']]],
    ['a week ahead', [entry('09:00', '[6]')], '2026-11-21T09:00:00Z', [7, ['09:00']]],
    ['of nothing', [], '2026-11-21T09:00:00Z', null],
    ['of what is never', [entry('09:00', '[]')], '2026-11-21T09:00:00Z', null],
  ])('%s', (_, entries, now, expected) => {
    expect(told(entries, now)).toEqual(expected);
  });

  it('by the day of the site, wherever the page is', () => {
    const entries = [entry('00:30')];
    expect(told(entries, '2026-11-21T10:00:00Z', 'Pacific/Kiritimati')).toEqual([0, ['00:30']]);
    expect(told(entries, '2026-11-21T10:00:00Z', 'Pacific/Honolulu')).toEqual([0, ['00:30']]);
    expect(told(entries, '2026-11-21T11:00:00Z', 'Pacific/Honolulu')).toEqual([1, ['00:30']]);
  });

  it('over a change of clocks', () => {
    const moments = (time: string, now: string) =>
      agendaOf({ entries: [entry(time)] }, at(now), 'Europe/Vienna')?.entries.map((each) =>
        new Date(each.at).toISOString(),
      );
    expect(moments('02:30', '2026-03-29T00:00:00Z')).toEqual(['2026-03-29T01:00:00.000Z']);
    expect(moments('02:30', '2026-10-25T00:00:00Z')).toEqual(['2026-10-25T00:30:00.000Z']);
  });

  it('is in order, not over, and of one day, at whatever moment', () => {
    const time = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }));
    const days = fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 7 })).map((list) => JSON.stringify(list)));
    const entries = fc.array(
      fc
        .tuple(time, days)
        .map(([parts, list]) => entry(parts.map((part) => `${part}`.padStart(2, '0')).join(':'), list)),
      { maxLength: 20 },
    );
    const zone = fc.constantFrom('UTC', 'Australia/Lord_Howe', 'America/St_Johns', 'Asia/Kathmandu');
    fc.assert(
      fc.property(entries, fc.double({ min: 0, max: 4e12, noNaN: true }), zone, (list, now, timeZone) => {
        const agenda = agendaOf({ entries: list }, now, timeZone);
        const isEver = list.some(({ days_json }) => days_json !== '[]');
        expect(agenda !== null).toBe(isEver);
        const moments = agenda?.entries.map((each) => each.at) ?? [];
        expect(moments).toEqual(moments.toSorted((one, other) => one - other));
        for (const moment of moments) {
          expect(moment).toBeGreaterThan(now - 60_000);
          expect(moment - (agenda?.day ?? 0)).toBeLessThan(25 * 3_600_000);
        }
      }),
    );
  });
});
