import { expect, it } from 'vitest';
import type { PlaylistPayload } from '../../../service/contract/playlist.ts';
import { remoteAddress } from '../../../service/domain/media-names.ts';
import { remoteMedia } from '../../../service/media/copies/named.ts';

const reachesOf = (...payloads: unknown[]) =>
  remoteMedia(payloads as PlaylistPayload[], (_, id) => (id === 'ours' ? 1 : 0));
const named = (slides: object[], more: object = {}): string[] => [...reachesOf({ slides, ...more }).keys()];

it.each<[what: string, slide: object, expected: string[]]>([
  [
    'a picture, whatever its address looks like',
    { kind: 'image', media_url: 'https://a.test/800/600' },
    ['https://a.test/800/600'],
  ],
  ['a video', { kind: 'video', media_url: 'http://10.0.0.9:8080/a.mp4?k=1' }, ['http://10.0.0.9:8080/a.mp4?k=1']],
  ['a PDF', { kind: 'pdf', media_url: 'https://a.test/a.pdf#page=2' }, ['https://a.test/a.pdf']],
  ['no page', { kind: 'web', media_url: 'https://a.test/a.png' }, []],
  ['no live stream', { kind: 'stream', media_url: 'https://a.test/a.m3u8' }, []],
  [
    'what a stream falls back to',
    { kind: 'stream', media_url: 'rtmp://a.test/a', content: { fallback_media_url: 'https://a.test/b.mp4' } },
    ['https://a.test/b.mp4'],
  ],
  ['nothing of our own', { kind: 'image', media_url: '/media/a.png' }, []],
  [
    'pictures of a body',
    { kind: 'text', body: '<img src="https://a.test/a.png?a=1&amp;b=2">' },
    ['https://a.test/a.png?a=1&b=2'],
  ],
  ['no links of a body', { kind: 'text', body: '<a href="https://a.test/">a</a> https://a.test/b.html' }, []],
  [
    'pictures of a template',
    { kind: 'template', template: { html: '<div style="background:url(\'https://a.test/a.jpg\')">' } },
    ['https://a.test/a.jpg'],
  ],
  [
    'pictures that a template is given',
    { kind: 'template', content: { list: [{ picture: 'https://a.test/a.webp' }] } },
    ['https://a.test/a.webp'],
  ],
  ['what is no address', { kind: 'image', media_url: 'https://' }, []],
])('finds %s', (_, slide, expected) => {
  const empty = { media_url: null, body: null, template: null, content: null };
  expect(named([{ ...empty, ...slide }])).toEqual(expected);
});

it('finds the pictures of feeds, and each address once, in order', () => {
  const image = (media_url: string) => ({ kind: 'image', media_url, body: null, template: null, content: null });
  const items = [{ image_url: 'https://a.test/3.png' }, { image_url: null }, { image_url: 'https://A.test/1.png' }];
  const slides = [image('https://a.test/2'), image('https://a.test/1.png'), image('https://a.test/2')];
  expect(named(slides, { rssFeeds: [{ items }] })).toEqual([
    'https://a.test/2',
    'https://a.test/1.png',
    'https://a.test/3.png',
  ]);
});

it('an address that a feed names may be no nearer than the feed, unless the operator names it too', () => {
  const slide = { kind: 'image', media_url: 'https://a.test/3', body: null, template: null, content: null };
  const feed = (id: string, ...names: number[]) => ({
    ...{ id, url: 'https://b.test/feed' },
    items: names.map((name) => ({ image_url: `https://a.test/${name}` })),
  });
  const reaches = reachesOf({ rssFeeds: [feed('ours', 1, 2), feed('theirs', 2, 3, 4)] }, { slides: [slide] });
  expect([...reaches.values()].map(({ reach }) => reach)).toEqual([1, 1, 2, 0]);
});

it('finds the pictures in the data of API sources that templates use, no nearer than the source', () => {
  const data = { list: [{ picture: 'https://a.test/1.png' }], page: 'https://a.test/page', text: 'no address' };
  const apiSources = [{ id: 'theirs', url: 'https://b.test/', data }];
  const slide = { kind: 'template', media_url: null, body: null, content: null };
  const drawing = { ...slide, template: { html: '{{ sources.theirs.data.text }}' } };
  const other = { ...slide, template: { html: '{{ content.text }}' } };
  expect([...reachesOf({ slides: [drawing], apiSources })]).toEqual([
    ['https://a.test/1.png', { reach: 0, isOwn: false }],
  ]);
  expect(reachesOf({ slides: [other], apiSources }).size).toBe(0);
});

it("what a feed of the site names at its own origin is the feed's own", () => {
  const items = ['http://nas.test:81/1', 'http://nas.test/2', '/3'].map((image_url) => ({ image_url }));
  const feeds = [{ id: 'theirs', url: 'http://nas.test/feed', items }];
  const own = (id: string) =>
    [...reachesOf({ rssFeeds: feeds.map((feed) => ({ ...feed, id })) })].filter(([, { isOwn }]) => isOwn);
  expect([own('ours').map(([url]) => url), own('theirs')]).toEqual([['http://nas.test/2'], []]);
});

it.each(['file:///etc/passwd', '/media/a.png', 'a', 'http:a', 'https://[', 'javascript:alert(1)', 'rtmp://a/b'])(
  '%s is not on the Web',
  (address) => expect(remoteAddress(address)).toBe(null),
);
