/** Which records a template names: of all others nothing is sent to pages. */
import { describe, expect, test } from 'vitest';
import type { Slide } from '../../service/contract/slides.ts';
import { dependsOnTime, fieldsNaming, namedBy, reachedBy } from '../../service/domain/template.ts';

const calendars = ['a', 'b', 'c-d'].map((id) => ({ id }));
const slideOf = (html: string, content: Slide['content'] = null) => ({
  template: { id: 't', name: 't', html },
  content,
});
const idsIn = (html: string, content?: Slide['content']): string =>
  namedBy(slideOf(html, content), 'calendars', calendars)
    .map(({ id }) => id)
    .join(' ');

describe('a template names the calendars', () => {
  test.each([
    ['<h1>Our calendars</h1>', ''],
    ['<style>.calendars { color: red }</style><!-- calendars.a -->', ''],
    ['{{ title }} calendars {% if x %} calendars.a {% endif %}', ''],
    ['{{ "}}" }} calendars', ''],
    ['{{ content.calendars }}', ''],
    ['{{calendars.a.name}}', 'a'],
    ['{{-calendars.a.name-}}', 'a'],
    ['{%-for event in calendars.b.events-%}', 'b'],
    ['{% assign x\n = calendars\n  ["c-d"] %}', 'c-d'],
    ["{{ calendars['a'].name }} {{ calendars.b }}", 'a b'],
    ['{% for i in (1..calendars.a.events.size) %}', 'a'],
    ['{{ "}}" | append: calendars.a.name }}', 'a'],
    ["{{ '{{' | append: calendars.a.name }}", 'a'],
    ["{% # don't %}{{ calendars.a }}", 'a'],
    ['{% for each in calendars %}', 'a b c-d'],
    ['{{ calendars[screen.slug].name }}', 'a b c-d'],
    ['{{ calendars[slide.id].name }}', 'a b c-d'],
    ['{% capture x %}a{% endcapture %}{{ calendars[x].name }}', 'a b c-d'],
    ['{% assign x = "a" | append: y %}{{ calendars[x].name }}', 'a b c-d'],
    ['{% assign x = "b" %}{{ calendars[x].name }}', 'b'],
  ])('%s: %j', (html, ids) => expect(idsIn(html)).toBe(ids));
});

describe('by values of the slide a template names', () => {
  const rooms = [{ calendar: 'a' }, { calendar: 'c-d' }];
  test.each([
    ['that one alone', '<p>calendars[x]</p>{{ calendars[which].name }}', { which: 'b' }, 'b'],
    ['that one, by its whole name', '{{ calendars[content.which].name }}', { which: 'b' }, 'b'],
    ['that one, by the slide', '{{ calendars[slide.content.which].name }}', { which: 'b' }, 'b'],
    ['those of a list', '{% for room in rooms %}{{ calendars[room.calendar].name }}{% endfor %}', { rooms }, 'a c-d'],
    [
      'those of a text',
      '{% assign l = all | split: "," %}{% for c in l %}{{ calendars[c] }}{% endfor %}',
      { all: 'a,b' },
      'a b',
    ],
    ['besides the one named by id', '{{ calendars.a.name }}{{ calendars[which].name }}', { which: 'b' }, 'a b'],
    [
      'all where it uses the list, too',
      '{% for c in calendars %}{% endfor %}{{ calendars[x] }}',
      { x: 'b' },
      'a b c-d',
    ],
    ['none for a value that is none', '{{ calendars[which].name }}', { which: 'x', title: 'calendars' }, ''],
    ['none for a value that it does not look up', '{{ calendars.a.name }}', { which: 'b' }, 'a'],
  ])('%s', (_, html, content, ids) => expect(idsIn(html, content)).toBe(ids));

  test('as the form of a design names it', () => {
    expect(fieldsNaming('<p>calendars[x]</p>{{ calendars[which].name }}')).toEqual([
      { field: 'which', name: 'calendars' },
    ]);
  });
});

test('a template that reaches records by a computed name gets all of that kind, but of calendars those that it names', () => {
  const rows = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
  const reached = (html: string, name: 'feeds' | 'timetables' | 'calendars') =>
    reachedBy(slideOf(html, { which: 'b' }), name, rows, ({ id }) => name === 'calendars' || id !== 'a')
      .map(({ id }) => id)
      .join(' ');
  const computed = '{% for row in sources.menu.data %}{{ feeds[row.feed].name }}{% endfor %}';
  expect(reachedBy(slideOf(computed), 'feeds', calendars)).toEqual(calendars);
  expect(reachedBy(slideOf('{% assign x = slide.title %}{{ feeds[x] }}'), 'feeds', calendars)).toEqual(calendars);
  // What it shows is guessed only where it has to be.
  expect(namedBy(slideOf(computed), 'feeds', calendars)).toEqual(calendars);
  expect(namedBy(slideOf('{% assign x = slide.title %}{{ feeds[x] }}'), 'feeds', calendars)).toEqual(calendars);
  for (const html of [
    '{{ feeds[which].name }}',
    '{% assign x = content.which %}{{ feeds[x].name }}',
    '{% assign x = slide.content.which %}{{ feeds[x].name }}',
    '{% for each in rooms %}{{ feeds[each.feed].name }}{% endfor %}',
    '{% for each in rooms %}{% assign x = each.feed %}{{ feeds[x].name }}{% endfor %}',
  ])
    expect(namedBy(slideOf(html, { which: 'b', rooms: [{ feed: 'b' }] }), 'feeds', calendars)).toEqual([{ id: 'b' }]);
  expect(reached('{{ timetables[which].name }}', 'timetables')).toBe('a b');
  expect(reached('{{ timetables.a.name }}', 'timetables')).toBe('a');
  expect(reached('{% for each in timetables %}{% endfor %}', 'timetables')).toBe('a b c');
  expect(reached('{{ calendars[which].name }}', 'calendars')).toBe('b');
});

test.each([
  '{{',
  '{{ "',
  ' ',
  '.',
  'calendars ',
  "{% '",
  '{% assign x = ',
  '{{ calendars[',
  '{% assign x=y %}{{ calendars[x] }}',
])('a long text of %j is searched in time', (piece) => {
  const started = performance.now();
  idsIn(piece.repeat(500_000 / piece.length));
  expect(performance.now() - started).toBeLessThan(1_000);
});

test.each([
  ['<p>{{ now | date: "%H:%M" }}</p>', true],
  ['{% assign hour = now | date: "%H" %}', true],
  ['{%- liquid\n assign at = now\n echo at -%}', true],
  ['{{ "today" | date: "%d" }}', true],
  ['{{ content.since | ago }}', true],
  ["{% if content.start|until < 0 %}It's over{% endif %}", true],
  ['{{ "}}" | append: now }}', true],
  ['<h1>Order now, until today</h1>{{ content.price }}', false],
  ['<style>.now { color: red }</style>{{ content.nowhere }}', false],
  ['', false],
])('%s depends on the time: %s', (html, expected) => {
  expect(dependsOnTime(html)).toBe(expected);
});
