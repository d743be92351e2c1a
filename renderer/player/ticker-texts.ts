/** What a ticker says of a slide: the same as the slide on a screen of its own, in one line. */
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import { ageOf } from '../../service/domain/age.ts';
import { localeOf } from '../shared/language.ts';
import { asOf } from './slides/age.ts';
import { isHtml } from './slides/markup.ts';
import { agendaOf } from './slides/timetable.ts';

const DEFAULT_ITEMS = 5;

/** Tags between which a text slide begins a line. */
const LINE = /<(?=\/?(?:blockquote|br|dd|div|dt|h[1-6]|hr|li|ol|p|pre|section|table|td|th|tr|ul)\b)/gi;

/** Elements whose text a slide does not show. */
const UNSEEN = 'audio, iframe, noembed, noframes, noscript, script, style, title, video, xmp';

const plain = (body: string | null): string => {
  if (body === null || !isHtml(body)) return body ?? '';
  const page = new DOMParser().parseFromString(body.replace(LINE, ' <'), 'text/html');
  for (const each of page.querySelectorAll(UNSEEN)) each.remove();
  return page.body.textContent.trim();
};

const headlinesOf = ({ content }: Slide, { rssFeeds = [] }: PlaylistPayload): string[] => {
  const feed = rssFeeds.find(({ id }) => id === content?.['feed_id']);
  const count = Number(content?.['items'] ?? DEFAULT_ITEMS);
  return feed?.items.slice(0, count).map((item) => item.title ?? item.summary ?? '') ?? [];
};

/** What is to come today, else on the next day that has anything, with its name. */
const entriesOf = (
  { content }: Slide,
  { timetableGroups = [] }: PlaylistPayload,
  now: number,
  timeZone: string,
): string[] => {
  const group = timetableGroups.find(({ id }) => id === content?.['group_id']);
  const agenda = group === undefined ? null : agendaOf(group, now, timeZone);
  if (agenda === null) return [];
  const { day, daysAhead, entries } = agenda;
  const weekday =
    daysAhead === 0 ? '' : new Intl.DateTimeFormat(localeOf(navigator), { weekday: 'short', timeZone }).format(day);
  return entries.map(({ entry: { time, title, location } }) =>
    [weekday, time, title, location].filter(Boolean).join(' '),
  );
};

/** The texts of a slide at a moment; data that is too old comes after its age, or not at all. */
export const textsOf = (slide: Slide, payload: PlaylistPayload, now: number, timeZone: string): string[] => {
  const { kind, title, body, content } = slide;
  const age = ageOf(slide, payload);
  const isOld = age !== null && now >= age.oldAt;
  if (isOld && content?.['when_old'] === 'skip') return [];
  const all =
    kind === 'text'
      ? [[title, plain(body)].filter(Boolean).join(' – ')]
      : kind === 'rss'
        ? headlinesOf(slide, payload)
        : entriesOf(slide, payload, now, timeZone);
  const texts = all.filter((text) => text.trim() !== '');
  return isOld && texts.length > 0 ? [asOf(age, now, timeZone), ...texts] : texts;
};
