/** What the console makes of the site and of the document. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { changesBetween, screensConcerned } from '../../renderer/console/model/changes.ts';
import { displaysOf, stateOfScreen } from '../../renderer/console/model/displays.ts';
import { type ContentDocument, issuesAt, shortMessage, titleOf } from '../../renderer/console/model/document.ts';
import { doerOf, starterOf } from '../../renderer/console/model/doers.ts';
import {
  editSlides,
  freeId,
  moveAll,
  randomEnd,
  withoutPlaylist,
  withoutScreen,
} from '../../renderer/console/model/edit.ts';
import { joinLive, previewPayload } from '../../renderer/console/model/payload.ts';
import { screensWithData, slidesByTag } from '../../renderer/console/model/playable.ts';
import { createForms, typeFor } from '../../renderer/console/model/schema.ts';
import type { SiteScreen } from '../../renderer/console/model/wire.ts';
import type { AuditRecord } from '../../service/contract/console/site.ts';
import { contentFile } from '../../service/contract/content.ts';
import type { PlaylistPayload } from '../../service/contract/playlist.ts';
import { slideKinds } from '../../service/contract/slides.ts';

const connection = (more: object) => ({
  id: 'c1',
  deviceId: null,
  label: 'Chrome c1',
  page: '/screen/lobby',
  currentSlide: 0,
  currentSlideId: 'hello',
  paused: false,
  blackout: false,
  ...more,
});
const device = (state: string, deviceId = '4K7QM3X9FT2WD0AZ') => ({ deviceId, clientName: 'Door', state });
const statesOf = (devices: object[], connections: object[]) =>
  displaysOf({ devices, connections } as unknown as SiteScreen).map(({ state }) => state);

describe('a display', () => {
  test.each([
    [
      'is one with its page, however its id is spelt',
      [device('playing')],
      [{ deviceId: '4k7q-m3x9-ft2w-d0az' }],
      ['playing'],
    ],
    ['that is away has no page', [device('away')], [], ['away']],
    ['that nobody expects is there all the same', [], [{}], ['playing']],
    ['that is stuck says so, though its page plays', [device('stuck')], [{ deviceId: '4K7QM3X9FT2WD0AZ' }], ['stuck']],
    ['shows a takeover', [], [{ currentSlideId: 'takeover-fire' }], ['takeover']],
    ['that was blacked out is black', [], [{ blackout: true }], ['black']],
    ['that shows a page of the web says so', [], [{ page: 'https://example.org/' }], ['redirected']],
    ['with a query in its address is no redirect', [], [{ page: '/screen/lobby?deviceId=1' }], ['playing']],
    ['without a slide has nothing to show', [], [{ currentSlide: null, currentSlideId: null }], ['idle']],
  ])('%s', (_, devices, pages, states) => {
    expect(statesOf(devices, pages.map(connection))).toEqual(states);
  });

  test('that is worst off speaks for its screen, and none for a screen without', () => {
    expect(stateOfScreen([{ state: 'playing' }, { state: 'away' }])).toBe('away');
    expect(stateOfScreen([{ state: 'closed' }, { state: 'playing' }])).toBe('playing');
    expect(stateOfScreen([])).toBeNull();
  });
});

describe('who did it', () => {
  const did = (action: string, target: string, after: object, operator: string | null = null) =>
    ({ at: 'then', action, target, after, operator, result: 'ok' }) as unknown as AuditRecord;
  const [off] = displaysOf({
    devices: [{ ...device('stuck'), nodeId: 'cellar', off: true, names: ['Samsung (HDMI-A-1)', '2'] }],
    connections: [connection({ deviceId: '4K7QM3X9FT2WD0AZ', currentSlideId: 'takeover-a' })],
  } as unknown as SiteScreen);
  const [black] = displaysOf({ devices: [], connections: [connection({ blackout: true })] } as unknown as SiteScreen);
  const lobby = { slug: 'lobby', tags: ['ground'] };
  const blackout = (more: object) => ({
    name: 'Night',
    command: { command: 'blackout', targets: ['tag:ground'], ...more },
  });

  test.each<[string, AuditRecord, string | null]>([
    [
      'this display by its id',
      did('box.action', 'cellar', { action: 'display-off', display: '4k7q-m3x9-ft2w-d0az' }, 'Ada'),
      'Ada',
    ],
    [
      'this display by its name',
      did('box.action', 'cellar', { action: 'display-off', display: 'Samsung (HDMI-A-1)' }, 'Ada'),
      'Ada',
    ],
    ['this display by its number', did('box.action', 'cellar', { action: 'display-off', display: 2 }, 'Ada'), 'Ada'],
    ['the one beside it', did('box.action', 'cellar', { action: 'display-off', display: 1 }, 'Ada'), null],
    ['all displays of its box', did('box.action', 'cellar', { action: 'display-off' }, 'Ada'), 'Ada'],
    ['another display', did('box.action', 'cellar', { action: 'display-off', display: 'x' }, 'Ada'), null],
    ['those of another box', did('box.action', 'attic', { action: 'display-off' }, 'Ada'), null],
    ['nothing', did('box.action', 'cellar', { action: 'display-on' }, 'Ada'), null],
  ])('has switched off %s', (_, record, name) => {
    expect(off?.state).toBe('black');
    expect(off && doerOf([record], off, lobby)?.name).toBe(name ?? undefined);
  });

  test('may be a trigger', () => {
    const night = { name: 'Night', isTrigger: true, at: 'then' };
    const fired = (after: object): AuditRecord => did('trigger.fire', 'f0', after);
    expect(black && doerOf([fired(blackout({}))], black, lobby)).toEqual(night);
    expect(black && doerOf([fired(blackout({ blackout: false }))], black, lobby)).toBeNull();
    expect(black && doerOf([fired(blackout({ targets: ['bar'] }))], black, lobby)).toBeNull();
    const alarm = fired({ name: 'Night', takeover: { id: 'message-a', targets: ['all'] } });
    const started = did('takeover.start', 'message-a', {}, 'Ada');
    expect(starterOf([alarm, started], 'message-a')).toEqual(night);
    expect(starterOf([started, alarm], 'message-a')).toEqual({ name: 'Ada', isTrigger: false, at: 'then' });
    expect(starterOf([alarm], 'message-b')).toBeNull();
  });
});

const content = (slides: object[], more: object = {}): ContentDocument =>
  ({
    screens: [
      { slug: 'lobby', name: 'Lobby', playlist_id: 'main' },
      { slug: 'bar', name: 'Bar', playlist_id: 'other' },
    ],
    playlists: [
      { id: 'main', name: 'Main', slides },
      { id: 'other', slides: [] },
    ],
    ...more,
  }) as unknown as ContentDocument;

test('a slide without an id keeps the one that it has by its place, wherever it is moved', () => {
  const before = content([
    { kind: 'text', title: 'one' },
    { kind: 'text', title: 'two' },
    { id: 'x', kind: 'web' },
  ]);
  const after = editSlides(before, 'main', (slides) => moveAll(slides, new Set([0]), 3));
  expect(after.playlists?.[0]?.slides.map(({ id }) => id)).toEqual(['main-2', 'x', 'main-1']);
  expect(changesBetween(before, after)[0]?.slides.filter(({ type }) => type !== 'changed')).not.toEqual([]);
});

test('ids are readable and free', () => {
  expect(freeId('Café & Bar', [])).toBe('cafe-bar');
  expect(freeId('Café', ['cafe', 'cafe-2'])).toBe('cafe-3');
  expect(freeId('日本', [])).toBe('new');
  expect(freeId('rss', ['rss-n123456'], '-n123456')).toBe('rss-n123456-2');
  expect(titleOf({ kind: 'rss' }, freeId('rss', [], randomEnd()))).toBe('rss');
  expect(titleOf({ kind: 'rss' }, 'news-202511')).toBe('news-202511');
});

test('changes are named with the screens that they concern', () => {
  const before = content([{ id: 'a', kind: 'text', title: 'A' }]);
  const after = content([
    { id: 'a', kind: 'text', title: 'B' },
    { id: 'b', kind: 'web', media_url: 'https://b' },
  ]);
  expect(changesBetween(before, after)).toEqual([
    {
      type: 'changed',
      list: 'playlists',
      name: 'Main',
      fields: [],
      slides: [
        { type: 'changed', id: 'a', title: 'B', fields: ['title'] },
        { type: 'added', id: 'b', title: 'b', fields: [] },
      ],
    },
  ]);
  expect(screensConcerned(before, after)).toEqual(['Lobby']);
  expect(changesBetween(before, before)).toEqual([]);
});

test('the folder of a tag has what its screens can play: by their playlist, a programme or a zone', () => {
  const playlist = (id: string, ...slides: object[]) => ({
    id,
    slides: slides.map((slide) => ({ kind: 'text', ...slide })),
  });
  const folders = slidesByTag({
    screens: [
      { name: 'Lobby', slug: 'lobby', playlist_id: 'main', tags: ['hall', 'ground'] },
      { name: 'Bar', slug: 'bar', playlist_id: 'main', layout: 'ticker', zones: { ticker: 'news' }, tags: ['ground'] },
      { name: 'Roof', slug: 'roof', playlist_id: 'view', tags: null },
    ],
    playlists: [
      playlist('main', { id: 'a' }, {}),
      playlist('news', { id: 'n' }),
      playlist('day', { id: 'd' }),
      playlist('view', { id: 'v' }),
    ],
    programmes: [{ id: 'noon', targets: ['tag:hall'], playlist_id: 'day' }],
  });
  expect([...folders].map(([tag, slides]) => [tag, [...slides].toSorted()])).toEqual([
    ['ground', ['a', 'd', 'main-2', 'n']],
    ['hall', ['a', 'd', 'main-2']],
  ]);
});

describe('the preview', () => {
  const text = (id: string) => ({ id, kind: 'text', title: id });
  const document: ContentDocument = {
    screens: [
      { name: 'Bar', slug: 'bar', playlist_id: 'other' },
      { name: 'Lobby', slug: 'lobby', playlist_id: 'main' },
      { name: 'Hall', slug: 'hall', playlist_id: 'main' },
    ],
    playlists: [
      { id: 'other', slides: [] },
      {
        id: 'main',
        insert: { playlist_id: 'ad', every: 2, count: 1 },
        slides: [text('a'), { kind: 'playlist', playlist_id: 'nested' }, text('d')],
      },
      { id: 'nested', slides: [text('b'), { ...text('c'), schedule_mode: 'weekly' }] },
      { id: 'ad', slides: [text('x')] },
      { id: 'loop', slides: [{ kind: 'playlist', playlist_id: 'loop' }] },
    ],
    timetableGroups: [{ id: 'courses', calendar_id: 'gym' }, { id: 'trains' }],
  };
  const payload = (more: object) =>
    ({ rssFeeds: [], apiSources: [], timetableGroups: [], ...more }) as unknown as PlaylistPayload;
  const live = {
    ...joinLive([
      payload({
        rssFeeds: [{ id: 'news' }],
        timetableGroups: [{ id: 'courses', entries: ['yoga'], fetched_at: 'now' }],
      }),
      payload({ rssFeeds: [{ id: 'news' }, { id: 'sport' }], calendars: [{ id: 'gym' }] }),
    ]),
    designs: [],
    days: { today: '2026-11-22', yesterday: '2026-11-21' },
  };
  const preview = (
    id: string,
    only: number | null,
    insert = document.playlists?.find((each) => each.id === id)?.insert,
  ) => {
    const playlists = document.playlists?.map((each) => (each.id === id ? { ...each, insert: insert ?? null } : each));
    const playlist = playlists?.find((each) => each.id === id);
    return previewPayload({ ...document, playlists: playlists ?? [] }, playlist ?? { id, slides: [] }, only, live);
  };

  test('plays nested and inserted slides in their places, and a slide that stands for a playlist as its round', () => {
    const shown = (...asked: Parameters<typeof preview>): string =>
      preview(...asked)
        .slides.map(({ id, schedule_mode }) => (schedule_mode === 'always' ? id : `(${id})`))
        .join(' ');
    expect(shown('main', null)).toBe('a b x (c) d x');
    expect([shown('main', 0), shown('main', 1), shown('nested', 1)]).toEqual(['a', 'b c', 'c']);
    // A draft may be wrong.
    expect(shown('main', null, { playlist_id: 'ad', every: 0, count: 1 })).toBe('a b (c) d');
    expect(shown('loop', 0)).toBe('');
  });

  test('has the live data of the screens that can play the playlist, and of a timetable the events of its calendar', () => {
    expect(screensWithData(document, ['nested'])).toEqual(['hall']);
    expect(screensWithData(document, ['loop'])).toEqual(['bar', 'hall']);
    const { rssFeeds, calendars, timetableGroups } = preview('main', null);
    expect([rssFeeds, calendars].map((each) => each?.map(({ id }) => id))).toEqual([['news', 'sport'], ['gym']]);
    expect(timetableGroups).toEqual([
      { id: 'courses', name: 'courses', entries: ['yoga'], fetched_at: 'now' },
      { id: 'trains', name: 'trains', entries: [] },
    ]);
  });
});

test('issues are found at their field, without those of slides whose number begins alike', () => {
  const issues = ['playlists[0].slides[1].title', 'playlists[0].slides[10].title'].map((path) => ({
    path,
    message: `"It \\"is\\": so": is not shown: ${path}`,
  }));
  const [found, ...others] = issuesAt(issues, 'playlists[0].slides[1]');
  expect([found?.path, others]).toEqual(['playlists[0].slides[1].title', []]);
  expect(shortMessage(issues[0] as (typeof issues)[number])).toBe('Is not shown: playlists[0].slides[1].title');
});

test('every kind of slide has a form, made of the schema of the file', () => {
  const forms = createForms(z.toJSONSchema(contentFile, { io: 'input' }));
  expect(forms.kinds.toSorted()).toEqual([...slideKinds, 'playlist'].toSorted());
  const types = (kind: string) =>
    Object.fromEntries(
      [...forms.slide(kind).fields, ...forms.slide(kind).content].map(({ name, type, isRequired }) => [
        name,
        isRequired ? `${type}!` : type,
      ]),
    );
  expect(types('video')).toMatchObject({
    media_url: 'media!',
    duration_seconds: 'number',
    schedule_mode: 'enum',
    fit: 'enum',
    focus: 'focus',
    muted: 'boolean',
    volume: 'number',
  });
  expect(types('playlist')).toMatchObject({ playlist_id: 'playlist!' });
  expect(types('rss')).toMatchObject({ feed_id: 'feed!', items: 'number' });
  expect(types('text')).toMatchObject({ title: 'text', body: 'long', background: 'colour' });
  expect(forms.record('rssFeeds').map(({ name }) => name)).toEqual(['id', 'name', 'url', 'refresh_seconds']);
});

test('a playlist or screen that is deleted leaves nothing that names it', () => {
  const due = (id: string, playlist_id: string, targets: string[]) => ({ id, playlist_id, targets });
  const document = {
    screens: [
      { slug: 'bar', name: 'Bar', playlist_id: 'gone', zones: { ticker: 'news', sidebar: 'gone' } },
      { slug: 'hall', name: 'Hall', playlist_id: 'news' },
    ],
    playlists: [
      { id: 'gone', slides: [] },
      {
        id: 'news',
        insert: { playlist_id: 'gone', every: 2, count: 1 },
        slides: [{ kind: 'playlist', playlist_id: 'gone' }, { kind: 'text' }],
      },
    ],
    programmes: [due('a', 'gone', ['all']), due('b', 'news', ['bar']), due('c', 'news', ['bar', 'hall'])],
  };
  const { screens, playlists, programmes } = withoutPlaylist(document, 'gone');
  expect(screens[0]).toMatchObject({ playlist_id: null, zones: { ticker: 'news', sidebar: null } });
  expect([playlists?.map(({ id }) => id), programmes?.map(({ id }) => id)]).toEqual([['news'], ['b', 'c']]);
  // The slide behind it keeps the id that it had by its place.
  expect(playlists).toEqual([{ id: 'news', slides: [{ id: 'news-2', kind: 'text' }] }]);
  const left = withoutScreen(document, 'bar');
  expect(left.programmes?.map(({ id, targets }) => [id, targets])).toEqual([
    ['a', ['all']],
    ['c', ['hall']],
  ]);
  expect(screensConcerned(document, withoutPlaylist(document, 'gone'))).toEqual(['Bar', 'Hall']);
});

test.each([
  ['datetime-local', '', 'datetime-local'],
  ['datetime-local', '2026-12-24T08:00', 'datetime-local'],
  ['datetime-local', '2026-12-24T08:00:30.5', 'datetime-local'],
  ['datetime-local', '2026-12-24', null],
  ['datetime-local', '2026-12-24 08:00', null],
  ['datetime-local', '2026-12-24T08:00Z', null],
  ['datetime-local', '2026-12-24T08:00+01:00', null],
  ['date', '2026-12-24', 'date'],
  ['date', '2026-12-24T08:00', null],
  ['time', '08:00', 'time'],
  ['time', '8', null],
] as const)('of the type %s, %s is changed in a field of the type %s (null: text)', (type, value, expected) => {
  expect(typeFor(type, value)).toEqual(expected === null ? {} : { type: expected });
});
