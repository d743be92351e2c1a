/** Slides as the operator writes them, and as pages get them; pure. The console previews drafts by the same rules. */
import type { ContentFile, SlideFile } from '../contract/content.ts';
import type { PlaylistPayload, Slide } from '../contract/playlist.ts';
import { mediaTypeOf } from './media-types.ts';

/** The fields that each kind shows. A template may use all of them. */
export const shownFields: Record<SlideFile['kind'], readonly (keyof SlideFile)[]> = {
  text: ['title', 'body'],
  image: ['media_url'],
  pdf: ['media_url'],
  video: ['media_url'],
  web: ['media_url'],
  stream: ['media_url'],
  template: ['title', 'body', 'media_url', 'template_id'],
  rss: ['title'],
  timetable: ['title'],
};

/** The page determines the length of these kinds, and pages may differ: synchronized playlists must set it. */
export const kindsWithOwnLength: readonly string[] = ['video', 'pdf', 'rss', 'timetable'] satisfies SlideFile['kind'][];

/** The slide's own id, else one made from its position, counted from 1. */
export const slideId = (playlistId: string, slide: { id?: string | undefined }, index: number): string =>
  slide.id ?? `${playlistId}-${index + 1}`;

const mediaTypeOfSlide = (slide: SlideFile): string | null => {
  if (slide.media_type != null) return slide.media_type;
  if (slide.media_url == null) return null;
  if (slide.kind === 'web') return 'text/html';
  return mediaTypeOf(slide.media_url);
};

/** Fills in all defaults. @param index position in the playlist, from 0 */
export const fillSlide = (
  playlistId: string,
  slide: SlideFile,
  index: number,
  templates: ContentFile['templates'],
): Slide => {
  const template = templates.find(({ id }) => id === slide.template_id);
  return {
    id: slideId(playlistId, slide, index),
    title: slide.title ?? null,
    body: slide.body ?? null,
    duration_seconds: slide.duration_seconds ?? null,
    schedule_mode: slide.schedule_mode ?? 'always',
    schedule_start_datetime: slide.schedule_start_datetime ?? null,
    schedule_end_datetime: slide.schedule_end_datetime ?? null,
    schedule_start_time: slide.schedule_start_time ?? null,
    schedule_end_time: slide.schedule_end_time ?? null,
    schedule_days_json: slide.schedule_days_json ?? null,
    media_url: slide.media_url ?? null,
    media_type: mediaTypeOfSlide(slide),
    kind: slide.kind,
    template_id: slide.template_id ?? null,
    template:
      template === undefined ? null : { id: template.id, name: template.name ?? template.id, html: template.html },
    content: slide.content ?? null,
  };
};

/** Fills in all defaults of a timetable. */
export const fillTimetable = ({
  id,
  name,
  entries,
}: ContentFile['timetableGroups'][number]): PlaylistPayload['timetableGroups'][number] => ({
  id,
  name: name ?? id,
  entries: entries.map((entry, index) => ({
    id: entry.id ?? `${id}-${index + 1}`,
    time: entry.time,
    title: entry.title,
    detail: entry.detail ?? null,
    location: entry.location ?? null,
    days_json: entry.days_json ?? null,
  })),
});
