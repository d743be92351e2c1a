/** A ticker says of feeds and timetables what their slides show, and nothing that is over or too old. */
import { afterAll, expect, test, vi } from 'vitest';
import { textsOf } from '../../renderer/player/ticker-texts.ts';
import { busy } from '../../service/contract/calendar-values.ts';
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';

vi.stubGlobal('navigator', { language: 'en-GB', languages: ['en-GB'] });
afterAll(() => void vi.unstubAllGlobals());

const entry = (time: string, title: string, days_json: string | null = null) => ({
  ...{ id: title, time, title, detail: null, location: null, days_json },
});
// A Saturday.
const at = (time: string): number => Date.parse(`2026-11-21T${time}:00+01:00`);
const iso = (time: string): string => new Date(at(time)).toISOString();
const payload = {
  rssFeeds: [
    { id: 'news', fetched_at: iso('08:00'), items: [{ title: 'Bridge opened' }, { title: null, summary: 'Rain' }] },
  ],
  timetableGroups: [
    { id: 'trains', entries: [entry('12:00', 'Graz'), entry('08:15', 'Linz'), entry('13:00', 'Wels', '[1]')] },
    { id: 'oak', fetched_at: iso('08:00'), entries: [entry('12:00', busy)] },
    { id: 'elm', fetched_at: iso('08:00'), entries: [entry('07:00', 'Choir', '[6]')] },
    { id: 'ash', fetched_at: iso('08:00'), entries: [entry('07:00', 'Chess', '[5]')] },
    { id: 'oaks', entries: [entry('07:00', 'Mass', '[6]')] },
  ],
} as unknown as PlaylistPayload;
const said = (kind: Slide['kind'], content: object, time: string): string[] =>
  textsOf({ id: 'a', kind, title: null, body: null, content } as unknown as Slide, payload, at(time), 'Europe/Vienna');

test.each<[string, Slide['kind'], object, string, string[]]>([
  ['headlines', 'rss', { feed_id: 'news' }, '09:00', ['Bridge opened', 'Rain']],
  ['so many as the slide wants', 'rss', { feed_id: 'news', items: 1 }, '09:00', ['Bridge opened']],
  [
    'headlines that are too old come after their age',
    'rss',
    { feed_id: 'news', max_age_seconds: 3_600 },
    '09:00',
    ['As of 08:00', 'Bridge opened', 'Rain'],
  ],
  ['or not at all', 'rss', { feed_id: 'news', max_age_seconds: 3_600, when_old: 'skip' }, '09:00', []],
  ['nothing of a feed that is not there', 'rss', { feed_id: 'sport' }, '09:00', []],
  ['entries of the day in their order', 'timetable', { group_id: 'trains' }, '08:15', ['08:15 Linz', '12:00 Graz']],
  ['not what is over', 'timetable', { group_id: 'trains' }, '08:16', ['12:00 Graz']],
  [
    'after the last, those of the next day',
    'timetable',
    { group_id: 'trains' },
    '12:01',
    ['Sun 08:15 Linz', 'Sun 12:00 Graz'],
  ],
  ['of the weekday of today, what recurs', 'timetable', { group_id: 'oaks' }, '09:00', ['Sat 07:00 Mass']],
  ['nothing of a calendar whose only event is over', 'timetable', { group_id: 'elm' }, '09:00', []],
  ['what a calendar has in six days', 'timetable', { group_id: 'ash' }, '09:00', ['Fri 07:00 Chess']],
  ['a private event in words of the page', 'timetable', { group_id: 'oak' }, '09:00', ['12:00 Not to be told']],
  [
    'a calendar of four hours ago with its age',
    'timetable',
    { group_id: 'oak' },
    '12:00',
    ['As of 08:00', '12:00 Not to be told'],
  ],
])('it says %s', (_, kind, content, time, expected) => {
  expect(said(kind, content, time)).toEqual(expected);
});
