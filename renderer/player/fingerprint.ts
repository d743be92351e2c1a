/** What a slide shows, so that it is begun anew when that changes, and only then. */
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';

interface Named {
  id: string;
}

/** `feeds.ID`, `feeds["ID"]`, or `feeds` in any other way. */
const USES = /\b(feeds|sources|timetables)\b(?:\s*\.\s*([A-Za-z_][\w-]*)|\s*\[\s*(?:"([^"]*)"|'([^']*)')\s*\])?/g;

/** The records of a kind that a template may print; all of them where it doesn't say by their ids which. */
const usedOf = <T extends Named>(html: string, name: string, records: readonly T[]): readonly T[] => {
  const uses = [...html.matchAll(USES)].filter(([, used]) => used === name);
  const ids = uses.map(([, , property, quoted, single]) => property ?? quoted ?? single);
  return ids.includes(undefined) ? records : records.filter(({ id }) => ids.includes(id));
};

/** What is told of a feed each time that it is fetched, and is seen only by who asks for it. */
const FLEETING = ['status', 'fetched_at'] as const;

const withoutUnseen = (html: string, record: Named): Named => {
  const unseen: readonly string[] = FLEETING.filter((field) => !html.includes(field));
  return Object.fromEntries(Object.entries(record).filter(([field]) => !unseen.includes(field))) as unknown as Named;
};

/** The live data that a slide draws on. The baseline variant of the interface has none at all. */
const dataOf = (slide: Slide, payload: PlaylistPayload): unknown => {
  const { screen, rssFeeds = [], apiSources = [], timetableGroups = [] } = payload;
  if (slide.kind === 'rss') {
    const feed = rssFeeds.find(({ id }) => id === slide.content?.['feed_id']);
    return feed && [feed.name, feed.items];
  }
  if (slide.kind === 'timetable') return timetableGroups.find(({ id }) => id === slide.content?.['group_id']);
  if (slide.kind !== 'template') return null;
  const html = slide.template?.html ?? '';
  return [
    [screen.id, screen.name, screen.slug],
    usedOf(html, 'feeds', rssFeeds).map((feed) => withoutUnseen(html, feed)),
    usedOf(html, 'sources', apiSources).map((source) => withoutUnseen(html, source)),
    usedOf(html, 'timetables', timetableGroups),
  ];
};

/** Equal where a slide looks the same under both payloads. */
export const fingerprint = (slide: Slide, payload: PlaylistPayload): string =>
  JSON.stringify([slide, dataOf(slide, payload)]);

/** Whether a slide looks the same under another payload, which may have it no more. */
export const isSame = (slide: Slide, before: PlaylistPayload, after: PlaylistPayload): boolean => {
  const now = after.slides.find(({ id }) => id === slide.id);
  return now !== undefined && fingerprint(slide, before) === fingerprint(now, after);
};
