/** The slides of takeovers, as they lead the playlist of a screen. Pure. */
import { takeoverSlideId } from '../contract/console/takeovers.ts';
import type { TakeoverRecord } from '../contract/peers.ts';
import type { Slide } from '../contract/playlist.ts';
import { blankSlide } from '../contract/slide-values.ts';
import { mediaTypeOf } from '../domain/media-types.ts';

/** The kind of slide that shows a medium; null: neither a picture nor a film. An unknown type is taken for a picture. */
export const kindOf = (mediaUrl: string): 'image' | 'video' | null => {
  const type = mediaTypeOf(mediaUrl) ?? 'image/*';
  return type.startsWith('video/') ? 'video' : type.startsWith('image/') ? 'image' : null;
};

export const slideOf = ({ id, level, title, body, media_url, from, until }: TakeoverRecord): Slide => ({
  ...blankSlide,
  id: takeoverSlideId(id),
  title,
  body,
  schedule_mode: 'between',
  schedule_start_datetime: from,
  schedule_end_datetime: until,
  media_url,
  media_type: media_url === null ? null : mediaTypeOf(media_url),
  kind: (media_url === null ? null : kindOf(media_url)) ?? 'text',
  content: { takeover: { id, level } },
});
