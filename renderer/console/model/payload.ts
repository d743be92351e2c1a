/** The payload of a draft for a display; pure. */
import type { Design } from '../../../service/contract/console/designs.ts';
import type { ContentFile } from '../../../service/contract/content.ts';
import type { PlaylistPayload, Slide } from '../../../service/contract/playlist.ts';
import type { ZoneName } from '../../../service/contract/programmes.ts';
import type { SlideFile } from '../../../service/contract/slides.ts';
import { fillSlide, fillTimetable, type NamedTemplate } from '../../../service/domain/slides.ts';
import type { ContentDocument, PlaylistDraft, ScreenDraft, SlideDraft } from './document.ts';

/** What feeds and sources have brought, from the payload of any screen. */
export type LiveData = Pick<PlaylistPayload, 'rssFeeds' | 'apiSources' | 'calendars'> & { designs?: readonly Design[] };

const EPOCH = new Date(0).toISOString();

export const payloadOf = (slides: Slide[]): PlaylistPayload => ({
  screen: {
    id: 'preview',
    name: 'preview',
    slug: 'preview',
    playlist_id: 'preview',
    created_at: EPOCH,
    modified_at: EPOCH,
  },
  playlist: { id: 'preview', name: 'preview', fade_between_slides: true },
  slides,
  rssFeeds: [],
  apiSources: [],
  timetableGroups: [],
  revision: '',
});

/** A slide as displays get it. */
export const fillDraft = (
  playlistId: string,
  slide: SlideDraft,
  index: number,
  templates: readonly NamedTemplate[] = [],
): Slide => fillSlide(playlistId, slide as unknown as SlideFile, index, templates);

/** @param only index of the only slide to show, its schedule ignored; null: all slides, by their schedules */
export const previewPayload = (
  document: ContentDocument,
  playlist: PlaylistDraft,
  only: number | null,
  { designs = [], ...live }: LiveData,
): PlaylistPayload => {
  const content = document as unknown as ContentFile;
  const fill = (slide: SlideDraft, index: number): Slide =>
    fillDraft(playlist.id, slide, index, [...(content.templates ?? []), ...designs]);
  const chosen = only === null ? undefined : playlist.slides[only];
  const slides =
    only === null || chosen === undefined
      ? playlist.slides.map(fill)
      : [{ ...fill(chosen, only), schedule_mode: 'always' as const }];
  const name = playlist.name || playlist.id;
  const payload = payloadOf(slides);
  return {
    ...payload,
    screen: { ...payload.screen, name, playlist_id: playlist.id },
    playlist: { id: playlist.id, name, fade_between_slides: playlist.fade_between_slides ?? true },
    ...live,
    timetableGroups: (content.timetableGroups ?? []).map(fillTimetable),
    ...(content.style && { style: content.style }),
  };
};

/** What a display gets, with the slide alone that it shows. @returns null: the payload does not have it */
export const mirrorPayload = (
  { programme: _, ...payload }: PlaylistPayload,
  slideId: string | null,
  position: number | null,
): PlaylistPayload | null => {
  const at = payload.slides[position ?? -1];
  const slide = at?.id === slideId ? at : payload.slides.find(({ id }) => id === slideId);
  return slide === undefined ? null : { ...payload, slides: [{ ...slide, schedule_mode: 'always' }] };
};

/** The zones of a layout, in the order of the payload. */
export const zonesIn: Readonly<Record<string, readonly ZoneName[]>> = {
  ticker: ['ticker'],
  sidebar: ['sidebar'],
  'sidebar-ticker': ['ticker', 'sidebar'],
};

/** What a display of the screen gets: its own playlist in the main zone, and the other zones of its layout. */
export const screenPayload = (document: ContentDocument, screen: ScreenDraft, live: LiveData): PlaylistPayload => {
  const playlistOf = (id: string | null | undefined): PlaylistDraft =>
    document.playlists?.find((each) => each.id === id) ?? { id: id ?? '', slides: [] };
  const of = (id: string | null | undefined) => previewPayload(document, playlistOf(id), null, live);
  const zones = (zonesIn[screen.layout ?? ''] ?? []).flatMap((zone) => {
    const { playlist, slides } = of(screen.zones?.[zone]);
    return playlist === null || slides.length === 0 ? [] : [{ zone, playlist, slides }];
  });
  return { ...of(screen.playlist_id), ...(zones.length > 0 ? { zones } : {}) };
};
