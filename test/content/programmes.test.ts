import { beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createPagePlan } from '../../renderer/player/page-plan.ts';
import { createChecker } from '../../service/content/checker.ts';
import { createPlans } from '../../service/content/plans.ts';
import { insertedIssue, sizeErrors } from '../../service/content/programme-sizes.ts';
import { programmeIssues } from '../../service/content/programme-warnings.ts';
import { roundListsOf } from '../../service/content/round-lists.ts';
import { validateContent } from '../../service/content/validate.ts';
import type { PlaylistPayload } from '../../service/contract/playlist.ts';
import { patience } from '../support/observe.ts';
import { untranslated } from '../support/sentences.ts';
import { startTestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { testTempo } from '../support/tempo.ts';

const text = (id: string, more: object = {}) => ({ id, kind: 'text', title: id, duration_seconds: 2, ...more });
const playlist = (id: string, ids: readonly string[] = [`${id}-one`, `${id}-two`], more: object = {}) => ({
  id,
  slides: ids.map((each) => text(each)),
  ...more,
});
const screen = (more: object = {}) => ({ name: 'Cafe', slug: 'cafe', playlist_id: 'day', tags: ['food'], ...more });
const cafe = (programmes: readonly object[], more: object = {}) => ({
  screens: [screen()],
  playlists: [playlist('day'), playlist('lunch'), playlist('evening')],
  programmes,
  ...more,
});
const lunch = { id: 'noon', targets: ['cafe'], playlist_id: 'lunch', start_time: '11:30', end_time: '14:00' };

const errorsOf = (content: object) => {
  const reading = validateContent(content);
  const errors = reading.ok ? [] : reading.issues;
  expect(untranslated({ errors })).toEqual([]);
  return errors;
};
const warningsOf = (content: object, now = '2026-11-24T10:00:00Z') => {
  const reading = validateContent(content);
  if (!reading.ok) throw new Error(JSON.stringify(reading.issues));
  const warnings = programmeIssues(reading.content, 'UTC', Date.parse(now));
  expect(untranslated({ warnings })).toEqual([]);
  return warnings.map(({ path, message }) => [path.join('.'), message]);
};

describe('programmes with errors', () => {
  it.each([
    [
      'an unknown screen',
      [{ ...lunch, targets: ['bar'] }],
      'programmes[0].targets[0]',
      'no screen with the slug "bar"',
    ],
    [
      'an unknown playlist',
      [{ ...lunch, playlist_id: 'x' }],
      'programmes[0].playlist_id',
      'no playlist with the id "x"',
    ],
    ['one id twice', [lunch, lunch], 'programmes[1].id', 'used more than once'],
    ['a priority of 11', [{ ...lunch, priority: 11 }], 'programmes[0].priority', '10'],
    ['a day of 8', [{ ...lunch, days: [8] }], 'programmes[0].days[0]', '7'],
    [
      'a date that does not exist',
      [{ ...lunch, dates: ['2026-02-30'] }],
      'programmes[0].dates[0]',
      'a day that exists',
    ],
    ['no target', [{ ...lunch, targets: [] }], 'programmes[0].targets', 'at least one target'],
  ])('are refused: %s', (_, programmes, path, message) => {
    expect(errorsOf(cafe(programmes))).toEqual([{ path, message: expect.stringContaining(message) }]);
  });

  it('are taken with null in place of what is absent', () => {
    const nothing = { name: null, days: null, dates: null, start_time: null, end_time: null, start_date: null };
    expect(errorsOf(cafe([{ ...lunch, ...nothing, end_date: null, priority: null }]))).toEqual([]);
  });
});

describe('a playlist of a trigger', () => {
  it.each([
    ['right', 0],
    ['ahead of it', 3_600_000],
    ['behind it', -3_600_000],
    ['a day ahead of it', 86_400_000],
  ])("plays until its minutes are over by the site's clock, on a box whose own is %s", (_, ahead) => {
    const reading = validateContent(cafe([lunch]));
    if (!reading.ok) throw new Error(JSON.stringify(reading.issues));
    const siteNow = Date.parse('2026-11-24T18:00:00Z');
    const [from, until] = [siteNow, siteNow + 1_800_000].map((at) => new Date(at).toISOString()) as [string, string];
    const insertion = { playlist_id: 'evening', targets: ['cafe'], from, until };
    const plans = createPlans(reading.content, 'UTC', () => [insertion]);
    const playlistAt = (at: number) => plans.at('cafe', at + ahead, at)?.document.playlist?.id;
    expect([playlistAt(siteNow), playlistAt(siteNow + 1_800_000)]).toEqual(['evening', 'day']);
    expect(plans.at('cafe', siteNow + ahead, siteNow)?.until).toBe(siteNow + 1_800_000 + ahead);
  });
});

describe('rounds with errors', () => {
  const insert = (playlist_id: string, every: number, count: number) => ({ insert: { playlist_id, every, count } });

  it('are refused in a cycle, through nested and inserted playlists', () => {
    const playlists = [
      { id: 'day', slides: [{ kind: 'playlist', playlist_id: 'lunch' }] },
      playlist('lunch', ['a'], insert('day', 1, 1)),
    ];
    expect(errorsOf({ screens: [screen()], playlists })).toEqual([
      { path: expect.stringMatching(/^playlists\[\d\]/), message: expect.stringContaining('must not play itself') },
    ]);
  });

  it('are refused with more than a thousand slides, by the names of screen and playlist', () => {
    const ids = Array.from({ length: 600 }, (_, index) => `${index}`);
    const nested = Array.from({ length: 100 }, () => ({ kind: 'playlist', playlist_id: 'lunch' }));
    const playlists = [{ id: 'day', slides: nested }, playlist('lunch', ids)];
    expect(errorsOf({ screens: [screen()], playlists })).toEqual([
      {
        path: 'screens[0].playlist_id',
        message: expect.stringMatching(/"day".*"cafe".* 60000 slides, and may have 1000/),
      },
    ]);
  });

  it('are refused at once where lists of a hundred references stand in five lists', () => {
    const nested = (id: string) => Array.from({ length: 100 }, () => ({ kind: 'playlist', playlist_id: id }));
    const playlists = [
      ...['a', 'b', 'c', 'd'].map((id, at) => ({ id, slides: nested('bcde'[at] ?? '') })),
      playlist('e', ['x']),
    ];
    const before = process.cpuUsage();
    expect(errorsOf({ screens: [screen({ playlist_id: 'a' })], playlists })).toHaveLength(1);
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });

  it('are refused though no screen plays them yet, as a trigger may: not what is too long by another, nor a long list as it stands', () => {
    const nested = (id: string) => Array.from({ length: 100 }, () => ({ kind: 'playlist', playlist_id: id }));
    const long = Array.from({ length: 1_100 }, (_, index) => `${index}`);
    const lists = [
      { id: 'a', slides: nested('b') },
      { id: 'b', slides: nested('c') },
      playlist('c', long.slice(0, 50)),
    ];
    expect(errorsOf({ screens: [screen()], playlists: [playlist('day'), ...lists, playlist('long', long)] })).toEqual([
      { path: 'playlists[2]', message: 'a round of the playlist "b" has 5000 slides, and may have 1000' },
    ]);
  });

  it('are told before a trigger puts them above all: what is too long or too large for a screen of its targets', () => {
    const board = (_: unknown, index: number) => ({ id: `s${index}`, kind: 'template', template_id: 'board' });
    const reading = validateContent({
      screens: [screen(), { name: 'Bar', slug: 'bar', playlist_id: 'boards' }],
      playlists: [
        playlist('day'),
        { id: 'boards', slides: Array.from({ length: 60 }, board) },
        { id: 'posters', slides: Array.from({ length: 35 }, board) },
        playlist(
          'long',
          Array.from({ length: 1_001 }, (_, index) => `${index}`),
        ),
      ],
      templates: [{ id: 'board', html: 'x'.repeat(30_000) }],
    });
    if (!reading.ok) throw new Error(JSON.stringify(reading.issues));
    const issueOf = (id: string, ...targets: string[]) => insertedIssue(reading.content, targets, () => [id]);
    expect(issueOf('posters', 'cafe')).toBeNull();
    expect(issueOf('posters', 'all')).toMatch(/screen "bar" need .* MiB/);
    expect(issueOf('long', 'tag:food')).toMatch(/"long" on the screen "cafe" has 1001 slides/);
    expect(untranslated({ errors: [`The playlist cannot play there: ${issueOf('posters', 'all')}.`] })).toEqual([]);
  });

  it('are refused with more than 4 MiB: a template of 60 kB in a list of a hundred, with an insert of 99', () => {
    const slides = Array.from({ length: 100 }, (_, index) => ({
      id: `s${index}`,
      kind: 'template',
      template_id: 'board',
    }));
    const templates = [{ id: 'board', html: 'x'.repeat(60_000) }];
    const playlists = [playlist('day', ['a'], insert('boards', 1, 99)), { id: 'boards', slides }];
    expect(errorsOf({ screens: [screen()], playlists, templates })).toEqual([
      { path: 'screens[0].playlist_id', message: expect.stringMatching(/screen "cafe" need .* MiB.*"day"/) },
    ]);
    // As it was before there were programmes.
    expect(
      errorsOf({ screens: [screen({ playlist_id: 'boards' })], playlists: playlists.slice(1), templates }),
    ).toEqual([]);
  });

  it('are measured together with what the screen plays itself, also where other screens have the same programmes', () => {
    const MIB = 1024 ** 2;
    const large = (id: string, mib: number) =>
      playlist(id, [`${id}-one`], { slides: [text(id, { body: 'x'.repeat(mib * MIB) })] });
    const content = {
      screens: ['small', 'middle', 'large'].map((id) => screen({ slug: id, playlist_id: id })),
      playlists: [large('noon', 0.9), large('small', 0.05), large('middle', 1.2), large('large', 1.7)],
      programmes: [{ ...lunch, targets: ['all'], playlist_id: 'noon' }],
    };
    const message = expect.stringMatching(/screen "large" need .* MiB.*"large"/);
    expect(errorsOf(content)).toEqual([{ path: 'screens[2].playlist_id', message }]);
  });

  /** Playlists of which each plays the next one. */
  const chain = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      id: `p${index}`,
      slides: [index + 1 < count ? { kind: 'playlist', playlist_id: `p${index + 1}` } : text('last')],
    }));

  it('are judged in few steps: four hundred on twenty screens, with a chain of a thousand playlists', () => {
    const reading = validateContent({
      screens: Array.from({ length: 20 }, (_, at) => ({ name: 'S', slug: `s${at}`, playlist_id: `p${at}` })),
      playlists: chain(1_000),
      programmes: Array.from({ length: 400 }, (_, at) => ({ id: `g${at}`, targets: ['all'], playlist_id: `p${at}` })),
    });
    if (!reading.ok) throw new Error(JSON.stringify(reading.issues));
    let steps = 0;
    const lists = roundListsOf(reading.content.playlists, (_, slide) => slide);
    expect(
      sizeErrors(reading.content, lists, (more) => {
        steps += more;
      }),
    ).toEqual([]);
    expect([steps > 400_000, steps < 2_000_000]).toEqual([true, true]);
  });

  it('are not refused for timetables that no template names', () => {
    const stores = Array.from({ length: 500 }, (_, at) => at);
    const offer = (at: number) => (_: unknown, index: number) => ({
      id: `s${at}-${index}`,
      kind: 'template',
      template_id: 't0',
      title: 'Offer',
    });
    const content = {
      screens: stores.map((at) => ({ name: 'S', slug: `s${at}`, playlist_id: `p${at}` })),
      playlists: stores.map((at) => ({ id: `p${at}`, slides: Array.from({ length: 20 }, offer(at)) })),
      timetableGroups: stores.map((at) => ({ id: `g${at}`, name: 'Hours', entries: [] })),
      templates: stores.slice(0, 20).map((at) => ({ id: `t${at}`, html: '<p>{{ title }}</p>' })),
      programmes: [{ ...lunch, targets: ['all'], playlist_id: 'p0' }],
    };
    expect(errorsOf(content)).toEqual([]);
  });

  it.each<[string, { programmes?: object[]; layout?: string; sync?: boolean }]>([
    ['on many screens', { programmes: [{ ...lunch, targets: ['all'], playlist_id: 'p0' }] }],
    ['in zones', { layout: 'sidebar' }],
    ['in synchronized playlists', { sync: true }],
  ])(
    'are refused where they are too many to be judged at once: long chains %s',
    (_, { programmes = [], layout, sync }) => {
      const content = {
        screens: Array.from({ length: 4_000 }, (__, at) => ({
          name: 'S',
          slug: `s${at}`,
          playlist_id: `p${at}`,
          ...(layout && { layout, zones: { sidebar: `p${at}` } }),
        })),
        playlists: chain(4_000).map((each) => ({ ...each, ...(sync && { sync }) })),
        programmes,
      };
      expect(errorsOf(content)).toEqual([
        { path: 'playlists', message: expect.stringMatching(/too many combinations/) },
      ]);
    },
  );

  it('may need 4 MiB in the days that a page knows, however much there is for other days', () => {
    const day = (index: number): string => new Date(Date.UTC(2027, 0, 1 + index)).toISOString().slice(0, 10);
    const board = (index: number) => ({ id: `s${index}`, kind: 'template', template_id: 'board' });
    const list = (index: number) => ({ id: `d${index}`, slides: Array.from({ length: 6 }, (_, at) => board(at)) });
    const year = Array.from({ length: 60 }, (_, index) => index);
    const due = (rule: (index: number) => object) =>
      errorsOf({
        screens: [screen()],
        playlists: [playlist('day'), ...year.map(list)],
        templates: [{ id: 'board', html: 'x'.repeat(55_000) }],
        programmes: year.map((index) => ({
          id: `p${index}`,
          targets: ['all'],
          playlist_id: `d${index}`,
          ...rule(index),
        })),
      });
    const before = process.cpuUsage();
    expect(due((index) => ({ dates: [day(index)] }))).toEqual([]);
    expect(due((index) => ({ start_date: day(index), end_date: day(index) }))).toEqual([]);
    // Dates outside of what the limits of the rule allow are never due.
    expect(due(() => ({ dates: [day(0)], end_date: '2026-12-31' }))).toEqual([]);
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
    const tooMuch = { message: expect.stringMatching(/screen "cafe" need .* MiB.*"d\d+"/) };
    expect(due((index) => ({ dates: [day(index), day(40)] }))).toMatchObject([tooMuch]);
    expect(due((index) => ({ start_date: day(index), end_date: day(index + 6) }))).toMatchObject([tooMuch]);
    expect(due(() => ({ days: [1] }))).toMatchObject([tooMuch]);
  });

  it('are refused with more than 4 MiB: calendars of 500 events each', () => {
    const calendars = Array.from({ length: 40 }, (_, index) => ({ id: `c${index}`, url: 'https://example.com/a.ics' }));
    const content = (count: number, more: object = { order: 'shuffled' }) => ({
      screens: [screen({ playlist_id: 'rooms' })],
      playlists: [
        {
          id: 'rooms',
          ...more,
          slides: calendars
            .slice(0, count)
            .map(({ id }) => ({ id, kind: 'calendar', content: { calendar_id: id, view: 'day' } })),
        },
      ],
      calendars,
    });
    expect(errorsOf(content(20))).toEqual([]);
    expect(errorsOf(content(40))).toMatchObject([{ path: 'screens[0].playlist_id' }]);
    // A playlist as it is listed, too.
    expect(errorsOf(content(20, {}))).toEqual([]);
    expect(errorsOf(content(40, {}))).toMatchObject([{ path: 'screens[0].playlist_id' }]);
    // So are those that a template names, and those that are timetables.
    const board = (html: string, ids: string[]) => ({
      screens: [screen()],
      playlists: [
        { id: 'day', slides: ids.map((which) => ({ kind: 'template', template_id: 'board', content: { which } })) },
      ],
      templates: [{ id: 'board', html }],
      calendars,
      timetableGroups: calendars.map(({ id }) => ({ id, calendar_id: id })),
    });
    const ids = calendars.map(({ id }) => id);
    for (const name of ['calendars', 'timetables']) {
      expect(errorsOf(board(`{{ ${name}[which].name }}`, ids.slice(0, 20)))).toEqual([]);
      expect(errorsOf(board(`{{ ${name}[which].name }}`, ids))).toMatchObject([{ path: 'screens[0].playlist_id' }]);
      expect(errorsOf(board(`{% for each in ${name} %}{% endfor %}`, ['x']))).toMatchObject([
        { path: 'screens[0].playlist_id' },
      ]);
    }
  });

  it('are refused with more than 4 MiB: timetables, each counted once', () => {
    const entries = Array.from({ length: 1_000 }, () => ({ time: '12:00', title: 'T', detail: 'x'.repeat(500) }));
    const timetableGroups = ['a', 'b', 'c'].map((id) => ({ id, entries }));
    const boards = Array.from({ length: 22 }, () => ({ kind: 'template', template_id: 'board' }));
    const lessons = (ids: string) => [...ids].map((group_id) => ({ kind: 'timetable', content: { group_id } }));
    const content = (ids: string) => ({
      screens: [screen()],
      playlists: [{ id: 'day', order: 'shuffled', slides: [...boards, ...lessons(ids)] }],
      templates: [{ id: 'board', html: 'x'.repeat(60_000) }],
      timetableGroups,
    });
    expect(errorsOf(content('ababab'))).toEqual([]);
    expect(errorsOf(content('abc'))).toMatchObject([
      { path: 'screens[0].playlist_id', message: expect.stringMatching(/need .* MiB/) },
    ]);
  });

  it('are refused with "sync" where a slide of another playlist has no length', () => {
    const film = { id: 'film', kind: 'video', media_url: '/media/a.mp4' };
    const playlists = [
      { id: 'day', sync: true, slides: [text('a'), { kind: 'playlist', playlist_id: 'films' }] },
      { id: 'films', slides: [film] },
    ];
    expect(errorsOf({ screens: [screen()], playlists })).toEqual([
      { path: 'playlists[0].sync', message: expect.stringContaining('"film"') },
    ]);
  });

  it('are refused in a zone that cannot show them', () => {
    const web = { id: 'web', kind: 'web', media_url: 'https://example.com/' };
    const picture = { id: 'picture', kind: 'image', media_url: '/media/a.jpg' };
    const playlists = [playlist('day'), { id: 'pages', slides: [web] }, { id: 'pictures', slides: [picture] }];
    const zones = { ticker: 'pictures', sidebar: 'pages' };
    const paths = errorsOf({ screens: [screen({ layout: 'sidebar-ticker', zones })], playlists }).map(
      ({ path }) => path,
    );
    expect(paths).toEqual(['screens[0].zones.ticker', 'screens[0].zones.sidebar']);
    expect(errorsOf({ screens: [screen({ layout: 'sidebar', zones: { sidebar: 'pictures' } })], playlists })).toEqual(
      [],
    );
  });
});

