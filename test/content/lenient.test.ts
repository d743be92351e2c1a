/** What is left out of a document that a newer version made, and what of it plays. */
import { describe, expect, test } from 'vitest';
import { readDocument } from '../../service/content/lenient.ts';
import { checkContent } from '../../service/content/validate.ts';
import { everyKind, hello, lobby, lobbyWith, references } from './samples.ts';

const bytesOf = (content: unknown) => Buffer.from(JSON.stringify(content));
const read = (content: unknown) => readDocument(bytesOf(content));
/** As the file would say it, with what the schema fills in. */
const filled = (content: unknown) => {
  const reading = checkContent(bytesOf(content));
  return reading.ok ? reading.content : reading.issues;
};

const slideAt = 'playlists[0].slides[0]';
const screen = { name: 'Lobby', slug: 'lobby', playlist_id: 'welcome' };
const withScreen = (more: object, rest: object = {}) => ({ ...lobby, screens: [{ ...screen, ...more }], ...rest });
const programme = { id: 'morning', targets: ['all'], playlist_id: 'welcome' };

describe('left out', () => {
  test.each<[string, unknown, unknown, string[]]>([
    ['a list of the document', { ...lobby, holograms: [{ id: 'a' }] }, lobby, ['holograms']],
    ['a key of a screen', withScreen({ glow: 1 }), lobby, ['screens[0].glow']],
    ['a key of a slide', lobbyWith([{ ...hello, sparkle: { a: 1 } }]), lobby, [`${slideAt}.sparkle`]],
    [
      'a key in a programme, and one in an opening time',
      withScreen(
        { hours: [{ days: [1], open: '08:00', close: '20:00', note: 'x' }] },
        { programmes: [{ ...programme, moon: 'full' }] },
      ),
      withScreen({ hours: [{ days: [1], open: '08:00', close: '20:00' }] }, { programmes: [programme] }),
      ['screens[0].hours[0].note', 'programmes[0].moon'],
    ],
    [
      'keys that mean something to JavaScript',
      JSON.parse(JSON.stringify(lobby).replace('"kind"', '"constructor":1,"hasOwnProperty":2,"kind"')),
      lobby,
      [`${slideAt}.constructor`, `${slideAt}.hasOwnProperty`],
    ],
    ['a slide of another kind', lobbyWith([{ kind: 'hologram', depth: 3 }, hello]), lobby, [slideAt]],
    [
      'each of several slides, by its own place',
      lobbyWith([{ kind: 'hologram' }, hello, { kind: 'scent' }, { ...hello, glow: 1 }]),
      lobbyWith([hello, hello]),
      [slideAt, 'playlists[0].slides[2]', 'playlists[0].slides[3].glow'],
    ],
    ['all slides', lobbyWith([{ kind: 'hologram' }]), lobbyWith([]), [slideAt]],
    [
      'another value of an optional field',
      lobbyWith([{ ...hello, schedule_mode: 'lunar' }]),
      lobby,
      [`${slideAt}.schedule_mode`],
    ],
    [
      'another value of a needed field, with the slide',
      lobbyWith([{ kind: 'image', media_url: { disc: 1 } }, hello]),
      lobby,
      [slideAt],
    ],
    [
      'another form of an entry',
      { ...lobby, programmes: [programme, { id: 'eclipse', when: 'eclipse' }] },
      { ...lobby, programmes: [programme] },
      ['programmes[1]'],
    ],
    [
      'entries beyond what a list may have',
      withScreen({ tags: Array.from({ length: 34 }, (_, at) => `t${at}`) }),
      withScreen({ tags: Array.from({ length: 32 }, (_, at) => `t${at}`) }),
      ['screens[0].tags[32]', 'screens[0].tags[33]'],
    ],
    [
      'what names something that is left out',
      lobbyWith(
        [{ kind: 'rss', content: { feed_id: 'news' } }, { kind: 'template', template_id: 'design:new' }, hello],
        {
          rssFeeds: [{ id: 'news', stream: 'nats' }],
          programmes: [{ ...programme, playlist_id: 'gone' }],
        },
      ),
      lobby,
      [slideAt, 'playlists[0].slides[1]', 'programmes[0]', 'rssFeeds[0]'],
    ],
    [
      'a calendar slide of which no calendar is left',
      lobbyWith([{ kind: 'calendar', content: { calendar_ids: [{ room: 1 }] } }, hello]),
      lobby,
      [slideAt],
    ],
    ['one screen of two', { ...lobby, screens: [{ ...screen, slug: { area: 1 } }, screen] }, lobby, ['screens[0]']],
  ])('%s', (_, content, rest, paths) => {
    const reading = read(content);
    expect(reading).toMatchObject({ ok: true, content: filled(rest) });
    const leftOut = reading.ok ? (reading.leftOut ?? []) : [];
    expect(leftOut.map(({ path }) => path).toSorted()).toEqual(paths.toSorted());
  });
});

test('a warning names the slide, and says why', () => {
  const reading = read(lobbyWith([{ ...hello, sparkle: 1 }]));
  const message = '"Hello": a newer version of the player made this: it is left out here until this box is updated';
  expect(reading).toMatchObject({ leftOut: [{ path: `${slideAt}.sparkle`, message }] });
});

test.each([
  ['the least', lobby],
  ['one slide of each kind', everyKind],
  ['programmes', { ...lobby, ...references, programmes: [programme] }],
])('what an edit may have is read as it is: %s', (_, content) => {
  expect(read(content)).toEqual({ ok: true, content: filled(content) });
});

test.each<[string, unknown, string]>([
  ['no screens that can be read', { screens: [{}], extra: 1 }, 'screens[0].name'],
  ['no list of screens', { wall: [], playlists: [] }, 'screens'],
  ['a list', [lobby], ''],
  ['null', null, ''],
  ['what is nested too deeply', JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`), ''],
  ['more faults than a version makes', lobbyWith(Array.from({ length: 20_001 }, () => 1)), slideAt],
  [
    'a round that is too long here',
    {
      ...lobby,
      holograms: [],
      playlists: [{ id: 'welcome', order: 'shuffled', slides: Array.from({ length: 1_001 }, () => hello) }],
    },
    '',
  ],
  ['what is too large', { ...lobby, extra: 'x'.repeat(4 * 1024 ** 2) }, ''],
])('refused as an edit would be: %s', (_, content, path) => {
  const reading = read(content);
  expect(reading).toEqual(checkContent(bytesOf(content)));
  expect(reading.ok ? [] : reading.issues).toContainEqual(expect.objectContaining({ path }));
});

test('of a document full of what is not known a few places are named', () => {
  const slides = Array.from({ length: 2_000 }, (_, at) =>
    at % 2 === 0 ? { kind: 'calendar', content: { calendar_ids: [at] } } : { kind: 'text', x: at },
  );
  const reading = read(lobbyWith(slides));
  expect(reading).toMatchObject({ ok: true, content: { playlists: [{ slides: [] }] } });
  expect(reading.ok ? reading.leftOut : []).toHaveLength(20);
});
