/** What the service fills in, the same way every time. */
import { describe, expect, test } from 'vitest';
import { modelOf, type ScreenDocument, type Stamps } from '../../service/content/model.ts';
import { createPayload } from '../../service/content/payloads.ts';
import { checkContent } from '../../service/content/validate.ts';
import type { ContentFile } from '../../service/contract/content.ts';
import { playlistPayload } from '../../service/contract/playlist.ts';
import { everyKind, fields, hello, lobby, lobbyWith, references, slideOfEachKind } from './samples.ts';

const monday = '2026-06-01T08:00:00.000Z';
const tuesday = '2026-06-02T08:00:00.000Z';
const wednesday = '2026-06-03T08:00:00.000Z';

const parse = (content: unknown): ContentFile => {
  const reading = checkContent(Buffer.from(JSON.stringify(content)));
  if (!reading.ok) throw new Error(JSON.stringify(reading.issues));
  return reading.content;
};

const build = (content: unknown, before: Stamps = new Map(), at = monday) => modelOf(parse(content), before, at);

const programmeOf = (content: unknown, slug = 'lobby'): ScreenDocument => {
  const programme = build(content).screenDocuments.get(slug);
  if (programme === undefined) throw new Error(`no screen ${slug}`);
  return programme;
};

const firstSlide = (slide: object) => programmeOf(lobbyWith([slide], references)).slides[0];

test('minimal content is filled in with every field', () => {
  expect(programmeOf(lobby)).toEqual({
    screen: {
      id: 'lobby',
      name: 'Lobby',
      slug: 'lobby',
      playlist_id: 'welcome',
      created_at: monday,
      modified_at: monday,
    },
    playlist: { id: 'welcome', name: 'welcome', fade_between_slides: true },
    slides: [
      {
        id: 'welcome-1',
        title: 'Hello',
        body: null,
        duration_seconds: null,
        schedule_mode: 'always',
        schedule_start_datetime: null,
        schedule_end_datetime: null,
        schedule_start_time: null,
        schedule_end_time: null,
        schedule_days_json: null,
        media_url: null,
        media_type: null,
        kind: 'text',
        template_id: null,
        template: null,
        content: null,
      },
    ],
    rssFeeds: [],
    apiSources: [],
    timetableGroups: [],
  });
});

test('given values are unchanged', () => {
  const slide = {
    id: 'dinner',
    title: 'Dinner',
    body: '<p>From six</p>',
    duration_seconds: 7.5,
    schedule_mode: 'weekly',
    schedule_start_datetime: '2026-06-01',
    schedule_end_datetime: '2026-06-30T23:59:59+02:00',
    schedule_start_time: '18:00',
    schedule_end_time: '22:00',
    schedule_days_json: '[5,6]',
    media_url: '/media/dinner.jpg',
    media_type: 'image/avif',
    kind: 'image',
    template_id: 'board',
    content: { fit: 'contain', anything: [1, { else: true }] },
  };
  const content = lobbyWith([slide], references);
  const screens = [{ id: '7', name: 'The hall', slug: 'hall', playlist_id: 'evening' }];
  const playlists = [{ ...content.playlists[0], id: 'evening', name: 'Evening', fade_between_slides: false }];
  expect(programmeOf({ ...content, screens, playlists }, 'hall')).toMatchObject({
    screen: screens[0],
    playlist: { id: 'evening', name: 'Evening', fade_between_slides: false },
    slides: [{ ...slide, template: { id: 'board', name: 'board', html: '<h1>{{ content.title }}</h1>' } }],
  });
});

test('slides without ids get ids from their positions', () => {
  const { slides } = programmeOf(lobbyWith([hello, { ...hello, id: 'mine' }, hello]));
  expect(slides.map(({ id }) => id)).toEqual(['welcome-1', 'mine', 'welcome-3']);
});

