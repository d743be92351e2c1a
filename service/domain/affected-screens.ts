/** Which screens a change of the document concerns; pure. Shared by the console and the command line. */
import { isEqual } from './merge-documents.ts';
import { type PlayablePlaylist, type PlayableScreen, type Playables, playablePlaylists } from './playable.ts';
import { programmesOf } from './programmes.ts';

interface Slide {
  kind: string;
  playlist_id?: unknown;
  template_id?: unknown;
  content?: Record<string, unknown> | null | undefined;
}

interface Playlist extends PlayablePlaylist {
  slides: readonly Slide[];
}

interface Screen extends PlayableScreen {
  layout?: unknown;
  hours?: unknown;
}

type Named = readonly { id: string }[];

/** Of a document, what decides where a change is seen. */
export interface Shown extends Playables<Playlist, Screen> {
  templates?: Named | undefined;
  rssFeeds?: Named | undefined;
  apiSources?: Named | undefined;
  timetableGroups?: Named | undefined;
  calendars?: Named | undefined;
  style?: unknown;
}

/** What a screen shows: its playlists, and the templates, feeds and timetables that their slides name; null: there is none. */
const shownBy = (content: Shown, slug: string): unknown => {
  const { programmes = [], templates = [], rssFeeds = [], apiSources = [], timetableGroups = [] } = content;
  const { calendars = [], style } = content;
  const screen = content.screens?.find((each) => each.slug === slug);
  if (screen === undefined) return null;
  const playlists = playablePlaylists(content, slug);
  const slides = playlists.flatMap((playlist) => playlist.slides);
  const named = (records: Named, ids: readonly unknown[]) => records.filter(({ id }) => ids.includes(id));
  const { hours, layout, zones } = screen;
  return {
    style,
    hours,
    layout,
    zones,
    playlists,
    calendars,
    programmes: programmesOf(programmes, screen),
    templates: named(
      templates,
      slides.map((slide) => slide.template_id),
    ),
    feeds: named(
      rssFeeds,
      slides.map((slide) => slide.content?.['feed_id']),
    ),
    groups: named(
      timetableGroups,
      slides.map((slide) => slide.content?.['group_id']),
    ),
    // Templates may name any of them.
    sources: slides.some(({ kind }) => kind === 'template') && [rssFeeds, apiSources, timetableGroups],
  };
};

/** The screens on which something differs: those of the later document, then those that it no longer has. */
export const concernedScreens = (before: Shown, after: Shown): Screen[] => {
  const [olds = [], news = []] = [before.screens, after.screens];
  const kept = new Set(news.map(({ slug }) => slug));
  return [
    ...news.filter(({ slug }) => !isEqual(shownBy(before, slug), shownBy(after, slug))),
    ...olds.filter(({ slug }) => !kept.has(slug)),
  ];
};