describe('programmes that will not play as intended', () => {
  it.each([
    ['without days', { days: [] }, 'never due'],
    ['that ends before it begins', { start_date: '2026-12-02', end_date: '2026-12-01' }, 'never due'],
    ['of the past', { end_date: '2026-11-01' }, 'never due again'],
    ['of past dates', { dates: ['2026-01-06'] }, 'never due'],
    ['for a tag that no screen has', { targets: ['tag:drinks'] }, 'no screen has the tag "drinks"'],
  ])('are warned about: one %s', (_, more, message) => {
    expect(warningsOf(cafe([{ ...lunch, ...more }]))).toEqual([
      [expect.stringContaining('programmes.0'), expect.stringMatching(new RegExp(`^"noon": .*${message}`))],
    ]);
  });

  it('are warned about: one that is hidden by another, and not one of next month', () => {
    const event = { ...lunch, id: 'event', playlist_id: 'evening', priority: 5, start_time: null, end_time: null };
    expect(warningsOf(cafe([lunch, event]))).toEqual([['programmes.0', expect.stringContaining('"noon": is hidden')]]);
    expect(warningsOf(cafe([lunch, { ...event, start_date: '2027-01-01' }]))).toEqual([]);
  });

  it('are warned about: one whose playlist has nothing to show, which is passed over', () => {
    const playlists = [playlist('day'), { id: 'lunch', slides: [] }];
    expect(warningsOf(cafe([lunch], { playlists }))).toEqual([
      ['programmes.0.playlist_id', expect.stringContaining('nothing to show')],
    ]);
  });

  it('are warned about: one whose playlist has nothing to show in a part of its time', () => {
    const weekly = (start: string, end: string) =>
      text(start, { schedule_mode: 'weekly', schedule_start_time: start, schedule_end_time: end });
    const withLunch = (...slides: object[]) => ({
      playlists: [playlist('day'), playlist('evening'), { id: 'lunch', slides }],
    });
    const noon = weekly('12:00', '13:00');
    expect(warningsOf(cafe([lunch], withLunch(noon)))).toEqual([
      [
        'programmes.0.playlist_id',
        '"noon": the playlist "lunch" has nothing to show from 2026-11-24 11:30 to 2026-11-24 12:00: the programme is passed over',
      ],
    ]);
    expect(warningsOf(cafe([lunch], withLunch(noon, weekly('11:00', '12:00'), weekly('13:00', '15:00'))))).toEqual([]);
    // Nothing is passed over where another one is above it anyway.
    const above = { ...lunch, id: 'above', playlist_id: 'evening', priority: 1 };
    const others = [
      { ...above, id: 'before', end_time: '12:00' },
      { ...above, id: 'after', start_time: '13:00' },
    ];
    expect(warningsOf(cafe([lunch, ...others], withLunch(noon)))).toEqual([]);
  });

  it('are warned about: gaps on a screen without a playlist of its own', () => {
    expect(warningsOf(cafe([lunch], { screens: [screen({ playlist_id: null })] }))).toEqual([
      [
        'screens.0.playlist_id',
        expect.stringContaining('"Cafe": nothing is due from 2026-11-24 00:00 to 2026-11-24 11:30'),
      ],
    ]);
  });

  it('are warned about: zones that the layout does not have, and a layout without its playlist', () => {
    const screens = [screen({ layout: 'sidebar', zones: { ticker: 'lunch' } })];
    expect(warningsOf({ screens, playlists: [playlist('day'), playlist('lunch')] }).map(([path]) => path)).toEqual([
      'screens.0.zones.ticker',
      'screens.0.layout',
    ]);
  });
});

