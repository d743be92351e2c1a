/** What may stand in content.json, and what is said where it is wrong. */
import { describe, expect, test } from 'vitest';
import { checkContent } from '../../service/content/validate.ts';
import { everyKind, hello, lobby, lobbyWith, references } from './samples.ts';

const read = (content: unknown) => checkContent(Buffer.from(JSON.stringify(content)));

const issuesOf = (content: unknown) => {
  const reading = read(content);
  return reading.ok ? [] : reading.issues;
};

const slideAt = 'playlists[0].slides[0]';
const manySlides = (count: number) => Array.from({ length: count }, () => hello);

describe('accepted', () => {
  test.each<[string, unknown]>([
    ['the least', lobby],
    ['no screens', { screens: [] }],
    ['a screen without a playlist', { screens: [{ name: 'Lobby', slug: 'lobby' }] }],
    ['a screen whose playlist is null', { screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: null }] }],
    ['a playlist without slides', { screens: [], playlists: [{ id: 'empty', slides: [] }] }],
    ['one slide of each kind', everyKind],
    ['10,000 slides', lobbyWith(manySlides(10_000))],
    [
      'ids that mean something to JavaScript',
      { screens: [], playlists: ['__proto__', 'constructor'].map((id) => ({ id, slides: [] })) },
    ],
    ['the longest slug', { screens: [{ name: 'Lobby', slug: 'a'.repeat(64) }] }],
    [
      'two screens with one playlist',
      { ...lobby, screens: ['a', 'b'].map((slug) => ({ name: slug, slug, playlist_id: 'welcome' })) },
    ],
    ['the address of the schema', { $schema: './content.schema.json', ...lobby }],
    ['text in every script', lobbyWith([{ kind: 'text', title: 'Zdravím, こんにちは, مرحبا 👋' }])],
  ])('%s', (_, content) => {
    expect(issuesOf(content)).toEqual([]);
  });

  test.each<[string, object]>([
    ['text with a title', { kind: 'text', title: 'Hello' }],
    [
      'nulls where there is no value',
      { kind: 'text', title: 'Hello', body: null, duration_seconds: null, media_url: null, content: null },
    ],
    ['fit and focus', { kind: 'image', media_url: '/media/a.png', content: { fit: 'contain', focus: [0.5, 1] } }],
    ['sound', { kind: 'video', media_url: '/media/a.mp4', content: { muted: false, volume: 0.4 } }],
    ['a media type of its own', { kind: 'image', media_url: 'https://example.com/picture', media_type: 'image/png' }],
    ['an .m3u8 over https', { kind: 'stream', media_url: 'https://example.com/live/index.m3u8?token=1' }],
    ['srt', { kind: 'stream', media_url: 'srt://example.com:9000?streamid=a' }],
    [
      'a fallback',
      { kind: 'stream', media_url: 'rtmps://example.com/live', content: { fallback_media_url: '/media/a.png' } },
    ],
    ['any values for a template', { kind: 'template', template_id: 'board', content: { a: { b: [1, null, 'c'] } } }],
    ['how many items', { kind: 'rss', content: { feed_id: 'news', items: 3 } }],
    [
      'between two times',
      {
        kind: 'text',
        title: 'a',
        schedule_mode: 'between',
        schedule_start_datetime: '2026-12-24T18:00',
        schedule_end_datetime: '2026-12-26T00:00:00+01:00',
      },
    ],
    [
      'on weekdays',
      {
        kind: 'text',
        title: 'a',
        schedule_mode: 'weekly',
        schedule_start_time: '22:00',
        schedule_end_time: '02:30:15',
        schedule_days_json: '[1,7]',
      },
    ],
  ])('a slide with %s', (_, slide) => {
    expect(issuesOf(lobbyWith([slide], references))).toEqual([]);
  });
});

