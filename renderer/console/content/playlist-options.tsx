/** The options of a select that names a playlist, or none. */
import type { ContentDocument } from '../model/document.ts';
import { useConsole } from '../ui/context.tsx';

export const PlaylistOptions = ({ document }: { document: ContentDocument }) => (
  <>
    <option value="">{useConsole().texts.screens.noPlaylist}</option>
    {(document.playlists ?? []).map(({ id, name }) => (
      <option key={id} value={id}>
        {name || id}
      </option>
    ))}
  </>
);
