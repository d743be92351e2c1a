import { expect, it } from 'vitest';
import { compile } from '../../../renderer/player/slides/liquid.ts';

const render = (html: string, locale = 'de-DE', scope = {}): string =>
  // Intl puts no-break spaces where a line must not end.
  compile(html, { timeZone: 'Europe/Vienna', locale })(scope).replace(/[\u00a0\u202f]/g, ' ');

const then = '2026-03-01T17:05:09.000Z';

it.each([
  ['{{ 1234567.891 | number }}', '1.234.567,891'],
  ['{{ "21.55" | number: 1 }}', '21,6'],
  ['{{ 21 | number: 1 }}', '21,0'],
  ['{{ 0.42 | percent }}', '42 %'],
  ['{{ 0.4215 | percent: 1 }}', '42,2 %'],
  ['{{ 3.5 | currency: "EUR" }}', '3,50 €'],
  ['{{ 3 | currency: "EUR", 0 }}', '3 €'],
  ['{{ 21.5 | unit: "celsius" }}', '21,5 °C'],
  ['{{ 12 | unit: "day" }}', '12 Tage'],
  ['{{ then | day }}', '1. März 2026'],
  ['{{ then | day: "full" }}', 'Sonntag, 1. März 2026'],
  ['{{ then | time }}', '18:05'],
  ['{{ then | time: "medium" }}', '18:05:09'],
  ['{{ "6:30" | time }} {{ "19:30:15" | time }}', '06:30 19:30'],
  ['{{ "soon" | time }}', 'soon'],
  ['{{ 0 | day }}', '1. Januar 1970'],
  ['{{ then | ago }}', 'vor 3 Stunden'],
  ['{{ "2026-03-03T20:06:00Z" | ago }}', 'übermorgen'],
  ['{{ now | ago }}', 'jetzt'],
  ['{{ nothing | number }}{{ nothing | day }}{{ nothing | ago }}', ''],
  ['{{ "soon" | number }} {{ "soon" | day }} {{ "soon" | ago }}', 'soon soon soon'],
  ['{{ "<b>" | number }}', '&lt;b&gt;'],
])('%s in German: %s', (html, expected) => {
  expect(render(html, 'de-DE', { then, now: new Date('2026-03-01T20:05:10Z') })).toBe(expected);
});

it.each([
  ['Europe/Vienna', '"2026-07-01T12:00"', '01 Juli 12:00 / 1. Juli 2026 12:00 / 0 / jetzt'],
  ['Europe/Vienna', '"2026-07-01 12:00"', '01 Juli 12:00 / 1. Juli 2026 12:00 / 0 / jetzt'],
  ['Europe/Vienna', '"2026-07-01 12:00:30.5"', '01 Juli 12:00 / 1. Juli 2026 12:00 / 31 / in 30 Sekunden'],
  ['Europe/Vienna', '"2026-07-01"', '01 Juli 00:00 / 1. Juli 2026 00:00 / -43200 / vor 12 Stunden'],
  ['America/New_York', '"2026-07-01"', '01 Juli 00:00 / 1. Juli 2026 00:00 / -21600 / vor 6 Stunden'],
  ['America/New_York', '"2026-07-01 12:00 +0200"', '01 Juli 06:00 / 1. Juli 2026 06:00 / 0 / jetzt'],
  ['America/New_York', '"2026-07-01T10:00Z"', '01 Juli 06:00 / 1. Juli 2026 06:00 / 0 / jetzt'],
  ['America/New_York', '"1782900000"', '01 Juli 06:00 / 1. Juli 2026 06:00 / 0 / jetzt'],
  ['America/New_York', 'now', '01 Juli 06:00 / 1. Juli 2026 06:00 / 0 / jetzt'],
])('at a site in %s all filters mean the same moment by %s', (timeZone, value, expected) => {
  const html = ['date: "%d %B %H:%M"', 'day', 'time', 'until', 'ago'].map((filter) => `{{ ${value} | ${filter} }}`);
  const [date, day, time, until, ago] = html.map((each) =>
    compile(each, { timeZone, locale: 'de-DE' })({ now: new Date('2026-07-01T10:00:00Z') }),
  );
  expect(`${date} / ${day} ${time} / ${until} / ${ago}`).toBe(expected);
});

it('in another language', () => {
  expect(
    render('{{ 1234.5 | number }} {{ then | time }} {{ "06:30" | time }} {{ then | day }}', 'en-US', { then }),
  ).toBe('1,234.5 6:05 PM 6:30 AM March 1, 2026');
});

it('what makes no sense is told', () => {
  expect(() => render('{{ 1 | currency: "EURO" }}')).toThrow(/currency/i);
});