it('a plan has every slide, whatever its id', () => {
  const ids = ['__proto__', 'constructor', 'a'];
  const playlists = [playlist('day'), playlist('lunch', ids)];
  const reading = validateContent(cafe([lunch], { playlists }));
  if (!reading.ok) throw new Error(JSON.stringify(reading.issues));
  const played = createPlans(reading.content, 'UTC', () => []).at('cafe', Date.parse('2026-11-24T12:00:00Z'), 0);
  const payload = JSON.parse(JSON.stringify(played?.document)) as PlaylistPayload;
  expect(createPagePlan(payload, false).slides.map(({ id }) => id)).toEqual(['day-one', 'day-two', ...ids]);
  expect(Object.keys(payload.programme?.playlists ?? {})).toContain('__proto__');
});

it('what is said of programmes is said anew at midnight of the site', async () => {
  let now = Date.parse('2026-11-24T22:00:00Z');
  const options = { timeZone: 'Europe/Vienna', https: false };
  const log = { warn: () => {}, error: () => {} };
  const checker = createChecker({ options, log, tempo: testTempo, now: () => now } as never, {
    issues: async () => [],
  });
  const reading = validateContent(cafe([{ ...lunch, end_date: '2026-11-23' }]));
  if (!reading.ok) throw new Error(JSON.stringify(reading.issues));
  checker.check(reading.content, []);
  checker.follow();
  expect(await checker.warnings()).toEqual([]);
  now += 3_600_000;
  checker.follow();
  expect(await checker.warnings()).toMatchObject([{ message: expect.stringContaining('never due again') }]);
  await checker.close();
});

