/** Mistakes that a schema lets pass: /healthz says them, and so does the log, once a change. */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { healthOf, logged, patience, payloadOf } from '../support/observe.ts';
import { shareTestService, startTestService, type TestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { hello, lobbyWith, references, slideOfEachKind } from './samples.ts';

const at = (field: string, index = 0): string => `playlists[0].slides[${index}].${field}`;
const image = { kind: 'image', media_url: 'https://example.com/a.png' };
const template = (html: string, content: object, more: object = {}) =>
  lobbyWith([{ kind: 'template', title: 'Lunch', template_id: 'menu', content }], {
    templates: [{ id: 'menu', html }],
    ...more,
  });

const warningsOf = async (service: TestService) => (await healthOf(service)).content.warnings;

const service = shareTestService({ content: lobbyWith([hello]) });
let change = 0;

/** Waits until a content plays and has these warnings. */
const expectWarnings = async (content: ReturnType<typeof lobbyWith>, expected: unknown): Promise<void> => {
  const marker = `change ${++change}`;
  service().writeContent({ ...content, screens: [{ ...content.screens[0], name: marker }] });
  const isLive = async () => (await (await service().get('/api/screens/lobby/playlist')).json()).screen.name === marker;
  await expect.poll(isLive, patience).toBe(true);
  await expect.poll(() => warningsOf(service()), patience).toEqual(expected);
};

describe('a mistake in a slide is a warning at its path, and the message begins with the slide', () => {
  test.each<[string, object, string, RegExp]>([
    [
      'times without schedule_mode',
      { ...hello, schedule_start_time: '08:00', schedule_end_time: '10:00' },
      'schedule_mode',
      /^"Hello": schedule_start_time, schedule_end_time without schedule_mode .*"weekly"$/,
    ],
    [
      'datetimes without schedule_mode',
      { ...hello, schedule_end_datetime: '2030-01-01' },
      'schedule_mode',
      /"between"$/,
    ],
    ['a mode without times', { ...hello, schedule_mode: 'between' }, 'schedule_mode', /always on/],
    [
      'days in a schedule that has none',
      { ...hello, schedule_mode: 'between', schedule_start_datetime: '2026-01-01', schedule_days_json: '[1]' },
      'schedule_days_json',
      /no effect/,
    ],
    [
      'no day of the week',
      { ...hello, schedule_mode: 'weekly', schedule_days_json: '[]' },
      'schedule_days_json',
      /never plays/,
    ],
    [
      'an end before the start',
      {
        ...hello,
        schedule_mode: 'between',
        schedule_start_datetime: '2026-05-02T10:00:00+02:00',
        schedule_end_datetime: '2026-05-02T09:00:00+02:00',
      },
      'schedule_end_datetime',
      /never plays/,
    ],
    [
      'an end in the past',
      { ...hello, schedule_mode: 'between', schedule_end_datetime: '2020-01-01' },
      'schedule_end_datetime',
      /^"Hello": .*in the past/,
    ],
    [
      'a week day that is not between the start and the end',
      {
        ...{ ...hello, schedule_mode: 'weekly', schedule_days_json: '[1]' },
        ...{ schedule_start_datetime: '2099-06-02T00:00', schedule_end_datetime: '2099-06-03T00:00' },
      },
      'schedule_end_datetime',
      /never plays$/,
    ],
    [
      'times of day that are not between the start and the end',
      {
        ...{ ...hello, schedule_mode: 'weekly', schedule_start_time: '14:00', schedule_end_time: '16:00' },
        ...{ schedule_start_datetime: '2099-06-02T10:00', schedule_end_datetime: '2099-06-02T12:00' },
      },
      'schedule_end_datetime',
      /never plays$/,
    ],
    [
      'a key that is misspelt',
      { kind: 'video', media_url: 'https://example.com/a.mp4', id: 'film', content: { mute: true } },
      'content.mute',
      /^"film": "mute" .*did you mean "muted"\?$/,
    ],
    ['a key that nothing is like', { ...hello, content: { xyzzy: 1 } }, 'content.xyzzy', /^"Hello": "xyzzy" [^;]*$/],
    [
      'a colour that is none',
      { ...hello, content: { background: 'blau' } },
      'content.background',
      /"blau" is not a CSS colour/,
    ],
    ['a colour that is a number', { ...hello, content: { color: 7 } }, 'content.color', /7 is not a CSS colour/],
    ['a title on an image', { ...image, title: 'The hall' }, 'title', /^"The hall": .*image/],
    [
      'a body on a web page',
      { kind: 'web', media_url: 'https://example.com', body: 'x' },
      'body',
      /^"welcome-2": .*web/,
    ],
    [
      'more than a page can lay out',
      { ...hello, body: '<b>x</b>'.repeat(1_000) },
      'body',
      /^"Hello": is not shown: it has 1000 elements/,
    ],
    [
      'a name that no medium can have',
      { kind: 'image', media_url: '/media/.hidden.png' },
      'media_url',
      /^"welcome-2": no medium can have this name$/,
    ],
    [
      'a password in the address of a web page',
      { kind: 'web', media_url: 'https://me:secret@example.com/board' },
      'media_url',
      /^"welcome-2": has a user and password, (?!.*secret)/,
    ],
    [
      'a password in the address of a stream that pages load',
      { kind: 'stream', media_url: 'https://me:secret@example.com/live.m3u8' },
      'media_url',
      /^"welcome-2": has a user and password, (?!.*secret)/,
    ],
    [
      'a title that nobody can read',
      { ...hello, title: 'é'.repeat(100_000) },
      'title',
      /^"é{59}…": title has 100000 characters, of which 200 are shown$/,
    ],
    ['a medium on a text', { ...hello, media_url: 'https://example.com/a.png' }, 'media_url', /not shown/],
  ])('%s', async (_, slide, field, message) => {
    await expectWarnings(lobbyWith([{ kind: 'text', title: 'first' }, slide]), [
      { path: at(field, 1), message: expect.stringMatching(message) },
    ]);
  });

  test('a long name or title of a record is a warning, and is cut where it is shown', async () => {
    const name = `${'🦊'.repeat(200)}x`;
    const long = { id: 'long', name };
    await expectWarnings(
      Object.assign(lobbyWith([hello]), {
        playlists: [{ id: 'welcome', name, slides: [hello, { kind: 'timetable', content: { group_id: 'long' } }] }],
        templates: [{ ...long, html: '' }],
        rssFeeds: [{ ...long, url: 'http://127.0.0.1:9/feed.xml' }],
        timetableGroups: [{ ...long, entries: [{ time: '08:15', title: name }] }],
        messages: [{ id: 'long', title: name, level: 'info', minutes: 5 }],
      }),
      [
        'timetableGroups[0].entries[0].title',
        'messages[0].title',
        'playlists[0].name',
        'templates[0].name',
        'rssFeeds[0].name',
        'timetableGroups[0].name',
      ].map((path) => ({
        path,
        message: expect.stringMatching(/ (name|title) has 201 characters, of which 200 are shown$/),
      })),
    );
    const { playlist, timetableGroups } = await payloadOf(service());
    const shown = `${'🦊'.repeat(199)}…`;
    expect([playlist?.name, timetableGroups[0]?.name, timetableGroups[0]?.entries[0]?.title]).toEqual([
      shown,
      shown,
      shown,
    ]);
  });

  test('a timetable entry with an empty list of days is a warning', async () => {
    const timetableGroups = [{ id: 'trains', entries: [{ time: '08:15', title: 'Vienna', days_json: '[]' }] }];
    await expectWarnings(lobbyWith([hello], { timetableGroups }), [
      { path: 'timetableGroups[0].entries[0].days_json', message: expect.stringMatching(/^"trains": /) },
    ]);
  });
});

test.each<[string, ReturnType<typeof lobbyWith>]>([
  [
    'the colours of CSS',
    lobbyWith(
      ['#abc', 'rebeccaPurple', 'rgb(1 2 3)', 'oklch(40% 0.2 20)', 'transparent'].map((background) => ({
        ...hello,
        content: { background },
      })),
    ),
  ],
  [
    'a week of nights',
    lobbyWith([
      {
        ...hello,
        schedule_mode: 'weekly',
        schedule_start_time: '22:00',
        schedule_end_time: '02:00',
        schedule_days_json: '[6]',
      },
    ]),
  ],
  [
    'a password in the address of a stream or a film, which the service fetches',
    lobbyWith([
      { kind: 'stream', media_url: 'rtmp://me:secret@127.0.0.1:9/live' },
      { kind: 'video', media_url: 'http://me:secret@127.0.0.1:9/film.mp4', title: null },
    ]),
  ],
  ['a name of 200 characters', lobbyWith([{ ...hello, title: '🦊'.repeat(200) }])],
  [
    'a slide of each kind that needs no medium of the box',
    lobbyWith(
      (['text', 'video', 'web', 'stream', 'rss', 'timetable'] as const).map((kind) => slideOfEachKind[kind]),
      references,
    ),
  ],
  [
    'what a template asks for before it shows it',
    template('{% if content.note %}{{ content.note }}{% endif %}{{ price | default: "?" }}', {}),
  ],
  [
    'names of the player',
    template(
      '{{ now | day }}{{ slide.title }}{{ screen.name }}{{ feeds.news.items[0].title }}{{ sources.weather.data.x.y }}{{ timetables["trains"].entries.size }}{% for i in content.list %}{{ forloop.index }}{{ i.whatever }}{% endfor %}',
      { list: [] },
      { rssFeeds: references.rssFeeds, apiSources: references.apiSources, timetableGroups: references.timetableGroups },
    ),
  ],
  [
    'names of the content, short and long',
    template(
      '{{ headline | upcase }}{{ content.headline }}{{ price.amount | number: 2 }}{% assign x = price %}{{ x }}',
      { headline: 'a', price: { amount: 1 } },
    ),
  ],
])('%s is no warning', async (_, content) => {
  await expectWarnings(content, []);
});

test('data that is too old before it is fetched again is a warning, also where the slide sets no age', async () => {
  const calendars = [
    { id: 'daily', url: 'http://127.0.0.1:9/a.ics', refresh_seconds: 86_400 },
    { id: 'usual', url: 'http://127.0.0.1:9/b.ics' },
  ];
  const rssFeeds = [
    { id: 'daily', url: 'http://127.0.0.1:9/a', refresh_seconds: 86_400 },
    { id: 'weekly', url: 'http://127.0.0.1:9/b', refresh_seconds: 604_800 },
  ];
  const timetableGroups = [{ id: 'daily', calendar_id: 'daily' }];
  const slides = [
    { kind: 'calendar', title: 'A', content: { calendar_ids: ['usual', 'daily'] } },
    { kind: 'calendar', title: 'B', content: { calendar_id: 'usual' } },
    { kind: 'calendar', title: 'C', content: { calendar_id: 'daily', max_age_seconds: 90_000 } },
    { kind: 'timetable', title: 'D', content: { group_id: 'daily' } },
    { kind: 'rss', title: 'E', content: { feed_id: 'daily' } },
    { kind: 'rss', title: 'F', content: { feed_id: 'weekly' } },
    { kind: 'rss', title: 'G', content: { feed_id: 'daily', max_age_seconds: 3_600 } },
  ];
  const warning = (index: number, title: string, what: string, seconds: number) => ({
    path: at('content.max_age_seconds', index),
    message: `"${title}": is ${what}less than the ${seconds} s between two fetches of its source: it is too old in between`,
  });
  await expectWarnings(lobbyWith(slides, { calendars, rssFeeds, timetableGroups }), [
    warning(0, 'A', '14400 s unless it is set, ', 86_400),
    warning(3, 'D', '14400 s unless it is set, ', 86_400),
    warning(5, 'F', '86400 s unless it is set, ', 604_800),
    warning(6, 'G', '', 86_400),
  ]);
});

test('the demo has no warnings', async () => {
  expect(await warningsOf(await startTestService({ isDemoShipped: true }))).toEqual([]);
});

describe('a template is checked when the content is loaded', () => {
  test.each<[string, string, object, string, RegExp]>([
    [
      'a name that is not defined',
      '{{ content.headlin }}',
      { headline: 'a' },
      at('content'),
      /^"Lunch": .*"menu" names "content.headlin" in line 1.*did you mean "headline"\?$/,
    ],
    [
      'a short name that is not defined',
      '<p>\n{{ headlin }}',
      { headline: 'a' },
      at('content'),
      /"headlin" in line 2.*"headline"/,
    ],
    ['a name inside a value', '{{ price.amout }}', { price: { amount: 1 } }, at('content'), /"price.amout".*"amount"/],
    ['a feed that is not there', '{{ feeds.nwes.name }}', {}, at('content'), /"feeds.nwes".*"news"/],
    ['a field that no slide has', '{{ slide.titel }}', {}, at('content'), /"slide.titel".*"title"/],
    [
      'a list that is not there',
      '{% for i in itms %}{{ i }}{% endfor %}',
      { items: [] },
      at('content'),
      /"itms".*"items"/,
    ],
    [
      'an unknown filter',
      '{{ content.a | upcas }}',
      { a: 'a' },
      'templates[0].html',
      /^"Lunch": .*"menu".*"upcas".*"upcase"/,
    ],
    [
      'a filter that is a name of JavaScript',
      '{{ content.a | constructor }}',
      { a: 'a' },
      'templates[0].html',
      /"constructor"/,
    ],
    ['an unknown tag', '{% foo %}', {}, 'templates[0].html', /^"Lunch": .*"foo" not found, line:1/],
    ['a tag that is not closed', '<p>\n{% if content.a %}', { a: 1 }, 'templates[0].html', /not closed, line:2/],
    ['an output that is not closed', '{{ content.a', { a: 1 }, 'templates[0].html', /not closed/],
    [
      'a template nested without end',
      `{{ a${'[a'.repeat(200_000)} }}`,
      { a: 1 },
      'templates[0].html',
      /nested too deeply/,
    ],
  ])('%s', async (_, html, content, path, message) => {
    const rssFeeds = references.rssFeeds;
    await expectWarnings(template(html, content, { rssFeeds }), [{ path, message: expect.stringMatching(message) }]);
  });

  test('a mistake in the template is reported once, an undefined name once per slide that lacks it', async () => {
    const slides = ['one', 'two', 'three'].map((id) => ({
      ...{ kind: 'template', id, template_id: 'menu' },
      content: id === 'two' ? { note: 'x' } : {},
    }));
    const content = lobbyWith(slides, { templates: [{ id: 'menu', html: '{{ note | nope }}' }] });
    const paths = ['templates[0].html', at('content', 0), at('content', 2)];
    await expectWarnings(
      content,
      paths.map((path) => ({ path, message: expect.any(String) })),
    );
  });

  test('a template that is slow to parse delays nothing else', walk, async () => {
    const own = await startTestService({ content: lobbyWith([hello]) });
    const hostile = Array.from({ length: 3 }, (_, index) => ({
      id: `t${index}`,
      html: `{{ ${'a and '.repeat(80_000)}a }}${randomBytes(4).toString('hex')}`,
    }));
    own.writeContent(lobbyWith([{ ...hello, title: 'after' }], { templates: hostile }));
    let longest = 0;
    for (let round = 0; round < 100; round++) {
      const since = performance.now();
      await (await fetch(`${own.url}/api/screens/lobby/playlist`)).arrayBuffer();
      longest = Math.max(longest, performance.now() - since);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(longest).toBeLessThan(1_500);
    const since = performance.now();
    await healthOf(own);
    expect(performance.now() - since).toBeLessThan(7_000);
  });
});

test('warnings leave the content valid, are logged once per change, and disappear when the mistakes are repaired', async () => {
  const own = await startTestService({ content: lobbyWith([{ ...hello, content: { backgroud: 'red' } }]) });
  expect((await healthOf(own)).content).toMatchObject({
    status: 'ok',
    errors: [],
    warnings: [{ path: at('content.backgroud') }],
  });
  const lines = () => logged(own, 'the content is valid, but some of it will not play as intended');
  expect(lines()).toMatchObject([{ level: 40, warnings: [{ path: at('content.backgroud') }] }]);
  await healthOf(own);
  expect(lines()).toHaveLength(1);
  own.writeContent(lobbyWith([{ ...hello, content: { background: 'red' } }]));
  await expect.poll(() => warningsOf(own), patience).toEqual([]);
});

test('ten thousand mistakes are reported as fifty warnings, those of programmes among them', async () => {
  const slides = Array.from({ length: 10_000 }, () => ({ ...hello, content: { x: 1, y: 2 } }));
  const content = lobbyWith(slides, {
    playlists: [
      { id: 'welcome', slides },
      { id: 'noon', slides: [] },
    ],
  });
  const programmes = [{ id: 'noon', targets: ['tag:none'], playlist_id: 'noon' }];
  await expectWarnings(
    { ...content, programmes } as typeof content,
    expect.toSatisfy(
      (found: { path: string }[]) =>
        found.length === 50 && found.filter(({ path }) => path.startsWith('programmes[0]')).length === 1,
    ),
  );
});

test('a medium that no box has is a warning until it is uploaded', async () => {
  const content = lobbyWith([{ kind: 'image', id: 'hall', media_url: '/media/hall.png' }]);
  const own = await startTestService({ content });
  const missing = [{ path: at('media_url'), message: expect.stringMatching(/^"hall": .*"hall.png"/) }];
  await expect.poll(() => warningsOf(own), patience).toEqual(missing);
  const lines = () => logged(own, 'media that the content names are missing');
  await expect.poll(lines, patience).toHaveLength(1);
  await own.get('/api/media/hall.png', { method: 'PUT', body: 'x' });
  await expect.poll(() => warningsOf(own), patience).toEqual([]);
});
