/** The slides of takeovers, as they lead the playlist of a screen. Pure. */
import { takeoverSlideId } from '../contract/console/takeovers.ts';
import type { TakeoverRecord } from '../contract/peers.ts';
import type { Slide } from '../contract/playlist.ts';
import { blankSlide } from '../contract/slide-values.ts';
import { mediaTypeOf, pictureKindOf } from '../domain/media-types.ts';

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
  kind: (media_url === null ? null : pictureKindOf(media_url)) ?? 'text',
  content: { takeover: { id, level } },
});
