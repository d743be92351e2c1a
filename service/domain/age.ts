/** How old the data of slides may be; pure. */
import type { PlaylistPayload, Slide } from '../contract/playlist.ts';
import { calendarIdsOf } from './calendar-view.ts';
import { namedBy } from './template.ts';

/** Seconds that data may be old where the slide does not say. */
export const USUAL = 86_400;
/** Of calendars, and of timetables that have their events. */
export const USUAL_CALENDAR = 14_400;

interface Fetched {
  fetched_at?: string | null | undefined;
}

export interface Age {
  /** When the data was fetched, ms since the epoch. */
  fetchedAt: number;
  /** When it becomes too old. */
  oldAt: number;
}

/** Of data that was fetched then, as the slide has it. */
export const agedFrom = (fetchedAt: number, { content }: Pick<Slide, 'content'>, usual = USUAL): Age => {
  const most: unknown = content?.['max_age_seconds'];
  return { fetchedAt, oldAt: fetchedAt + 1_000 * (typeof most === 'number' ? most : usual) };
};

/** What a slide shows that was fetched, and how old each may be where the slide does not say, in seconds. */
const sourcesOf = (slide: Slide, payload: PlaylistPayload): [source: Fetched, usual: number][] => {
  const { rssFeeds = [], apiSources = [], timetableGroups = [], calendars = [] } = payload;
  const { kind, content } = slide;
  const of = (sources: readonly Fetched[], usual: number) => sources.map((each): [Fetched, number] => [each, usual]);
  if (kind === 'rss')
    return of(
      rssFeeds.filter(({ id }) => id === content?.['feed_id']),
      USUAL,
    );
  if (kind === 'timetable')
    return of(
      timetableGroups.filter(({ id }) => id === content?.['group_id']),
      USUAL_CALENDAR,
    );
  if (kind === 'calendar') {
    const ids = calendarIdsOf(content);
    return of(
      calendars.filter(({ id }) => ids.includes(id)),
      USUAL_CALENDAR,
    );
  }
  if (kind !== 'template') return [];
  return [
    ...of(namedBy(slide, 'feeds', rssFeeds), USUAL),
    ...of(namedBy(slide, 'sources', apiSources), USUAL),
    ...of(namedBy(slide, 'timetables', timetableGroups), USUAL_CALENDAR),
    ...of(namedBy(slide, 'calendars', calendars), USUAL_CALENDAR),
  ];
};

/** The age of what becomes too old first; null: the slide shows nothing that was fetched. */
export const ageOf = (slide: Slide, payload: PlaylistPayload): Age | null => {
  const ages = sourcesOf(slide, payload).flatMap(([{ fetched_at }, usual]) =>
    fetched_at == null ? [] : [agedFrom(Date.parse(fetched_at), slide, usual)],
  );
  return ages.reduce<Age | null>((first, each) => (first === null || each.oldAt < first.oldAt ? each : first), null);
};
