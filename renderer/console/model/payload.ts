/** The payload of a draft for a display; pure. */
import type { Design } from '../../../service/contract/console/designs.ts';
import type { ContentFile } from '../../../service/contract/content.ts';
import type { PlaylistPayload, Slide } from '../../../service/contract/playlist.ts';
import type { ZoneName } from '../../../service/contract/programmes.ts';
import type { SlideFile } from '../../../service/contract/slides.ts';
import { createRounds, type Days, type RoundList } from '../../../service/domain/rounds.ts';
import { fillSlide, fillTimetable, type NamedTemplate } from '../../../service/domain/slides.ts';
import type { ContentDocument, PlaylistDraft, ScreenDraft, SlideDraft } from './document.ts';
import { withParts } from './playable.ts';

/** The feeds, sources, timetables and calendars of payloads, each once. */
export const joinLive = (payloads: readonly PlaylistPayload[]) => {
  const join = <One extends { id: string }>(of: (payload: PlaylistPayload) => readonly One[] | undefined): One[] => [
    ...new Map(payloads.flatMap((payload) => of(payload) ?? []).map((one) => [one.id, one])).values(),
  ];
  return {
    rssFeeds: join(({ rssFeeds }) => rssFeeds),
    apiSources: join(({ apiSources }) => apiSources),
    timetableGroups: join(({ timetableGroups }) => timetableGroups),
    calendars: join(({ calendars }) => calendars),
  };
};

/** What a payload has besides the document. */
export type LiveData = ReturnType<typeof joinLive> & { designs: readonly Design[]; days: Days };

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

const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) > 0;

/**
 * @param only index of the one slide to show, its schedule ignored, or the round of the playlist that it stands for; null: the
 * round of `playlist`, by the schedules of its slides
 */
export const previewPayload = (
  document: ContentDocument,
  playlist: PlaylistDraft,
  only: number | null,
  { designs, days, timetableGroups, ...live }: LiveData,
): PlaylistPayload => {
  const content = document as unknown as ContentFile;
  const templates = [...(content.templates ?? []), ...designs];
  const roundOf = (id: string): readonly Slide[] => {
    const lists = withParts(document, id).map((part): [string, RoundList<Slide>] => [
      part.id,
      {
        id: part.id,
        order: part.order ?? 'listed',
        // A draft may hold any number.
        insert: isCount(part.insert?.every) && isCount(part.insert?.count) ? (part.insert ?? null) : null,
        items: part.slides.map((slide, index) =>
          slide.kind === 'playlist'
            ? { playlist_id: String(slide['playlist_id']) }
            : { slide: fillDraft(part.id, slide, index, templates) },
        ),
      },
    ]);
    return createRounds(new Map(lists), days, (slide) => slide.id)(id);
  };
  const chosen = only === null ? undefined : playlist.slides[only];
  const always = (slide: Slide): Slide => ({ ...slide, schedule_mode: 'always' });
  const slides =
    chosen === undefined
      ? roundOf(playlist.id)
      : chosen.kind === 'playlist'
        ? roundOf(String(chosen['playlist_id'])).map(always)
        : [always(fillDraft(playlist.id, chosen, only ?? 0, templates))];
  const name = playlist.name || playlist.id;
  const payload = payloadOf([...slides]);
  return {
    ...payload,
    screen: { ...payload.screen, name, playlist_id: playlist.id },
    playlist: { id: playlist.id, name, fade_between_slides: playlist.fade_between_slides ?? true },
    ...live,
    timetableGroups: (content.timetableGroups ?? []).map((group) => {
      if (group.calendar_id == null) return fillTimetable(group);
      // Its entries are the events of a calendar, which only the service has.
      const { entries = [], fetched_at = null } = timetableGroups.find(({ id }) => id === group.id) ?? {};
      return { ...fillTimetable(group), entries, fetched_at };
    }),
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
