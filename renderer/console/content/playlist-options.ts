/** The options of a select that names a playlist, or none. */
import type { PlaylistDraft } from '../model/document.ts';
import { useConsole } from '../ui/context.tsx';

export const usePlaylistOptions = (playlists: readonly PlaylistDraft[]): [id: string, name: string][] => [
  ['', useConsole().texts.screens.noPlaylist],
  ...playlists.map(({ id, name }): [string, string] => [id, name || id]),
];