describe('text that is not JSON is refused with the line, the column and the line itself', () => {
  test.each<[string, string, string]>([
    ['a comma too many', '{\n  "screens": [],\n}', 'unexpected "}" in line 3, column 1: }'],
    ['a comma too few', '{"a": 1\n  "b": 2}', 'unexpected "\\"" in line 2, column 3: "b": 2}'],
    ['a comment', '// mine\n{}', 'unexpected "/" in line 1, column 1: // mine'],
    ['single quotes', "{'a': 1}", "unexpected \"'\" in line 1, column 2: {'a': 1}"],
    ['a word', '{"a": yes}', 'unexpected "y" in line 1, column 7: {"a": yes}'],
    [
      'a bracket that is missing',
      '{"screens": [{"a": 1}\n\n',
      'it ends before everything is closed in line 1, column 22: {"screens": [{"a": 1}',
    ],
    ['the wrong bracket', '{"a": [1}', 'unexpected "}" in line 1, column 9: {"a": [1}'],
    [
      'a line break in a text',
      '{\r\n"a": "b\r\nc"}',
      'a text that is not closed, or has a line break or a bad escape in it, in line 2, column 6: "a": "b',
    ],
    ['a second value', '{} {}', 'unexpected "{" in line 1, column 4: {} {}'],
  ])('%s', (_, text, message) => {
    expect(checkContent(Buffer.from(text))).toEqual({
      ok: false,
      issues: [{ path: '', message: `the file is not JSON: ${message}` }],
    });
  });

  test('the message shows only an excerpt of a long line, with passwords masked', () => {
    const reading = checkContent(
      Buffer.from(`{"x": "${'a'.repeat(500)}", "url": "https://me:s3cret@host/feed" "b": "${'c'.repeat(500)}"}`),
    );
    const [issue] = reading.ok ? [] : reading.issues;
    expect(issue?.message).toMatch(/column 548: a+", "url": "https:\/\/\*+@host\/feed" "b": "c+$/);
    expect(issue?.message.length).toBeLessThan(180);
    expect(issue?.message).not.toContain('s3cret');
  });

  test.each(['https://host/now?apikey=s3cret', 'https://host/now#s3cret', 'rtmp://cam:s3cret@host/live?key=s3cret'])(
    'a line with the address %s shows no key',
    (url) => {
      const reading = checkContent(Buffer.from(`{"url": "${url}" "b": 1}`));
      const [issue] = reading.ok ? [] : reading.issues;
      expect(issue?.message).toContain('host');
      expect(issue?.message).not.toContain('s3cret');
    },
  );

  test('the reported place is where JSON.parse stops, in truncated, duplicated and garbled texts', () => {
    const whole = JSON.stringify({ a: [1, -2.5e3, true, null, 'x\\"\u00e9'], b: { c: {}, d: [] } });
    for (let at = 0; at < whole.length; at++) {
      for (const text of [
        whole.slice(0, at),
        `${whole.slice(0, at)}#${whole.slice(at)}`,
        whole.slice(0, at) + whole.slice(at + 1),
      ]) {
        const reading = checkContent(Buffer.from(text));
        const isJson = (() => {
          try {
            return JSON.parse(text) !== undefined;
          } catch {
            return false;
          }
        })();
        const message = reading.ok ? '' : String(reading.issues[0]?.message);
        expect(/not JSON: .* in line 1, column \d+: /.test(message), text).toBe(!isJson && text.trim() !== '');
      }
    }
  });
});

test('an issue in a slide begins with its title, else its id, and suggests the nearest known key', () => {
  const slides = [
    { kind: 'text', title: 'Lunch', duration: 5 },
    { kind: 'image', id: 'hall', media_url: '/media/a.png', duration_seconds: 0 },
    { kind: 'image' },
    { kind: 'text', title: 'x'.repeat(100), body: 5 },
  ];
  expect(issuesOf(lobbyWith(slides))).toEqual([
    {
      path: 'playlists[0].slides[0]',
      message: '"Lunch": "duration" is not known here; did you mean "duration_seconds"?',
    },
    { path: 'playlists[0].slides[1].duration_seconds', message: expect.stringMatching(/^"hall": /) },
    { path: 'playlists[0].slides[2].media_url', message: '"welcome-3": required, but missing' },
    { path: 'playlists[0].slides[3].body', message: expect.stringMatching(/^"x{59}…": /) },
  ]);
  expect(issuesOf({ ...lobby, screns: [] })).toEqual([
    { path: '', message: '"screns" is not known here; did you mean "screens"?' },
  ]);
  expect(issuesOf(lobbyWith([{ ...hello, schedule_mod: 'always', constructor: 1 }]))).toEqual([
    {
      path: slideAt,
      message:
        '"Hello": "schedule_mod" is not known here; did you mean "schedule_mode"?; "constructor" is not known here',
    },
  ]);
});

