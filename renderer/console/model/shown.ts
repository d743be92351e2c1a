/** The slide that a display shows, from the operator's document; pure. */
import type { Slide } from '../../../service/contract/playlist.ts';
import { perObject } from '../../../service/domain/collections.ts';
import { pictureKindOf } from '../../../service/domain/media-types.ts';
import { slideId } from '../../../service/domain/slides.ts';
import { takeoverColours } from '../../player/slides/palette.ts';
import { takeoverIdOf } from './displays.ts';
import type { ContentDocument, PlaylistDraft, SlideDraft } from './document.ts';
import { playablePlaylists } from './playable.ts';
import type { Connection, Takeover } from './wire.ts';

export interface ShownSlide {
  slide: SlideDraft;
  id: string;
  /** The slides of its playlist: its colours depend on them. */
  among: readonly Pick<Slide, 'id' | 'kind'>[];
}

/** Whether a takeover is on: by its start, or since displays show one that was started by a clock which has been set back. */
export const isRunning = ({ from, shown }: Pick<Takeover, 'from' | 'shown'>, now: number): boolean =>
  Date.parse(from) <= now || shown > 0;

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

interface Place {
  playlist: PlaylistDraft;
  index: number;
}

/** Where the slides of each id are. */
const placesIn = perObject((content: ContentDocument): ReadonlyMap<string, readonly Place[]> => {
  const places = new Map<string, Place[]>();
  for (const playlist of content.playlists ?? []) {
    for (const [index, slide] of playlist.slides.entries()) {
      const id = slideId(playlist.id, slide, index);
      places.set(id, [...(places.get(id) ?? []), { playlist, index }]);
    }
  }
  return places;
});

/**
 * The place of a slide that a screen shows. Two playlists may have slides of one id: the title tells them apart, else one
 * that the screen plays by itself goes before one that a trigger put there.
 */
const placeOf = (content: ContentDocument, slug: string, id: string, title?: string | null): Place | undefined => {
  const places = placesIn(content).get(id) ?? [];
  if (places.length < 2) return places[0];
  const titled = places.filter(({ playlist, index }) => (playlist.slides[index]?.title ?? null) === title);
  const likely = titled.length > 0 ? titled : places;
  for (const playable of playablePlaylists(content, slug)) {
    const place = likely.find(({ playlist }) => playlist === playable);
    if (place !== undefined) return place;
  }
  return likely[0];
};

/** Null: it shows none, or one that is not in the document. */
export const shownSlide = (
  connection: (Pick<Connection, 'currentSlideId'> & Partial<Pick<Connection, 'currentSlideTitle'>>) | null,
  slug: string,
  content: ContentDocument | null,
  takeovers: readonly Takeover[],
): ShownSlide | null => {
  const id = connection?.currentSlideId ?? null;
  if (connection === null || id === null) return null;
  const takeover = takeovers.find((each) => each.id === takeoverIdOf(id));
  if (takeover !== undefined) return ofTakeover(takeover);
  const place = content === null ? undefined : placeOf(content, slug, id, connection.currentSlideTitle);
  const slide = place?.playlist.slides[place.index];
  if (place === undefined || slide === undefined) return null;
  const among = place.playlist.slides.map((each, index) => ({
    id: slideId(place.playlist.id, each, index),
    kind: each.kind as Slide['kind'],
  }));
  return { slide, id, among };
};
