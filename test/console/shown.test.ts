/** Which slide a display shows, and which screens can go to one: playlists of programmes, nested and inserted ones, triggers. */
import { expect, test } from 'vitest';
import { isOnSchedule, screensThatCanShow } from '../../renderer/console/content/showable.ts';
import type { ContentDocument } from '../../renderer/console/model/document.ts';
import { isRunning, shownSlide } from '../../renderer/console/model/shown.ts';
import type { Connection } from '../../renderer/console/model/wire.ts';

const text = (id: string, title = id) => ({ id, kind: 'text', title });
const content: ContentDocument = {
  screens: [
    { name: 'Hall', slug: 'hall', playlist_id: 'own', tags: ['late'] },
    { name: 'Bar', slug: 'bar', playlist_id: 'own' },
  ],
  playlists: [
    { id: 'alarm', slides: [text('leave'), text('hello', 'Alarm')] },
    { id: 'own', slides: [text('hello', 'Own'), { kind: 'text', title: 'No id' }] },
    {
      id: 'night',
      slides: [text('moon'), text('hello', 'Night'), { id: 'in', kind: 'playlist', playlist_id: 'nested' }],
      insert: { playlist_id: 'ads', every: 1, count: 1 },
    },
    { id: 'nested', slides: [text('deep')] },
    { id: 'ads', slides: [text('ad')] },
  ],
  programmes: [
    { id: 'night', targets: ['tag:late'], playlist_id: 'night', days: [5], start_time: '20:00', end_time: '23:00' },
  ],
};

test.each([
  ['of its own playlist', 'bar', 'own-2', null, 'No id'],
  ['of the playlist of a programme', 'hall', 'moon', 'moon', 'moon'],
  ['of a nested playlist', 'hall', 'deep', 'deep', 'deep'],
  ['of an inserted playlist', 'hall', 'ad', 'ad', 'ad'],
  ['of a playlist that a trigger put there', 'bar', 'leave', 'leave', 'leave'],
  ['with an id that others have, by its title', 'bar', 'hello', 'Alarm', 'Alarm'],
  ['with an id that others have, changed since', 'hall', 'hello', 'Before', 'Own'],
  ['that the document does not have', 'hall', 'gone', 'Gone', undefined],
])('a slide is found: one %s', (_, slug, currentSlideId, currentSlideTitle, title) => {
  const connection = { currentSlideId, currentSlideTitle } as Connection;
  expect(shownSlide(connection, slug, content, [])?.slide.title).toBe(title);
});

const evening = Date.parse('2026-11-27T21:00:00Z');
const noon = Date.parse('2026-11-27T12:00:00Z');
test.each([
  ['own', 'hello', noon, ['hall', 'bar']],
  ['own', 'own-2', noon, ['hall', 'bar']],
  ['own', 'hello', evening, ['bar']],
  ['night', 'moon', noon, []],
  ['night', 'moon', evening, ['hall']],
  ['night', 'in', evening, []],
  ['nested', 'deep', evening, ['hall']],
  ['ads', 'ad', evening, ['hall']],
  ['ads', 'not-published', evening, []],
  ['gone', 'hello', evening, []],
])('the slide %s/%s can be shown where it is due now', (playlistId, slideId, at, slugs) => {
  const question = { content, playlistId, slideId, at, timeZone: 'UTC', shownOn: () => [] };
  expect(screensThatCanShow(question)).toEqual(slugs);
});

test.each([
  ['hello', noon, true],
  ['morning', noon, false],
  ['morning', noon - 4 * 3_600_000, true],
  ['own-3', noon, false],
  ['own-3', evening, true],
  ['gone', noon, false],
])('the slide %s is on schedule or not', (slideId, at, expected) => {
  const schedule = { schedule_mode: 'weekly', schedule_start_time: '20:00' };
  const slides = [
    text('hello'),
    { ...text('morning'), schedule_mode: 'weekly', schedule_end_time: '11:00' },
    { kind: 'text', title: 'Evening', ...schedule },
  ];
  const scheduled: ContentDocument = { ...content, playlists: [{ id: 'own', slides }] };
  const question = { content: scheduled, playlistId: 'own', slideId, at, timeZone: 'UTC' };
  expect(isOnSchedule(question)).toBe(expected);
});

test('and where a display shows another slide of its playlist, which a trigger put there', () => {
  const shownOn = (slug: string) => (slug === 'bar' ? [null, 'leave'] : ['hello-2']);
  const question = { content, playlistId: 'alarm', slideId: 'hello', at: noon, timeZone: 'UTC', shownOn };
  expect(screensThatCanShow(question)).toEqual(['bar']);
});

test('a takeover is on from its start, and while displays show it by a clock that was set back', () => {
  const now = Date.UTC(2026, 10, 28);
  const at = (ms: number, shown: number): boolean => isRunning({ from: new Date(now + ms).toISOString(), shown }, now);
  expect([at(0, 0), at(1, 0), at(1, 2)]).toEqual([true, false, true]);
});
