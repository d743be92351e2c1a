/** The slides of all playlists that have some words. */
import type { Slide } from '../../../service/contract/playlist.ts';
import { slideId } from '../../../service/domain/slides.ts';
import { mediumName, type PlaylistDraft, plainText, type SlideDraft, titleOf } from '../model/document.ts';
import { matches } from '../model/filter.ts';
import { hrefOf } from '../stores/router.ts';
import { useConsole } from '../ui/context.tsx';
import { Miniature } from '../ui/miniature.tsx';

/** The rest are counted. */
const SHOWN = 100;

/** All that people can read on it, and the name of its medium. */
const textsOf = ({ title, body, media_url, content, id }: SlideDraft): string[] =>
  [
    title,
    plainText(body),
    media_url && mediumName(media_url),
    ...Object.values(content ?? {}).filter((value): value is string => typeof value === 'string'),
    id,
  ].filter((text): text is string => typeof text === 'string');

interface Found {
  playlist: PlaylistDraft;
  slide: SlideDraft;
  id: string;
  index: number;
}

/** Pure. */
export const slidesWith = (playlists: readonly PlaylistDraft[], text: string): Found[] =>
  playlists.flatMap((playlist) =>
    playlist.slides.flatMap((slide, index) =>
      matches(text, ...textsOf(slide)) ? { playlist, slide, index, id: slideId(playlist.id, slide, index) } : [],
    ),
  );

export const FoundSlides = ({ playlists, text }: { playlists: readonly PlaylistDraft[]; text: string }) => {
  const { texts } = useConsole();
  const words = texts.editor;
  const found = slidesWith(playlists, text);
  return (
    <>
      <p class="soft" role="status">
        {words.found({ count: found.length })}
        {found.length > SHOWN && ` ${words.foundMore({ count: SHOWN })}`}
      </p>
      <ul class="found-slides">
        {found.slice(0, SHOWN).map(({ playlist, slide, id, index }) => (
          <li key={`${playlist.id} ${index}`}>
            <a href={hrefOf('content', 'playlists', playlist.id, id)}>
              <span class="card-picture">
                <Miniature slide={slide} id={id} among={[{ id, kind: slide.kind as Slide['kind'] }]} />
              </span>
              <span class="card-title">
                {index + 1}. {titleOf(slide, id)}
              </span>
              <span class="soft card-title">{words.inPlaylist({ name: playlist.name || playlist.id })}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
};
