/** What a display would get of a draft; pure. */
import type { ContentFile, SlideFile } from '../../../service/contract/content.ts';
import type { PlaylistPayload } from '../../../service/contract/playlist.ts';
import { fillSlide, fillTimetable } from '../../../service/domain/slides.ts';
import type { ContentDocument, PlaylistDraft } from '../model/document.ts';

/** What feeds and sources have brought, from the payload of any screen. */
export type LiveData = Pick<PlaylistPayload, 'rssFeeds' | 'apiSources'>;

/** @param only index of the only slide to show, its schedule ignored; null: all slides, by their schedules */
export const previewPayload = (
  document: ContentDocument,
  playlist: PlaylistDraft,
  only: number | null,
  live: LiveData,
): PlaylistPayload => {
  const content = document as unknown as ContentFile;
  const slides = playlist.slides.map((slide, index) =>
    fillSlide(playlist.id, slide as unknown as SlideFile, index, content.templates ?? []),
  );
  const moment = new Date(0).toISOString();
  return {
    screen: {
      id: 'preview',
      name: playlist.name || playlist.id,
      slug: 'preview',
      playlist_id: playlist.id,
      created_at: moment,
      modified_at: moment,
    },
    playlist: {
      id: playlist.id,
      name: playlist.name || playlist.id,
      fade_between_slides: playlist.fade_between_slides ?? true,
    },
    slides:
      only === null
        ? slides
        : slides.flatMap((slide, index) => (index === only ? { ...slide, schedule_mode: 'always' as const } : [])),
    ...live,
    timetableGroups: (content.timetableGroups ?? []).map(fillTimetable),
    revision: '',
  };
};