describe('refused, with the path and the message', () => {
  test.each<[string, unknown, string, RegExp]>([
    ['null', null, '', /object/],
    ['a list', [], '', /object/],
    ['a text', 'hello', '', /object/],
    ['no screens', { playlists: [] }, 'screens', /missing/],
    ['screens that are no list', { screens: {} }, 'screens', /array/],
    ['an unknown key', { ...lobby, screns: [] }, '', /screns/],
    ['__proto__ as a key', JSON.parse('{"screens":[],"__proto__":{"slug":"a"}}'), '', /__proto__/],
    ['a screen without a name', { screens: [{ slug: 'a' }] }, 'screens[0].name', /missing/],
    ['a screen with an empty name', { screens: [{ slug: 'a', name: '' }] }, 'screens[0].name', /small/],
    ['a screen without a slug', { screens: [{ name: 'a' }] }, 'screens[0].slug', /missing/],
    ['a screen with an unknown key', { screens: [{ name: 'a', slug: 'a', playlist: 'p' }] }, 'screens[0]', /playlist/],
    ...['', 'Lobby', 'lob by', 'löbby', 'a/b', 'a\n', 'a'.repeat(65)].map((slug): [string, unknown, string, RegExp] => [
      `the slug ${JSON.stringify(slug)}`,
      { screens: [{ name: 'a', slug }] },
      'screens[0].slug',
      /a-z/,
    ]),
    [
      'a slug twice',
      {
        screens: [
          { name: 'a', slug: 'x' },
          { name: 'b', slug: 'x' },
        ],
      },
      'screens[1].slug',
      /"x".*once/,
    ],
    [
      'an id twice',
      {
        screens: [
          { name: 'a', slug: 'x' },
          { name: 'b', slug: 'y', id: 'x' },
        ],
      },
      'screens[1].id',
      /"x".*once/,
    ],
    [
      'a playlist_id that leads nowhere',
      { screens: [{ name: 'a', slug: 'x', playlist_id: 'gone' }] },
      'screens[0].playlist_id',
      /"gone"/,
    ],
    ['a playlist without an id', { screens: [], playlists: [{ slides: [] }] }, 'playlists[0].id', /missing/],
    ['a playlist without slides', { screens: [], playlists: [{ id: 'p' }] }, 'playlists[0].slides', /missing/],
    [
      'a playlist twice',
      {
        screens: [],
        playlists: [
          { id: 'p', slides: [] },
          { id: 'p', slides: [] },
        ],
      },
      'playlists[1].id',
      /"p".*once/,
    ],
    ['a slide that is null', lobbyWith([null]), slideAt, /object/],
    [
      'a slide twice',
      lobbyWith([
        { ...hello, id: 'a' },
        { ...hello, id: 'a' },
      ]),
      'playlists[0].slides[1].id',
      /"a".*once/,
    ],
    [
      'an id that the service would give to another',
      lobbyWith([{ ...hello, id: 'welcome-2' }, hello]),
      'playlists[0].slides[1].id',
      /"welcome-2"/,
    ],
    [
      'a template twice',
      { ...lobby, templates: [1, 2].map(() => ({ id: 't', html: '' })) },
      'templates[1].id',
      /"t".*once/,
    ],
    ['a template without html', { ...lobby, templates: [{ id: 't' }] }, 'templates[0].html', /missing/],
    ['a feed without an address', { ...lobby, rssFeeds: [{ id: 'f' }] }, 'rssFeeds[0].url', /missing/],
    ['a feed from a file', { ...lobby, rssFeeds: [{ id: 'f', url: 'file:///etc/passwd' }] }, 'rssFeeds[0].url', /http/],
    [
      'a feed twice',
      { ...lobby, rssFeeds: [1, 2].map(() => ({ id: 'f', url: 'http://a/' })) },
      'rssFeeds[1].id',
      /"f".*once/,
    ],
    [
      'a source that is fetched all the time',
      { ...lobby, apiSources: [{ id: 's', url: 'http://a/', refresh_seconds: 0 }] },
      'apiSources[0].refresh_seconds',
      />0/,
    ],
    [
      'a timetable entry without a time',
      { ...lobby, timetableGroups: [{ id: 'g', entries: [{ title: 'a' }] }] },
      'timetableGroups[0].entries[0].time',
      /missing/,
    ],
    [
      'an issue in the 10,000th slide',
      lobbyWith([...manySlides(9_999), { kind: 'text' }]),
      'playlists[0].slides[9999].title',
      /title or a body/,
    ],
  ])('%s', (_, content, path, message) => {
    expect(issuesOf(content)).toContainEqual({ path, message: expect.stringMatching(message) });
  });

  test.each<[string, object, string, RegExp]>([
    ['no kind', { title: 'a' }, 'kind', /'text'.*'timetable'/],
    ['an unknown kind', { kind: 'audio' }, 'kind', /'text'.*'timetable'/],
    ['an unknown key', { ...hello, titel: 'a' }, '', /titel/],
    ['text without words', { kind: 'text', title: '', body: null }, 'title', /title or a body/],
    ...(['image', 'video', 'web', 'stream', 'pdf'] as const).map((kind): [string, object, string, RegExp] => [
      `${kind} without media_url`,
      { kind },
      'media_url',
      /missing/,
    ]),
    ['a template without template_id', { kind: 'template' }, 'template_id', /missing/],
    ['rss without content', { kind: 'rss' }, 'content', /missing/],
    ['rss without feed_id', { kind: 'rss', content: {} }, 'content.feed_id', /missing/],
    ['a timetable without group_id', { kind: 'timetable', content: {} }, 'content.group_id', /missing/],
    ['a template_id that leads nowhere', { kind: 'template', template_id: 'gone' }, 'template_id', /"gone"/],
    ['a feed_id that leads nowhere', { kind: 'rss', content: { feed_id: 'gone' } }, 'content.feed_id', /"gone"/],
    [
      'a group_id that leads nowhere',
      { kind: 'timetable', content: { group_id: 'gone' } },
      'content.group_id',
      /"gone"/,
    ],
    ...[
      'ftp://a/b',
      'hall.jpg',
      '/media/',
      '/media/a/b',
      '/etc/passwd',
      'javascript:alert(1)',
      '//a/b',
      'http://',
      'http:///a',
      '',
    ].map((media_url): [string, object, string, RegExp] => [
      `the media_url ${media_url}`,
      { kind: 'image', media_url },
      'media_url',
      /http.*\/media\/NAME/,
    ]),
    ['a stream of no known protocol', { kind: 'stream', media_url: 'udp://a:1' }, 'media_url', /rtmp/],
    ['a stream that is a file', { kind: 'stream', media_url: 'http://a/b.mp4' }, 'media_url', /m3u8/],
    ['a page that is no page', { kind: 'web', media_url: 'rtmp://a/b' }, 'media_url', /http/],
    ['a title that is a number', { kind: 'text', title: 1 }, 'title', /string/],
    ['a duration of 0', { ...hello, duration_seconds: 0 }, 'duration_seconds', />0/],
    ['a duration below 0', { ...hello, duration_seconds: -1 }, 'duration_seconds', />0/],
    ['a duration in words', { ...hello, duration_seconds: '8' }, 'duration_seconds', /number/],
    ['an unknown schedule', { ...hello, schedule_mode: 'daily' }, 'schedule_mode', /always.*between.*weekly/],
    [
      'a day that is none',
      { ...hello, schedule_start_datetime: '2026-02-30T10:00' },
      'schedule_start_datetime',
      /ISO 8601/,
    ],
    ['a date in words', { ...hello, schedule_end_datetime: 'tomorrow' }, 'schedule_end_datetime', /ISO 8601/],
    ['an hour that is none', { ...hello, schedule_start_time: '24:00' }, 'schedule_start_time', /HH:MM/],
    ['an hour without its zero', { ...hello, schedule_end_time: '8:00' }, 'schedule_end_time', /HH:MM/],
    ...['[0]', '[8]', '[1.5]', '["1"]', '1', '{}', 'Monday', '[1'].map((days): [string, object, string, RegExp] => [
      `the days ${days}`,
      { ...hello, schedule_days_json: days },
      'schedule_days_json',
      /1 \(Monday\) to 7/,
    ]),
    ['days outside a string', { ...hello, schedule_days_json: [1] }, 'schedule_days_json', /string/],
    [
      'a media type that is none',
      { kind: 'image', media_url: '/media/a.png', media_type: 'png' },
      'media_type',
      /image\/png/,
    ],
    [
      'a fit that is none',
      { kind: 'image', media_url: '/media/a.png', content: { fit: 'fill' } },
      'content.fit',
      /cover.*contain/,
    ],
    [
      'a focus outside the picture',
      { kind: 'pdf', media_url: '/media/a.pdf', content: { focus: [0.5, 1.1] } },
      'content.focus[1]',
      /1/,
    ],
    ['a volume over 1', { kind: 'video', media_url: '/media/a.mp4', content: { volume: 2 } }, 'content.volume', /1/],
    ['a list as content', { ...hello, content: [] }, 'content', /object/],
  ])('a slide with %s', (_, slide, path, message) => {
    const expected = path === '' ? slideAt : `${slideAt}.${path}`;
    expect(issuesOf(lobbyWith([slide], references))).toContainEqual({
      path: expected,
      message: expect.stringMatching(message),
    });
  });

  test('all issues are reported at once, up to a limit', () => {
    expect(issuesOf({ screens: [{ slug: 'A' }, { name: '' }] }).map(({ path }) => path)).toEqual([
      'screens[0].name',
      'screens[0].slug',
      'screens[1].name',
      'screens[1].slug',
    ]);
    expect(issuesOf(lobbyWith(Array.from({ length: 10_000 }, () => ({ kind: 'text' }))))).toHaveLength(20);
  });

  test('of more mistakes than can be counted that is told', () => {
    const [issue, ...more] = issuesOf(lobbyWith(Array.from({ length: 1_000_000 }, () => 1)));
    expect([issue, more]).toEqual([{ path: '', message: expect.stringContaining('more mistakes than can be') }, []]);
  });
});