test.each<[string, object, string | null]>([
  ['text', hello, null],
  ['a page', slideOfEachKind.web, 'text/html'],
  ['a PDF', slideOfEachKind.pdf, 'application/pdf'],
  ['a JPEG', slideOfEachKind.image, 'image/jpeg'],
  ['an MP4 elsewhere', slideOfEachKind.video, 'video/mp4'],
  ['capitals', { kind: 'image', media_url: '/media/HALL.PNG' }, 'image/png'],
  ['a query', { kind: 'image', media_url: 'https://example.com/a.webp?width=100#x' }, 'image/webp'],
  ['a name that is encoded', { kind: 'image', media_url: '/media/a%2Esvg' }, 'image/svg+xml'],
  ['HLS', { kind: 'stream', media_url: 'https://example.com/live.m3u8' }, 'application/vnd.apple.mpegurl'],
  ['RTMP', slideOfEachKind.stream, null],
  ['no extension', { kind: 'image', media_url: 'https://example.com/picture' }, null],
  ['one of its own, without a medium', { ...hello, media_type: 'image/png' }, null],
  ['one of its own', { kind: 'image', media_url: '/media/a.png', media_type: 'image/jpeg' }, 'image/jpeg'],
])('the media type of %s', (_, slide, expected) => {
  expect(firstSlide(slide)?.media_type).toBe(expected);
});

test('feeds, sources and timetables have every field before anything is fetched', () => {
  const { rssFeeds, apiSources, timetableGroups } = programmeOf({
    ...everyKind,
    templates: [{ id: 'board', html: '{{ sources.weather.data }}' }],
  });
  const pending = { refresh_seconds: 900, status: 'pending', fetched_at: null };
  expect(rssFeeds).toEqual([{ id: 'news', name: 'news', url: 'http://127.0.0.1:9/feed.xml', ...pending, items: [] }]);
  expect(apiSources).toEqual([
    { id: 'weather', name: 'weather', url: 'http://127.0.0.1:9/weather.json', ...pending, data: null },
  ]);
  const entry = { id: 'trains-1', time: '08:15', title: 'Vienna', detail: null, location: null, days_json: null };
  expect(timetableGroups).toEqual([{ id: 'trains', name: 'trains', entries: [entry] }]);
});

test('a screen without a playlist shows nothing', () => {
  expect(programmeOf({ screens: [{ name: 'Lobby', slug: 'lobby' }] })).toMatchObject({
    screen: { playlist_id: null },
    playlist: null,
    slides: [],
  });
});

test('a payload with one slide of each kind matches the schema of the API', () => {
  const { body } = createPayload(programmeOf(everyKind), 'extended');
  const payload: unknown = JSON.parse(body.toString());
  expect(playlistPayload.parse(payload)).toEqual(payload);
});

test.each(['baseline', 'extended'] as const)(
  'the %s payload has the fields of the specification, in order',
  (variant) => {
    const payload = JSON.parse(createPayload(programmeOf(everyKind), variant).body.toString());
    expect(Object.keys(payload)).toEqual(fields.payload[variant]);
    expect(Object.keys(payload.screen)).toEqual(fields.screen);
    expect(Object.keys(payload.playlist)).toEqual(fields.playlist);
    for (const slide of payload.slides) expect(Object.keys(slide)).toEqual(fields.slide);
  },
);

