/** The design of departures shows what leaves next, by the clock of the site. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { compile } from '../../../renderer/player/slides/liquid.ts';

const file = new URL('../../../resources/designs/departures/template.liquid', import.meta.url);
const render = compile(readFileSync(file, 'utf8'), { timeZone: 'Europe/Vienna', locale: 'de-AT' });
const rows = [
  { time: '12:30', title: 'Old town' },
  { time: '09:00', title: 'Port' },
  { time: '9:05', title: 'Airport' },
  { time: '9:05', title: 'Fair' },
  { title: 'Nowhere' },
  { time: '20:00:30', title: 'Late' },
];

/** @returns the titles, those of tomorrow in brackets */
const shownAt = (time: string, values: object): string[] => {
  const html = render({ timetables: {}, now: new Date(`2026-06-15T${time}:00+02:00`), ...values });
  return [...html.matchAll(/<li class="(.*?)">.*?<bdi>(.*?)<.*?class="to" dir="auto">(.*?)</gs)].map(
    ([, classes = '', at, title]) => (classes.includes('later') ? `[${at} ${title}]` : `${at} ${title}`),
  );
};

it.each<[time: string, shown: string[]]>([
  ['08:00', ['09:00 Port', '09:05 Airport', '09:05 Fair', '12:30 Old town', '20:00 Late']],
  ['09:05', ['09:05 Airport', '09:05 Fair', '12:30 Old town', '20:00 Late', '[09:00 Port]']],
  ['15:00', ['20:00 Late', '[09:00 Port]', '[09:05 Airport]', '[09:05 Fair]', '[12:30 Old town]']],
  ['23:30', ['[09:00 Port]', '[09:05 Airport]', '[09:05 Fair]', '[12:30 Old town]', '[20:00 Late]']],
])('at %s, whether hours have one digit or two', (time, shown) => {
  expect(shownAt(time, { rows })).toEqual(shown);
  const timetables = { trams: { entries: rows } };
  expect(shownAt(time, { timetable: 'trams', timetables })).toEqual(shown);
});

it('shows entries of a timetable on their days only', () => {
  // A Monday.
  const entries = [
    { time: '10:00', title: 'Weekdays', days_json: '[1,2,3,4,5]' },
    { time: '11:00', title: 'Weekend', days_json: '[6,7]' },
    { time: '7:00', title: 'Tuesday', days_json: '[2]' },
  ];
  const values = { timetable: 'trams', timetables: { trams: { entries } } };
  expect(shownAt('08:00', values)).toEqual(['10:00 Weekdays', '[07:00 Tuesday]']);
  expect(shownAt('08:00', { rows: [] })).toEqual([]);
});
