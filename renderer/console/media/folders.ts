/** Folders of the media: by the tags of the screens that show them; pure. */
import { slideId } from '../../../service/domain/slides.ts';
import type { ContentDocument } from '../model/document.ts';
import { playablePlaylists } from '../model/playable.ts';

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
