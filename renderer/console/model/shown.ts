/** The slide that a display shows, from the operator's document; pure. */

import type { Slide } from '../../../service/contract/playlist.ts';
import { pictureKindOf } from '../../../service/domain/media-types.ts';
import { slideId } from '../../../service/domain/slides.ts';
import { takeoverColours } from '../../player/slides/palette.ts';
import { takeoverIdOf } from './displays.ts';
import { type ContentDocument, playlistOf, type SlideDraft } from './document.ts';
import type { Connection, Takeover } from './wire.ts';

export interface ShownSlide {
  slide: SlideDraft;
  id: string;
  /** The slides of its playlist: its colours depend on them. */
  among: readonly Pick<Slide, 'id' | 'kind'>[];
}

/** The slide of a takeover, in the colours of its level. */
export const slideOfTakeover = ({
  level,
  title,
  body,
  media_url,
}: Pick<Takeover, 'level' | 'title' | 'body' | 'media_url'>): SlideDraft => ({
  kind: media_url === null ? 'text' : (pictureKindOf(media_url) ?? 'image'),
  title,
  body,
  media_url,
  content: takeoverColours[level],
});

const ofTakeover = (takeover: Takeover): ShownSlide => ({
  slide: slideOfTakeover(takeover),
  id: `takeover-${takeover.id}`,
  among: [],
});

/** Null: it shows none, or one that is not in the document. */
export const shownSlide = (
  connection: Connection | null,
  slug: string,
  content: ContentDocument | null,
  takeovers: readonly Takeover[],
): ShownSlide | null => {
  const id = connection?.currentSlideId ?? null;
  if (id === null) return null;
  const takeover = takeovers.find((each) => each.id === takeoverIdOf(id));
  if (takeover !== undefined) return ofTakeover(takeover);
  const playlist = content === null ? undefined : playlistOf(content, slug);
  if (playlist === undefined) return null;
  const among = playlist.slides.map((slide, index) => ({
    id: slideId(playlist.id, slide, index),
    kind: slide.kind as Slide['kind'],
  }));
  const index = among.findIndex((each) => each.id === id);
  const slide = playlist.slides[index];
  return slide === undefined ? null : { slide, id, among };
};
