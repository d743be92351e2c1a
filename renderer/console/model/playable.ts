/** Which playlists and slides screens can play; pure. */
import { perObject } from '../../../service/domain/collections.ts';
import { playablePlaylists } from '../../../service/domain/playable.ts';
import { slideId } from '../../../service/domain/slides.ts';
import { type ContentDocument, titleOf } from './document.ts';

export { playablePlaylists, withParts } from '../../../service/domain/playable.ts';

/** The names of the screens on which each playlist plays at some time, by its id. */
export const screensByPlaylist = (content: ContentDocument): ReadonlyMap<string, readonly string[]> => {
  const screens = new Map<string, string[]>();
  for (const { slug, name } of content.screens) {
    for (const { id } of playablePlaylists(content, slug)) screens.set(id, [...(screens.get(id) ?? []), name || slug]);
  }
  return screens;
};

/** The playlists that screens can play, and a screen for each set of them. */
const playedSets = perObject((content: ContentDocument): { slug: string; ids: string[] }[] => {
  const played = content.screens.map(({ slug }) => ({
    slug,
    ids: playablePlaylists(content, slug).map(({ id }) => id),
  }));
  return [...new Map(played.map((each) => [JSON.stringify(each.ids.toSorted()), each])).values()];
});

const MOST_SCREENS = 4;

/** The slugs of some screens whose payloads have what feeds and sources bring to playlists. @param content as published */
export const screensWithData = (content: ContentDocument, playlistIds: readonly string[]): string[] => {
  const sets = playedSets(content);
  const slugs = playlistIds.flatMap((id) => {
    const own = sets.filter(({ ids }) => ids.includes(id));
    // What a playlist names that no screen plays, other playlists may name.
    return (own.length > 0 ? own : sets).slice(0, MOST_SCREENS).map(({ slug }) => slug);
  });
  return [...new Set(slugs)].slice(0, 2 * MOST_SCREENS);
};

/** What slides are called, by their ids; those without a name are left out. */
export const slideNames = perObject(
  ({ playlists = [] }: Pick<ContentDocument, 'playlists'>): ReadonlyMap<string, string> =>
    new Map(
      playlists.flatMap(({ id, slides }) =>
        slides.flatMap((slide, at) => {
          const name = titleOf(slide, '');
          return name === '' ? [] : [[slideId(id, slide, at), name] as const];
        }),
      ),
    ),
);

/** The ids of the slides that screens with a tag can play at some time, by the tag, in the order of the alphabet. */
export const slidesByTag = (content: ContentDocument): ReadonlyMap<string, ReadonlySet<string>> => {
  const tags = [...new Set(content.screens.flatMap((screen) => screen.tags ?? []))].toSorted();
  return new Map(
    tags.map((tag) => {
      const screens = content.screens.filter((screen) => screen.tags?.includes(tag));
      const playlists = new Set(screens.flatMap(({ slug }) => playablePlaylists(content, slug)));
      return [
        tag,
        new Set([...playlists].flatMap(({ id, slides }) => slides.map((slide, at) => slideId(id, slide, at)))),
      ];
    }),
  );
};
