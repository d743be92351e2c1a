/** A slide in small, drawn from its data: the player's colours and letters, and the picture of its medium. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Slide } from '../../../service/contract/playlist.ts';
import { fileKinds } from '../../../service/contract/slide-values.ts';
import { lookOf } from '../../player/slides/palette.ts';
import { type SlideDraft, titleOf, wordsOf } from '../model/document.ts';
import { useConsole } from './context.tsx';
import { Icon, type IconName } from './icon.tsx';
import { useVisible } from './visible.ts';

type Pictured = Pick<SlideDraft, 'kind' | 'title' | 'body' | 'media_url' | 'content'>;

const iconOf: Partial<Record<string, IconName>> = {
  text: 'text',
  image: 'image',
  video: 'video',
  web: 'web',
  stream: 'stream',
  pdf: 'pdf',
  template: 'template',
  rss: 'rss',
  timetable: 'timetable',
  calendar: 'timetable',
} satisfies Record<Slide['kind'], IconName>;

export const kindIcon = (kind: string): IconName => iconOf[kind] ?? 'content';

const hostOf = (url: string): string => {
  try {
    return new URL(url, 'http://player').host;
  } catch {
    return url;
  }
};

/** The address of a remote picture: the box's own copy of it. */
const copyOf = (url: string): string | null =>
  /^https?:/i.test(url) ? `/copies?url=${encodeURIComponent(url)}` : null;

const Picture = ({ url, fit }: { url: string; fit: unknown }) => {
  const { pictures } = useConsole();
  const box = useRef<HTMLDivElement>(null);
  const isVisible = useVisible(box);
  const [source, setSource] = useState<string | null>(null);
  useEffect(() => {
    if (!isVisible) return undefined;
    let isCurrent = true;
    const copy = copyOf(url);
    if (copy !== null) setSource(copy);
    else
      void pictures.thumbnail(url).then((found) => {
        if (isCurrent) setSource(found);
      });
    return () => {
      isCurrent = false;
    };
  }, [isVisible, url]);
  return (
    <div ref={box} class="miniature-picture">
      {source !== null && (
        <img
          src={source}
          alt=""
          decoding="async"
          class={fit === 'contain' ? 'contain' : ''}
          onError={() => setSource(null)}
        />
      )}
    </div>
  );
};

interface MiniatureProps {
  slide: Pictured;
  /** The slide's id, which its colours hang on. */
  id: string;
  /** The slides of its playlist, in order. */
  among?: readonly Pick<Slide, 'id' | 'kind'>[];
  /** Whether its medium has no picture yet. */
  isPending?: boolean;
}

/** Decorative: a text alternative is next to it. */
export const Miniature = ({ slide, id, among = [], isPending = false }: MiniatureProps) => {
  const { kind, media_url: mediaUrl, content } = slide;
  const isPicture = fileKinds.some((each) => each === kind) && typeof mediaUrl === 'string';
  const { palette } = lookOf({ id }, among);
  const background = typeof content?.['background'] === 'string' ? content['background'] : palette.ground;
  const color = typeof content?.['color'] === 'string' ? content['color'] : palette.ink;
  const words = kind === 'template' ? titleOf(slide, '') : wordsOf(slide);
  return (
    <div
      class={isPicture ? 'miniature dark' : 'miniature'}
      style={isPicture ? {} : { background, color, '--form': palette.form }}
      aria-hidden="true"
    >
      {isPicture && typeof mediaUrl === 'string' ? (
        <>
          <span class="miniature-sign">
            <Icon name={kindIcon(kind)} />
          </span>
          {!isPending && <Picture key={mediaUrl} url={mediaUrl} fit={content?.['fit']} />}
          {kind === 'video' && (
            <span class="miniature-play">
              <Icon name="play" />
            </span>
          )}
        </>
      ) : (
        <>
          {kind !== 'text' && (
            <span class="miniature-sign">
              <Icon name={kindIcon(kind)} />
            </span>
          )}
          <span class={kind === 'text' ? 'miniature-words large' : 'miniature-words'} dir="auto">
            {words || (typeof mediaUrl === 'string' ? hostOf(mediaUrl) : '')}
          </span>
        </>
      )}
    </div>
  );
};
