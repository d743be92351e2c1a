/** Which records a template names: of all others nothing is sent to pages. */
import { describe, expect, test } from 'vitest';
import type { Slide } from '../../service/contract/slides.ts';
import { fieldsNaming, namedBy, usedOf } from '../../service/domain/template.ts';

const calendars = ['a', 'b', 'c-d'].map((id) => ({ id }));
const idsIn = (html: string): string =>
  usedOf(html, 'calendars', calendars)
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
    ['{{ calendars[content.which].name }}', 'a b c-d'],
  ])('%s: %j', (html, ids) => expect(idsIn(html)).toBe(ids));
});

test('by a value of the slide it names that one alone', () => {
  const html = '<p>calendars[x]</p>{{ calendars[which].name }}';
  const slide = { template: { id: 't', name: 't', html }, content: { which: 'b' } } as unknown as Slide;
  expect(namedBy(slide, 'calendars', calendars)).toEqual([{ id: 'b' }]);
  expect(fieldsNaming(html)).toEqual([{ field: 'which', name: 'calendars' }]);
});

test.each(['{{', '{{ "', ' ', '.', 'calendars ', "{% '"])('a long text of %j is searched in time', (piece) => {
  const started = performance.now();
  usedOf(piece.repeat(500_000 / piece.length), 'calendars', calendars);
  expect(performance.now() - started).toBeLessThan(1_000);
});
