/** Which playlists a screen can play; pure. */
import { playablePlaylists } from '../../../service/domain/playable.ts';
import type { ContentDocument } from './document.ts';

export { playablePlaylists, withParts } from '../../../service/domain/playable.ts';

/** The names of the screens on which each playlist plays at some time, by its id. */
export const screensByPlaylist = (content: ContentDocument): ReadonlyMap<string, readonly string[]> => {
  const screens = new Map<string, string[]>();
  for (const { slug, name } of content.screens) {
    for (const { id } of playablePlaylists(content, slug)) screens.set(id, [...(screens.get(id) ?? []), name || slug]);
  }
  return screens;
};
