/** Which playlists a screen can play; pure. Shared by the console and the command line. */
import type { Programme } from './programmes.ts';
import { isTargeted } from './targets.ts';

export interface PlayablePlaylist {
  id: string;
  slides: readonly { kind: string; playlist_id?: unknown }[];
  insert?: { playlist_id: string } | null | undefined;
}

export interface PlayableScreen {
  slug: string;
  name: string;
  playlist_id?: string | null | undefined;
  tags?: readonly string[] | null | undefined;
  zones?: { ticker?: string | null | undefined; sidebar?: string | null | undefined } | null | undefined;
}

/** Of a document. */
export interface Playables<Each extends PlayablePlaylist, Shown extends PlayableScreen = PlayableScreen> {
  screens?: readonly Shown[] | undefined;
  playlists?: readonly Each[] | undefined;
  programmes?: readonly Programme[] | undefined;
}

/** Playlists with those that they nest and insert, each once. */
const reachable = <Each extends PlayablePlaylist>(
  { playlists = [] }: Playables<Each>,
  ids: Iterable<unknown>,
): Each[] => {
  const byId = new Map<unknown, Each>(playlists.map((playlist) => [playlist.id, playlist]));
  const found = new Set<Each>();
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

/** The playlists that a screen can play: its own, those of its zones and programmes, and what these nest and insert. */
export const playablePlaylists = <Each extends PlayablePlaylist>(content: Playables<Each>, slug: string): Each[] => {
  const screen = content.screens?.find((each) => each.slug === slug);
  if (screen === undefined) return [];
  const { playlist_id, zones, tags } = screen;
  const due = (content.programmes ?? []).filter(({ targets }) => isTargeted(targets, { slug, tags: tags ?? [] }));
  return reachable(content, [playlist_id, zones?.ticker, zones?.sidebar, ...due.map((each) => each.playlist_id)]);
};

/** A playlist with those that it nests and inserts. */
export const withParts = <Each extends PlayablePlaylist>(content: Playables<Each>, id: string): Each[] =>
  reachable(content, [id]);
