import { afterAll, expect, it, onTestFinished } from 'vitest';
import { createReader, type Reader } from '../../service/feeds/source.ts';
import { walk } from '../support/soak.ts';
import { testTempo } from '../support/tempo.ts';
import { item, rss } from './server.ts';

const base = 'http://news.example/feed';

const open = ({ parse = testTempo.feeds.parse } = {}): Reader => {
  const reader = createReader({ tempo: { ...testTempo, feeds: { ...testTempo.feeds, parse } } });
  onTestFinished(reader.close);
  return reader;
};

/** For all cases that leave it as it was. */
const shared = createReader({ tempo: testTempo });
afterAll(shared.close);

it.each<[string, string, RegExp]>([
  ['a page', '<!doctype html><title>Sign in</title>', /no RSS, Atom, RDF or JSON feed/],
  ['half a feed', rss(item('a')).slice(0, 90), /broken/],
  [
    'a feed without its last headlines',
    rss(item('a') + item('b')).replace(/<item><title>b.*/s, ''),
    /^the answer was cut off$/,
  ],
  [
    'a feed whose program failed',
    rss(item('a')).replace('</channel></rss>', '<br />\n<b>Fatal error</b>: Uncaught PDOException in /feed.php'),
    /^the answer was cut off$/,
  ],
  [
    'half an Atom feed',
    '<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title><entry><id>1</id><title>a</title></entry>',
    /^the answer was cut off$/,
  ],
  ['NUL', '\0\0\0', /no RSS/],
  ['JSON that is none', '{"version": "https://jsonfeed.org/version/1", ', /no RSS/],
])('%s is no feed', async (_, text, expected) => {
  await expect(shared.feed(text, base, 0)).rejects.toThrow(expected);
});

it.each<[string, string]>([
  ['before a comment and a script', `${rss(item('a'))}\n<!-- cached --><script></script>\n`],
  ['in capitals', rss(item('a')).replace('</rss>', '</RSS >').replace('<rss', '<RSS')],
  [
    'with a prefix',
    '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:id>1</a:id><a:title>a</a:title></a:entry></a:feed>',
  ],
])('a feed %s is whole', async (_, text) => {
  expect((await shared.feed(text, base, 0)).items.map(({ title }) => title)).toEqual(['a']);
});

it.each<[string, string | null, unknown]>([
  ['all of it', null, { now: { temperature: 21.5 }, days: [{ high: 3 }, { high: 5 }] }],
  ['one value', '$.now.temperature', 21.5],
  ['a list', '$.days[*].high', [3, 5]],
  ['what is picked', '$.days[?@.high > 4]', [{ high: 5 }]],
  ['an empty list', '$..nothing', []],
])('data: %s', async (_, select, expected) => {
  const text = '\n{"now":{"temperature":21.5},"days":[{"high":3},{"high":5}]}';
  expect(await shared.data(text, select)).toEqual(expected);
});

it.each<[string, string, string | null, RegExp]>([
  ['a page', '<!doctype html>', null, /it is not JSON/],
  ['what is too large', JSON.stringify('x'.repeat(300_000)), null, /more than 262144; select less/],
  ['what is too deep', '['.repeat(2e5) + ']'.repeat(2e5), null, /64 levels/],
  ['what is not in it', '{}', '$.a', /select finds nothing/],
])('data: %s is refused', async (_, text, select, expected) => {
  await expect(shared.data(text, select)).rejects.toThrow(expected);
});

it('what never ends is ended, and what comes after it is read', walk, async () => {
  const reader = open({ parse: 3_000 });
  const hostile = reader.data(JSON.stringify([`${'a'.repeat(40)}!`]), '$[?match(@, "(a|a)*b")]');
  const next = reader.data('[1]', null);
  await expect(hostile).rejects.toThrow('longer than 3 s');
  expect(await next).toEqual([1]);
});

it.each<[string, (reader: Reader) => Promise<unknown>]>([
  ['elements', (reader) => reader.feed(rss(`<item>${'<a/>'.repeat(1e6)}</item>`), base, 0)],
  ['attributes', (reader) => reader.feed(rss(`<item ${'a="" '.repeat(1e6)}/>`), base, 0)],
  ['values', (reader) => reader.data(`[${'[],'.repeat(1e6)}[]]`, null)],
  ['results', (reader) => reader.data(`[${'[],'.repeat(5e4)}[]]`, '$..*')],
  ['results of results', (reader) => reader.data(`[${'[[[1]]],'.repeat(3e4)}1]`, '$..*..*..*')],
])('what would be too many %s in memory is refused', async (_, read) => {
  await expect(read(shared)).rejects.toThrow(/too m/);
});

it.each<[string, string, number]>([
  ['long', item('Hello &amp; more', '<description>Something happened</description>').repeat(30_000), 1],
  [
    'of pictures without end',
    Array.from({ length: 100 }, (_, at) =>
      item(`${at}`, `<description>${'&lt;img '.repeat(4_000)}</description>`),
    ).join(''),
    50,
  ],
])('a feed that is %s is read, and holds up nobody else', async (_, items, count) => {
  const reading = shared.feed(rss(items), base, 0);
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  expect((await reading).items).toHaveLength(count);
  clearInterval(timer);
  expect(longest).toBeLessThan(400);
});

it('once it is closed it reads no more', async () => {
  const reader = createReader({ tempo: testTempo });
  const reading = reader.data('[1]', null);
  await reading;
  await reader.close();
  await expect(reader.data('[1]', null)).rejects.toThrow('closing');
});

it('can be closed while an answer is on its way', async () => {
  const reader = createReader({ tempo: testTempo });
  await reader.data('[1]', null);
  const reading = reader.data('[2]', null).catch(() => {});
  // The question is sent within these turns, and the answer lies there unread after so long.
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  for (const since = performance.now(); performance.now() - since < 200; );
  await reader.close();
  await reading;
});