describe('the payload of a screen with programmes', () => {
  let now = 0;
  beforeEach(() => {
    now = Date.parse('2026-11-24T11:29:58Z');
  });
  const wall = () => now;
  const env = { SIGNAGE_TIME_ZONE: 'UTC' };
  const payloadOf = async ({ get }: { get(path: string): Promise<Response> }, slug = 'cafe') =>
    (await (await get(`/api/screens/${slug}/playlist`)).json()) as PlaylistPayload;
  const idsOf = ({ slides }: Pick<PlaylistPayload, 'slides'>) => slides.map(({ id }) => id);

  it('holds what is right at the moment, also after the clock was set back and forth over a boundary', async () => {
    const service = await startTestService({ content: cafe([lunch]), env, wall });
    const before = await payloadOf(service);
    expect(idsOf(before)).toEqual(['day-one', 'day-two']);
    expect(await payloadOf(service)).toEqual(before);
    now = Date.parse('2026-11-24T11:30:00Z');
    const during = await payloadOf(service);
    expect(idsOf(during)).toEqual(['lunch-one', 'lunch-two']);
    expect(during.playlist?.id).toBe('lunch');
    expect(during.revision).not.toBe(before.revision);
    expect(during.programme).toEqual(before.programme);
    expect(during.screen).toEqual(before.screen);
    now = Date.parse('2026-11-24T11:29:59Z');
    expect(await payloadOf(service)).toEqual(before);
    now = Date.parse('2026-11-24T14:00:00Z');
    expect(await payloadOf(service)).toEqual(before);
    now = Date.parse('2026-11-25T11:30:00Z');
    expect((await payloadOf(service)).programme?.from).toBe('2026-11-25T00:00:00.000Z');
  });

  it('holds in its programme all that a page needs for 8 days, each slide once', async () => {
    now = Date.parse('2026-11-24T10:00:00Z');
    const service = await startTestService({ content: cafe([{ ...lunch, days: [2, 4] }]), env, wall });
    const { programme } = await payloadOf(service);
    expect(Object.keys(programme?.slides ?? {})).toEqual(['day-one', 'day-two', 'lunch-one', 'lunch-two']);
    expect(programme?.playlists['lunch-one']).toBe('lunch');
    expect(programme?.lists.map(({ slides }) => slides)).toEqual([
      ['day-one', 'day-two'],
      ['lunch-one', 'lunch-two'],
    ]);
    expect(programme).toMatchObject({ from: '2026-11-24T00:00:00.000Z', until: '2026-12-02T00:00:00.000Z' });
    expect(programme?.spans.map(({ from, list, programme_id }) => [from.slice(5, 16), list, programme_id])).toEqual([
      ['11-24T00:00', 0, null],
      ['11-24T11:30', 1, 'noon'],
      ['11-24T14:00', 0, null],
      ['11-26T11:30', 1, 'noon'],
      ['11-26T14:00', 0, null],
      ['12-01T11:30', 1, 'noon'],
      ['12-01T14:00', 0, null],
    ]);
  });

  it('is equal on two boxes, and so is its revision', async () => {
    now = Date.parse('2026-11-24T12:00:00Z');
    const playlists = [playlist('day'), playlist('lunch', Array.from('abcdefgh'), { order: 'shuffled' })];
    const at = '2026-01-01T00:00:00.000Z';
    const screens = [screen({ created_at: at, modified_at: at })];
    const content = cafe([lunch], { playlists, screens });
    const [one, other] = await Promise.all([1, 2].map(() => startTestService({ content, env, wall })));
    const [first, second] = await Promise.all([one, other].map((each) => payloadOf(each as NonNullable<typeof one>)));
    expect(second).toEqual(first);
    expect(idsOf(first as PlaylistPayload).toSorted()).toEqual(Array.from('abcdefgh'));
  });

  it('passes over a programme whose playlist has nothing to show at that moment', async () => {
    now = Date.parse('2026-11-24T12:00:00Z');
    const off = { schedule_mode: 'weekly', schedule_start_time: '11:30', schedule_end_time: '12:30' };
    const playlists = [playlist('day'), { id: 'lunch', slides: [text('soup', off)] }];
    const service = await startTestService({ content: cafe([lunch], { playlists }), env, wall });
    expect(idsOf(await payloadOf(service))).toEqual(['soup']);
    now = Date.parse('2026-11-24T12:30:00Z');
    expect(idsOf(await payloadOf(service))).toEqual(['day-one', 'day-two']);
  });

  it('goes on where the playlist of the programme that plays is deleted, and is the own one once the programme is', async () => {
    now = Date.parse('2026-11-24T12:00:00Z');
    const service = await startTestService({ content: cafe([lunch]), env, wall });
    const before = await payloadOf(service);
    expect(idsOf(before)).toEqual(['lunch-one', 'lunch-two']);
    const playlists = [playlist('day'), playlist('evening')];
    service.writeContent(cafe([lunch], { playlists }));
    const status = async () => (await (await service.get('/healthz')).json()).content;
    await expect.poll(status, patience).toMatchObject({
      status: 'invalid',
      errors: [
        { path: 'programmes[0].playlist_id', message: expect.stringContaining('no playlist with the id "lunch"') },
      ],
    });
    expect(await payloadOf(service)).toEqual(before);
    service.writeContent(cafe([], { playlists }));
    await expect.poll(async () => idsOf(await payloadOf(service)), patience).toEqual(['day-one', 'day-two']);
  });

  it(
    'is that of the highest in rank of a thousand that are due at once, published by PUT, in bounded time',
    walk,
    async () => {
      now = Date.parse('2026-11-24T12:00:00Z');
      const { get } = await startTestService({ content: cafe([]), env, wall });
      const publish = async (programmes: readonly object[]) => {
        const body = JSON.stringify(cafe(programmes));
        const headers = { 'Content-Type': 'application/json', 'If-Match': '*' };
        const before = process.cpuUsage();
        const { status } = await get('/console/api/content', { method: 'PUT', headers, body });
        const payload = await payloadOf({ get });
        return { status, payload, ms: process.cpuUsage(before).user / 1000 };
      };
      const due = async () => (await get('/console/api/screens/cafe/programme')).json();
      const always = Array.from({ length: 1_000 }, (_, index) => ({
        id: `p${index}`,
        targets: [index % 2 === 0 ? 'all' : 'tag:food'],
        playlist_id: index === 501 ? 'evening' : 'lunch',
      }));
      const first = await publish(always);
      expect([first.status, idsOf(first.payload)]).toEqual([200, ['lunch-one', 'lunch-two']]);
      expect(first.payload.programme?.spans).toHaveLength(1);
      // The more specific target, then the later in the list.
      expect(await due()).toMatchObject({ programme_id: 'p999', reason: 'order' });
      const second = await publish(always.map((each, index) => (index === 501 ? { ...each, priority: 1 } : each)));
      expect([second.status, idsOf(second.payload)]).toEqual([200, ['evening-one', 'evening-two']]);
      expect(await due()).toMatchObject({ programme_id: 'p501', reason: 'priority' });
      // Each of another time, so that the plan has all of them.
      const time = (minutes: number): string =>
        `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
      const apart = always.map((each, index) => ({ ...each, start_time: time(index), end_time: time(index + 1) }));
      const third = await publish(apart);
      expect([
        third.status,
        third.payload.programme?.spans.filter(({ programme_id }) => programme_id === 'p720').length,
      ]).toEqual([200, 8]);
      expect(await due()).toMatchObject({ programme_id: 'p720', reason: 'only' });
      for (const { ms } of [first, second, third]) expect(ms).toBeLessThan(4_000);
    },
  );

  it('says why: what is due at any moment, and from when on something else', async () => {
    now = Date.parse('2026-11-24T12:00:00Z');
    const { get } = await startTestService({ content: cafe([lunch]), env, wall });
    const due = async (query: string, slug = 'cafe') => {
      const answer = await get(`/console/api/screens/${slug}/programme${query}`);
      return answer.json();
    };
    expect(await due('')).toEqual({
      at: '2026-11-24T12:00:00.000Z',
      playlist_id: 'lunch',
      programme_id: 'noon',
      reason: 'only',
      slides: ['lunch-one', 'lunch-two'],
      next: { at: '2026-11-24T14:00:00.000Z', playlist_id: 'day' },
    });
    expect(await due('?at=2027-03-01T11:29')).toMatchObject({
      playlist_id: 'day',
      programme_id: null,
      reason: 'default',
    });
    for (const rubbish of ['soon', '2026-11-24T11:40:00+01:00', '2026-11-24%2011:40%20foo', '2026-11-24T11:40T'])
      expect(await due(`?at=${rubbish}`)).toMatchObject({ error: { code: 'invalid_field', field: 'at' } });
    expect(await due('?at=2026-11-24T11:40:00%2B01:00')).toMatchObject({ at: '2026-11-24T10:40:00.000Z' });
    expect(await due('', 'bar')).toMatchObject({ error: { code: 'screen_not_found' } });
  });

  it('is announced to its pages after a boundary, and has zones that need no programme', async () => {
    now = Date.parse('2026-11-24T11:29:59Z');
    const screens = [
      screen(),
      { name: 'Bar', slug: 'bar', playlist_id: 'day', layout: 'sidebar', zones: { sidebar: 'lunch' } },
    ];
    const service = await startTestService({ content: cafe([lunch], { screens }), env, wall });
    const bar = await payloadOf(service, 'bar');
    expect([bar.zones?.map(({ zone }) => zone), bar.programme]).toEqual([['sidebar'], undefined]);
    expect(Object.keys(bar.zones?.[0] ?? {})).toEqual(['zone', 'playlist', 'slides']);
    const { plan, revision } = await new Promise<{ plan: string; revision: string }>((resolve) => {
      const socket = new WebSocket(`${service.url.replace('http', 'ws')}/api/screens/cafe/socket`, 'signage.v1');
      socket.onopen = () => socket.send(JSON.stringify({ type: 'hello', clientId: 'a', page: '/screen/cafe' }));
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(String(data));
        if (message.type === 'welcome') now = Date.parse('2026-11-24T11:30:00Z');
        if (message.type !== 'revision') return;
        socket.close();
        resolve(message);
      };
    });
    const payload = await payloadOf(service);
    expect([revision, plan]).toEqual([payload.revision, payload.programme?.revision]);
  });
});
