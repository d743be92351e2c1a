import { describe, expect, it } from 'vitest';
import { fingerprint } from '../../renderer/player/replace-playlist.ts';
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';

const payload = (change: (payload: PlaylistPayload) => void = () => {}): PlaylistPayload => {
  const told = {
    refresh_seconds: 900,
    status: 'ok' as const,
    fetched_at: '2026-01-01T00:00:00.000Z',
    url: 'http://a/',
  };
  const item = { id: '1', title: 'One', link: null, summary: null, image_url: null, published_at: null };
  const made: PlaylistPayload = {
    screen: { id: 's', name: 'S', slug: 's', playlist_id: 'p', created_at: '', modified_at: '' },
    playlist: { id: 'p', name: 'P', fade_between_slides: true },
    slides: [],
    rssFeeds: ['news', 'sport'].map((id) => ({ id, name: id, ...told, items: [item] })),
    apiSources: ['weather', 'air'].map((id) => ({ id, name: id, ...told, data: { value: 1 } })),
    timetableGroups: ['trains', 'ships'].map((id) => ({ id, name: id, entries: [] })),
    revision: 'r',
  };
  change(made);
  return made;
};
const slide = (kind: Slide['kind'], content: Slide['content'], html = ''): Slide =>
  ({ id: 'a', kind, content, template: { id: 't', name: 't', html } }) as unknown as Slide;

const news = slide('rss', { feed_id: 'news' });
const trains = slide('timetable', { group_id: 'trains' });
const template = (html: string): Slide => slide('template', null, html);

const changes = {
  'an item of news': ({ rssFeeds: [feed] }: PlaylistPayload) => void feed?.items.pop(),
  'an item of sport': ({ rssFeeds: [, feed] }: PlaylistPayload) => void feed?.items.pop(),
  'the time of news': ({ rssFeeds: [feed] }: PlaylistPayload) => void Object.assign(feed ?? {}, { fetched_at: null }),
  'the status of news': ({ rssFeeds: [feed] }: PlaylistPayload) => void Object.assign(feed ?? {}, { status: 'stale' }),
  'the name of news': ({ rssFeeds: [feed] }: PlaylistPayload) => void Object.assign(feed ?? {}, { name: 'New' }),
  'the weather': ({ apiSources: [source] }: PlaylistPayload) => void Object.assign(source ?? {}, { data: 2 }),
  'the air': ({ apiSources: [, source] }: PlaylistPayload) => void Object.assign(source ?? {}, { data: 2 }),
  'the trains': ({ timetableGroups: [group] }: PlaylistPayload) => void Object.assign(group ?? {}, { name: 'New' }),
  'the ships': ({ timetableGroups: [, group] }: PlaylistPayload) => void Object.assign(group ?? {}, { name: 'New' }),
  'the name of the screen': ({ screen }: PlaylistPayload) => void Object.assign(screen, { name: 'New' }),
  'the time of the screen': ({ screen }: PlaylistPayload) => void Object.assign(screen, { modified_at: 'now' }),
};
type Change = keyof typeof changes;
const everything = (Object.keys(changes) as Change[]).filter((name) => name !== 'the time of the screen');
const but = (...left: Change[]): Change[] => everything.filter((name) => !left.includes(name));

describe('a slide restarts', () => {
  it.each<[string, Slide, Change[]]>([
    ['a text', slide('text', null, '{{ feeds }}'), []],
    ['headlines', news, ['an item of news', 'the name of news']],
    ['a timetable', trains, ['the trains']],
    ['a template of nothing', template('Hello'), ['the name of the screen']],
    [
      'a template of one source',
      template('{{ sources.weather.data.value }}'),
      ['the weather', 'the name of the screen'],
    ],
    [
      'a template of a feed in brackets',
      template("{% for item in feeds [ 'news' ].items %}{{ item.title }}{% endfor %}"),
      ['an item of news', 'the name of news', 'the name of the screen'],
    ],
    [
      'a template that tells when',
      template('{{ feeds["news"].fetched_at }}'),
      ['an item of news', 'the time of news', 'the name of news', 'the name of the screen'],
    ],
    [
      'a template of what its content names',
      slide(
        'template',
        { source: 'weather' },
        '{{ sources[content.source].data }} {{ feeds }} {{ timetables | size }}',
      ),
      but('the time of news', 'the status of news', 'the air'),
    ],
    [
      'a template of all that there is',
      template('{{ feeds }}{{ sources }}{{ timetables }} status fetched_at'),
      everything,
    ],
  ])('%s: by what it shows and by nothing else', (_, each, expected) => {
    const before = fingerprint(each, payload());
    const renewing = Object.entries(changes).filter(([, change]) => fingerprint(each, payload(change)) !== before);
    expect(renewing.map(([name]) => name)).toEqual(expected);
  });

  it('by its own change, and in the variant that has no live data', () => {
    expect(fingerprint({ ...news, title: 'New' }, payload())).not.toBe(fingerprint(news, payload()));
    const { rssFeeds: _1, apiSources: _2, timetableGroups: _3, ...baseline } = payload();
    for (const each of [news, trains, template('{{ feeds }}')]) {
      expect(typeof fingerprint(each, baseline as PlaylistPayload)).toBe('string');
    }
  });
});
