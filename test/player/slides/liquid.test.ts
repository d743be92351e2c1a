import { describe, expect, it } from 'vitest';
import { compile } from '../../../renderer/player/slides/liquid.ts';
import { designs } from '../../../service/contract/designs.ts';
import { templateLimits } from '../../../service/domain/template.ts';

const render = (source: string, scope: Record<string, unknown> = {}, options = {}): string =>
  compile(source, { timeZone: 'Europe/Berlin', locale: 'en-GB', ...options })(scope);

const now = new Date('2026-03-29T00:30:00Z');

describe('a template', () => {
  it.each([
    ['UTC', '00:30'],
    ['Europe/Berlin', '01:30'],
    ['America/New_York', '20:30'],
    ['Asia/Kathmandu', '06:15'],
  ])('tells the time of %s', (timeZone, expected) => {
    expect(render('{{ now | date: "%H:%M" }}', { now }, { timeZone })).toBe(expected);
  });

  it('tells the time on both sides of a change of the clocks', () => {
    const at = (iso: string): string => render('{{ now | date: "%H:%M:%S" }}', { now: new Date(iso) });
    expect([at('2026-03-29T00:59:59Z'), at('2026-03-29T01:00:00Z')]).toEqual(['01:59:59', '03:00:00']);
  });

  it.each([
    ['9e15', 'date: "%Y"', '9e15'],
    ['9e15', 'day', '9e15'],
    ['-99999999999999', 'date: "%Y"', '-99999999999999'],
    ['253402300800', 'date: "%Y"', '10000'],
    ['1774744200', 'date: "%H:%M %Z"', '01:30 Europe/Berlin'],
    ['1774744200', 'date: "%H:%M %z"', '01:30 +0100'],
    ['1774744200', 'date: "%H:%M", "Asia/Tokyo"', '09:30'],
    ['1774744200', 'date: "%H:%M"', '01:30'],
    ['soon', 'date: "%H:%M"', 'soon'],
    ['2026-03-29T00:30:00Z', 'date: "%s"', '1774744200'],
  ])('tells %s by %s', (value, filter, expected) => {
    expect(render(`{{ value | ${filter} }}`, { value })).toBe(expected);
  });

  it('tells the time of 500 events within what a template may take', () => {
    const events = Array.from({ length: 500 }, (_, index) => new Date(Date.UTC(2026, 2, 29, 0, index)).toISOString());
    const source = '{% for event in events %}{{ event | date: "%H:%M" }}{{ event | date: "%s" }}{% endfor %}';
    expect(render(source.repeat(3), { events })).toContain('01:591774745940');
  });

  it('names days and months in the language of the player', () => {
    expect(render('{{ now | date: "%A, %-d. %B" }}', { now }, { locale: 'de' })).toBe('Sonntag, 29. März');
  });

  it('escapes what it prints', () => {
    expect(render('{{ content.x }}', { content: { x: '<b>"&' } })).toBe('&lt;b&gt;&#34;&amp;');
  });

  it('reaches nothing but what it is given', () => {
    const source = '{{ content.constructor }}{{ content.__proto__ }}{{ constructor }}{{ content.x.length }}';
    expect(render(source, { content: { x: 'four' } })).toBe('4');
  });

  it.each([
    ['is no Liquid', '{% if %}'],
    ['asks for what there is not', '{% nonsense %}'],
    ['includes', '{% include "/etc/passwd" %}'],
    ['renders', '{% render "http://example.org/x" %}'],
    ['lays out', '{% layout "../base" %}'],
    ['never ends', '{% for a in (1..99999999) %}{% for b in (1..99999999) %}x{% endfor %}{% endfor %}'],
    [
      'grows without end',
      '{% assign s = "xxxxxxxx" %}{% for i in (1..64) %}{% assign s = s | append: s %}{% endfor %}',
    ],
  ])('that %s fails, and soon', (_, source) => {
    expect(() => render(source)).toThrow();
  });
});

it('a machine that is busy for a moment does not make a template fail', () => {
  let isFirst = true;
  const values = {
    get busy() {
      const end = performance.now() + (isFirst ? templateLimits.renderLimit + 50 : 0);
      isFirst = false;
      while (performance.now() < end);
      return 'Soup';
    },
  };
  expect(render('{{ values.busy }} {{ values.busy }}', { values })).toBe('Soup Soup');
});

describe('the design "number"', () => {
  const html = designs.find(({ id }) => id === 'design:number')?.html ?? '';

  it.each<[unknown, string, boolean]>([
    [42.5, '42.5', false],
    ['42.5', '42.5', false],
    ['n/a', 'n/a', false],
    [['41.5', '42.5'], '42.5', true],
  ])('shows of %j %s', (data, expected, hasTrend) => {
    const drawn = render(html, { digits: 1, source: 'state', sources: { state: { data } } });
    expect(/class="value[^>]*>([^<]*)/.exec(drawn)?.[1]).toBe(expected);
    expect(drawn.includes('class="trend')).toBe(hasTrend);
  });
  const curveOf = (data: number[]): string[] => {
    const drawn = render(html, { source: 'visitors', sources: { visitors: { data } } });
    return /d="M([^"]*)"/.exec(drawn)?.[1]?.trim().split(/\s+/) ?? [];
  };
  const rising = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

  it.each([
    [3, 3],
    [200, 200],
    [288, 200],
  ])('of %d values goes through the last %d, from edge to edge', (count, shown) => {
    const curve = curveOf(rising(count));
    expect([curve.length, ...curve.slice(0, 2), ...curve.slice(-2)]).toEqual([2 * shown, '0', '195', '1000', '5']);
  });

  it('is as high as what it shows', () => {
    expect(curveOf([1_000_000, ...rising(200)]).slice(0, 2)).toEqual(['0', '195']);
    expect(curveOf([1_000_000, ...rising(200)]).slice(-2)).toEqual(['1000', '5']);
  });
});