describe('bytes', () => {
  const json = JSON.stringify(lobby);

  test('a byte order mark is accepted', () => {
    expect(checkContent(Buffer.from(`\uFEFF${json}`)).ok).toBe(true);
  });

  test.each<[string, Buffer, RegExp]>([
    ['no bytes', Buffer.alloc(0), /empty/],
    ['white space', Buffer.from(' \n\t\r\n'), /empty/],
    ['zeros, as a power cut leaves them', Buffer.alloc(512), /not JSON/],
    ['UTF-16', Buffer.from(`\uFEFF${json}`, 'utf16le'), /UTF-8/],
    ['UTF-16 without a mark', Buffer.from(json, 'utf16le'), /not JSON/],
    ['Latin-1', Buffer.from(JSON.stringify(lobbyWith([{ kind: 'text', title: 'Grüß Gott' }])), 'latin1'), /UTF-8/],
    ['half a file', Buffer.from(json.slice(0, json.length / 2)), /not JSON/],
    ['a trailing comma', Buffer.from(json.replace(/}$/, ',}')), /not JSON/],
    ['a comment', Buffer.from(`// the lobby\n${json}`), /not JSON/],
    ['YAML', Buffer.from('screens: []\n'), /not JSON/],
    ['a picture', Buffer.from('iVBORw0KGgoAAAANSUhEUg==', 'base64'), /UTF-8/],
    ['a hundred thousand brackets', Buffer.from(`{"screens":${'['.repeat(100_000)}${']'.repeat(100_000)}}`), /nested/],
  ])('%s', (_, bytes, message) => {
    expect(checkContent(bytes)).toEqual({ ok: false, issues: [{ path: '', message: expect.stringMatching(message) }] });
  });

  test('a file that is truncated at any byte is refused', () => {
    const bytes = Buffer.from(JSON.stringify(everyKind));
    for (let length = 0; length < bytes.length; length += 1) {
      expect(checkContent(bytes.subarray(0, length)).ok).toBe(false);
    }
  });
});

