/** Fingerprints of what a slide shows: a slide restarts only when its fingerprint changes. */
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';

interface Named {
  id: string;
}

/** Matches `feeds.ID`, `feeds["ID"]`, or `feeds` in any other use. */
const USES = /\b(feeds|sources|timetables)\b(?:\s*\.\s*([A-Za-z_][\w-]*)|\s*\[\s*(?:"([^"]*)"|'([^']*)')\s*\])?/g;

/** The records that a template names by id; all of them if it uses the list in another way. */
const usedOf = <T extends Named>(html: string, name: string, records: readonly T[]): readonly T[] => {
  const uses = [...html.matchAll(USES)].filter(([, used]) => used === name);
  const ids = uses.map(([, , property, quoted, single]) => property ?? quoted ?? single);
  return ids.includes(undefined) ? records : records.filter(({ id }) => ids.includes(id));
};

/** Fields that change with each fetch of a feed; they count only if the template prints them. */
const FETCH_FIELDS = ['status', 'fetched_at'] as const;

const withoutUnseen = (html: string, record: Named): Named => {
  const unseen: readonly string[] = FETCH_FIELDS.filter((field) => !html.includes(field));
  return Object.fromEntries(Object.entries(record).filter(([field]) => !unseen.includes(field))) as unknown as Named;
};

/** The live data that a slide uses. Payloads of the baseline variant contain no live data. */
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

/** A string that is equal if a slide looks the same with both payloads. */
export const fingerprint = (slide: Slide, payload: PlaylistPayload): string =>
  JSON.stringify([slide, dataOf(slide, payload)]);

/** Whether a slide looks the same with the payload `after`; false if it was removed. */
export const isSame = (slide: Slide, before: PlaylistPayload, after: PlaylistPayload): boolean => {
  const now = after.slides.find(({ id }) => id === slide.id);
  return now !== undefined && fingerprint(slide, before) === fingerprint(now, after);
};
