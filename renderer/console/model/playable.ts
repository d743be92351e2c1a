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