test.each([
  ['duration', 'duration_seconds'],
  ['dur', 'duration_seconds'],
  ['url', 'media_url'],
  ['src', 'media_url'],
  ['file', 'media_url'],
  ['type', 'kind'],
  ['text', 'body'],
  ['seconds', 'duration_seconds'],
  ['titel', 'title'],
])('the unknown key %s of a slide names %s', (key, meant) => {
  const reading = read(lobbyWith([{ ...hello, [key]: 1 }]));
  const messages = reading.ok ? [] : reading.issues.map(({ message }) => message);
  expect(messages).toEqual([expect.stringContaining(`"${key}" is not known here; did you mean "${meant}"`)]);
});

test.each([
  [
    { type: 'text', duration: 3 },
    "required, but missing: it is one of 'text', ",
    '; "type" is not known here; did you mean "kind"?; "duration" is not known here; did you mean "duration_seconds"?',
  ],
  [
    { kind: 'film', url: '/media/a.mp4' },
    '"film" is none: it is one of \'text\', ',
    '; "url" is not known here; did you mean "media_url"?',
  ],
])('a slide without a kind tells the kinds, and what its unknown keys mean: %j', (slide, begin, end) => {
  const reading = read(lobbyWith([slide]));
  const [issue, ...others] = reading.ok ? [] : reading.issues;
  expect([issue?.path, others]).toEqual(['playlists[0].slides[0].kind', []]);
  expect(issue?.message).toContain(begin);
  expect(issue?.message.endsWith(end)).toBe(true);
});