describe('the times of a screen', () => {
  const two = (first: object, second: object) => ({
    screens: ['one', 'two'].map((slug) => ({ name: slug, slug, playlist_id: slug })),
    playlists: [
      { id: 'one', slides: [first] },
      { id: 'two', slides: [second] },
    ],
  });
  const timesOf = ({ screenDocuments }: ReturnType<typeof build>, slug: string) => {
    const { created_at, modified_at } = screenDocuments.get(slug)?.screen ?? {};
    return [created_at, modified_at];
  };
  const before = build(two(hello, hello));

  test('stay the same if the screen is unchanged', () => {
    const after = build(two(hello, { ...hello, title: 'Good evening' }), before.stamps, tuesday);
    expect(timesOf(after, 'one')).toEqual([monday, monday]);
    expect(timesOf(after, 'two')).toEqual([monday, tuesday]);
  });

  test.each<[string, object]>([
    ['its name', { screens: [{ name: 'Bar', slug: 'one', playlist_id: 'one' }] }],
    ['its playlist', { screens: [{ name: 'one', slug: 'one', playlist_id: 'two' }] }],
    [
      'the order of its slides',
      {
        playlists: [
          {
            id: 'one',
            slides: [
              { ...hello, id: 'one-2' },
              { ...hello, id: 'one-1' },
            ],
          },
        ],
      },
    ],
    ['a fade', { playlists: [{ id: 'one', fade_between_slides: false, slides: [hello] }] }],
  ])('change with %s', (_, change) => {
    const content = two(hello, hello);
    const playlists = [
      ...('playlists' in change ? (change.playlists as object[]) : [content.playlists[0]]),
      content.playlists[1],
    ];
    expect(timesOf(build({ ...content, ...change, playlists }, before.stamps, tuesday), 'one')).toEqual([
      monday,
      tuesday,
    ]);
  });

  test('stay the same with a feed that no slide names, and change with one that a slide or a template does', () => {
    const { rssFeeds } = references;
    expect(timesOf(build({ ...two(hello, hello), rssFeeds }, before.stamps, tuesday), 'one')).toEqual([monday, monday]);
    const board = { templates: [{ id: 'board', html: '{{ feeds.news.items.size }}' }] };
    for (const [slide, more] of [
      [slideOfEachKind.rss, {}],
      [slideOfEachKind.template, board],
    ] as const) {
      const { stamps, screenDocuments } = build({ ...two(slide, hello), rssFeeds, ...more });
      expect(screenDocuments.get('one')?.rssFeeds.map(({ id }) => id)).toEqual(['news']);
      expect(screenDocuments.get('two')?.rssFeeds).toEqual([]);
      const moved = { rssFeeds: [{ ...rssFeeds[0], url: 'http://127.0.0.1:9/other.xml' }], ...more };
      const after = build({ ...two(slide, hello), ...moved }, stamps, tuesday);
      expect(timesOf(after, 'one')).toEqual([monday, tuesday]);
      expect(timesOf(after, 'two')).toEqual([monday, monday]);
    }
  });

  test('change with a template that one of its slides uses', () => {
    const board = (html: string) => lobbyWith([slideOfEachKind.template], { templates: [{ id: 'board', html }] });
    const { stamps } = build(board('a'));
    expect(timesOf(build(board('b'), stamps, tuesday), 'lobby')).toEqual([monday, tuesday]);
  });

  test('are new for a screen that is new, or was removed and added again', () => {
    const more = (content: ReturnType<typeof two>) => ({ ...content, screens: content.screens.slice(0, 1) });
    const without = build(more(two(hello, hello)), before.stamps, tuesday);
    expect(timesOf(build(two(hello, hello), without.stamps, wednesday), 'two')).toEqual([wednesday, wednesday]);
  });

  test("are the file's own where it gives them, in UTC", () => {
    const [screen] = lobby.screens;
    const given = { created_at: '2020-01-01T00:00:00+02:00', modified_at: '2026-05-05T05:05:05Z' };
    const model = build({ ...lobby, screens: [{ ...screen, ...given }] });
    expect(timesOf(model, 'lobby')).toEqual(['2019-12-31T22:00:00.000Z', '2026-05-05T05:05:05.000Z']);
  });

  test('are part of the revision, which is a hash of everything else', () => {
    const revisionAt = (at: string) =>
      createPayload(build(lobby, new Map(), at).screenDocuments.get('lobby') as ScreenDocument, 'extended').revision;
    expect(revisionAt(monday)).toBe(revisionAt(monday));
    expect(revisionAt(monday)).not.toBe(revisionAt(tuesday));
  });
});
