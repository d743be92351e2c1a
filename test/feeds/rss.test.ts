import { parseFeed } from 'feedsmith';
import { expect, it } from 'vitest';
import { rssFeed } from '../../service/contract/playlist.ts';
import type { NetworkScope } from '../../service/domain/network-scope.ts';
import { itemsOf, titleOf } from '../../service/feeds/rss.ts';
import { item, rss } from './server.ts';

const url = 'https://news.example.com/feeds/all.xml';
const read = (text: string, nearness: NetworkScope = 0) => itemsOf(parseFeed(text), url, nearness);
const first = {
  id: '1',
  title: 'Bridge & road open',
  link: 'https://news.example.com/1',
  summary: 'Two years early.',
  image_url: 'https://news.example.com/1.jpg',
  published_at: '2026-03-01T08:00:00.000Z',
};

it.each<[string, string]>([
  [
    'RSS 2.0',
    rss(`<item><guid isPermaLink="false">1</guid><title>Bridge &amp;amp; road open</title><link>/1</link>
      <description><![CDATA[<p>Two <b>years</b> early.</p>]]></description><pubDate>Sun, 01 Mar 2026 09:00:00 +0100</pubDate>
      <media:content url="/small.jpg" medium="image" width="90"/><media:content url="/1.jpg" type="image/jpeg" width="900"/></item>`),
  ],
  [
    'RSS 0.91 with its DTD, and a picture in its text',
    `<?xml version="1.0"?><!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">
     <rss version="0.91"><channel><title>News</title><item><guid>1</guid><title>Bridge &amp; road open</title><link>https://news.example.com/1</link>
     <description>&lt;img src="/dot.gif" width="1" height="1"&gt;&lt;img alt='' src='../1.jpg'&gt;Two years early.</description>
     <pubDate>Sun, 01 Mar 2026 08:00:00 GMT</pubDate></item></channel></rss>`,
  ],
  [
    'Atom',
    `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/of/"><title>News</title><entry><id>1</id><title type="html">Bridge &amp;amp; road &lt;i&gt;open&lt;/i&gt;</title>
     <link rel="self" href="/no"/><link href="../1"/><link rel="enclosure" type="image/jpeg" href="/1.jpg"/>
     <published>2026-03-01T08:00:00Z</published><updated>2026-04-01T00:00:00Z</updated>
     <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">Two <b>years</b> early.</div></content></entry></feed>`,
  ],
  [
    'JSON Feed',
    JSON.stringify({
      version: 'https://jsonfeed.org/version/1.1',
      title: 'News',
      items: [
        {
          id: 1,
          url: '/1',
          title: 'Bridge & road open',
          content_html: '<p>Two years early.</p>',
          image: '/1.jpg',
          date_published: '2026-03-01T09:00:00+01:00',
        },
      ],
    }),
  ],
])('%s', (_, text) => {
  expect(read(text)).toEqual([first]);
  expect(titleOf(parseFeed(text))).toBe('News');
});

it('RSS 1.0 and 0.90, by what little they say', () => {
  const rdf = (
    namespace: string,
    about: string,
  ) => `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="${namespace}"
    xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>News</title></channel>
    <item ${about}><title>Open</title><link>https://news.example.com/1</link><dc:date>2026-03-01</dc:date></item></rdf:RDF>`;
  const expected = {
    id: 'https://news.example.com/1',
    title: 'Open',
    link: 'https://news.example.com/1',
    summary: null,
    image_url: null,
    published_at: '2026-03-01T00:00:00.000Z',
  };
  expect(read(rdf('http://purl.org/rss/1.0/', 'rdf:about="https://news.example.com/1"'))).toEqual([expected]);
  expect(read(rdf('http://my.netscape.com/rdf/simple/0.9/', ''))).toEqual([expected]);
});

it.each([
  ['a script', '<link>javascript:alert(1)</link>', 'link'],
  ['a file', '<link>file:///etc/passwd</link>', 'link'],
  ['one with credentials', '<link>http://a:b@c/</link>', 'link'],
  ['one that is endless', `<link>http://a/${'x'.repeat(3000)}</link>`, 'link'],
  ['a picture in the text', '<enclosure type="image/png" url="data:image/png;base64,AA"/>', 'image_url'],
  ['a date of no calendar', '<pubDate>soon</pubDate>', 'published_at'],
  ['the year 1', '<pubDate>0001-01-01T00:00:00Z</pubDate>', 'published_at'],
] as const)('an address that is %s is none', (_, more, field) => {
  expect(read(rss(`<item><title>x</title>${more}</item>`))[0]).toMatchObject({ title: 'x', [field]: null });
});

it.each<[address: string, nearness: NetworkScope]>([
  ['http://192.168.1.1/reboot.png', 1],
  ['http://[::1]/a.png', 2],
  ['http://printer/a.png', 1],
  ['http://nas.local/a.png', 1],
  ['http://2130706433/a.png', 2],
  ['https://cdn.example.com/a.png', 0],
])('%s is a picture of feeds that are at a distance of %i or nearer', (address, nearness) => {
  const text = rss(`<item><title>x</title><enclosure type="image/png" url="${address}"/></item>`);
  for (const feed of [0, 1, 2] as const) {
    expect(read(text, feed)[0]?.image_url).toBe(feed >= nearness ? new URL(address).href : null);
  }
});

it('entities that would grow, and those that would read files, are text', () => {
  const levels = [...'bcdefghij']
    .map((name, at) => `<!ENTITY ${name} "${`&${'abcdefghi'[at]};`.repeat(10)}">`)
    .join('');
  const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">${levels}]>${rss(item('&j;'))}`.replace(
    '<?xml version="1.0"?>',
    '',
  );
  expect(read(bomb)[0]?.title).toBe('&j;');
});

it('items are bounded, each there once and with something to show, and have ids of their own', () => {
  const items = read(rss(Array.from({ length: 200 }, (_, at) => item(`${at % 80}`)).join('')));
  expect(items).toHaveLength(50);
  expect(new Set(items.map(({ id }) => id)).size).toBe(50);
  const anonymous = read(
    rss('<item><title>a</title></item><item><title>b</title></item><item><link>http://x/</link></item>'),
  );
  expect(anonymous.map(({ title }) => title)).toEqual(['a', 'b']);
  expect(anonymous[0]?.id).not.toBe(anonymous[1]?.id);
  const huge = read(
    rss(
      `<item><guid>${'g'.repeat(1e6)}</guid><title>${'t '.repeat(1e6)}</title><description>${'d '.repeat(1e6)}</description></item>`,
    ),
  );
  expect(JSON.stringify(huge).length).toBeLessThan(2_000);
});

it('every item is one of the wire', () => {
  for (const each of read(rss(item('a') + item('b', '<link>x y</link><pubDate>Tue, 99 Foo</pubDate>')))) {
    expect(rssFeed.shape.items.element.parse(each)).toEqual(each);
  }
});
