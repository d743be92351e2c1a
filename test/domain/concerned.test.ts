/** Which screens a change concerns. */
import { expect, test } from 'vitest';
import { concernedScreens, type Shown } from '../../service/domain/affected-screens.ts';

const slide = (id: string, more: object = {}) => ({ id, kind: 'text', ...more });
const before: Shown = {
  screens: [
    { slug: 'bar', name: 'Bar', playlist_id: 'main', tags: ['late'] },
    { slug: 'hall', name: 'Hall', playlist_id: 'nesting' },
    { slug: 'lift', name: 'Lift', playlist_id: 'made', zones: { ticker: 'news' } },
    { slug: 'roof', name: 'Roof' },
  ],
  playlists: [
    { id: 'main', slides: [slide('a')] },
    { id: 'nesting', slides: [slide('b', { kind: 'playlist', playlist_id: 'inner' })] },
    { id: 'inner', slides: [slide('c')], insert: { playlist_id: 'spot' } },
    { id: 'spot', slides: [slide('d')] },
    { id: 'made', slides: [slide('e', { kind: 'template', template_id: 'board' })] },
    { id: 'news', slides: [slide('f', { kind: 'rss', content: { feed_id: 'feed' } })] },
    { id: 'night', slides: [slide('g')] },
  ],
  programmes: [{ id: 'late', targets: ['tag:late'], playlist_id: 'night', days: [1] }],
  templates: [{ id: 'board' }],
  rssFeeds: [{ id: 'feed' }, { id: 'unused' }],
  apiSources: [{ id: 'prices' }],
};
const changed = (list: 'playlists' | 'templates' | 'rssFeeds' | 'apiSources' | 'programmes', id: string): Shown => ({
  ...before,
  [list]: before[list]?.map((each) => (each.id === id ? { ...each, name: 'New' } : each)),
});

test.each<[string, Shown, string[]]>([
  ['nothing', before, []],
  ['lists that are empty in place of none', { ...before, calendars: [], timetableGroups: [] }, []],
  ['its own playlist', changed('playlists', 'main'), ['bar']],
  ['what is nested', changed('playlists', 'inner'), ['hall']],
  ['what is inserted there', changed('playlists', 'spot'), ['hall']],
  ['what is in a zone', changed('playlists', 'news'), ['lift']],
  ['a playlist of a programme', changed('playlists', 'night'), ['bar']],
  ['a programme', changed('programmes', 'late'), ['bar']],
  ['a template', changed('templates', 'board'), ['lift']],
  ['a feed', changed('rssFeeds', 'feed'), ['lift']],
  ['a source, which templates alone show', changed('apiSources', 'prices'), ['lift']],
  ['the style', { ...before, style: { corner: 4 } }, ['bar', 'hall', 'lift', 'roof']],
  ['a screen that is new', { ...before, screens: [...(before.screens ?? []), { slug: 'new', name: 'New' }] }, ['new']],
  ['a screen that is gone', { ...before, screens: before.screens?.slice(1) ?? [] }, ['bar']],
  ['everything', {}, ['bar', 'hall', 'lift', 'roof']],
])('%s', (_, after, slugs) => {
  expect(concernedScreens(before, after).map(({ slug }) => slug)).toEqual(slugs);
});

test('a first document concerns all of its screens', () => {
  expect(concernedScreens({}, before)).toHaveLength(4);
});
