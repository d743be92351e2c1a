/** Which playlists a screen can play; pure. */
import { isTargeted } from '../../../service/domain/targets.ts';
import type { ContentDocument, PlaylistDraft, ScreenDraft } from './document.ts';

type ById = ReadonlyMap<unknown, PlaylistDraft>;

const playlistsById = ({ playlists = [] }: ContentDocument): ById =>
  new Map(playlists.map((playlist) => [playlist.id, playlist]));

/** Playlists with those that they nest and insert, each once. */
const reachable = (byId: ById, ids: Iterable<unknown>): PlaylistDraft[] => {
  const found = new Set<PlaylistDraft>();
  const add = (id: unknown): void => {
    const playlist = byId.get(id);
    if (playlist === undefined || found.has(playlist)) return;
    found.add(playlist);
    for (const { kind, playlist_id } of playlist.slides) if (kind === 'playlist') add(playlist_id);
    add(playlist.insert?.playlist_id);
  };
  for (const id of ids) add(id);
  return [...found];
};

/** Its own, those of its zones and of its programmes. */
const namedBy = (content: ContentDocument, screen: ScreenDraft): unknown[] => [
  screen.playlist_id,
  screen.zones?.ticker,
  screen.zones?.sidebar,
  ...(content.programmes ?? []).flatMap(({ targets, playlist_id }) =>
    isTargeted(targets, { slug: screen.slug, tags: screen.tags ?? [] }) ? playlist_id : [],
  ),
];

/** The playlists that a screen can play: its own, those of its zones and programmes, and what these nest and insert. */
export const playablePlaylists = (content: ContentDocument, slug: string): PlaylistDraft[] => {
  const screen = content.screens.find((each) => each.slug === slug);
  return screen === undefined ? [] : reachable(playlistsById(content), namedBy(content, screen));
};

/** A playlist with those that it nests and inserts. */
export const withParts = (content: ContentDocument, id: string): PlaylistDraft[] =>
  reachable(playlistsById(content), [id]);

/** The names of the screens on which each playlist plays at some time, by its id. */
export const screensByPlaylist = (content: ContentDocument): ReadonlyMap<string, readonly string[]> => {
  const byId = playlistsById(content);
  const screens = new Map<string, string[]>();
  for (const screen of content.screens) {
    for (const { id } of reachable(byId, namedBy(content, screen))) {
      screens.set(id, [...(screens.get(id) ?? []), screen.name || screen.slug]);
    }
  }
  return screens;
};
