/** A player on a stage that only notes what it is told, with a clock that never reads the same twice. */
import { vi } from 'vitest';
import { createPlayer, type Player } from '../../renderer/player/player.ts';
import type { Pace, SlideContext, SlideView } from '../../renderer/player/slides/slide.ts';
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import type { ClockState } from '../../service/contract/socket.ts';

export const slide = (id: string, more: Partial<Slide> = {}): Slide => ({
  id,
  title: id,
  body: null,
  duration_seconds: 1,
  schedule_mode: 'always',
  schedule_start_datetime: null,
  schedule_end_datetime: null,
  schedule_start_time: null,
  schedule_end_time: null,
  schedule_days_json: null,
  media_url: null,
  media_type: null,
  kind: 'text',
  template_id: null,
  template: null,
  content: null,
  ...more,
});

export const payloadOf = (...slides: Slide[]): PlaylistPayload => ({
  screen: { id: 's', name: 's', slug: 's', playlist_id: 'p', created_at: '', modified_at: '' },
  playlist: { id: 'p', name: 'p', fade_between_slides: true },
  slides,
  rssFeeds: [],
  apiSources: [],
  timetableGroups: [],
  revision: '',
});

export const NOON = Date.parse('2026-07-01T12:00:00.000Z');
/** Seconds after noon, in ISO 8601. */
export const at = (seconds: number): string => new Date(NOON + seconds * 1000).toISOString();

type Lists = Record<string, { slides: Slide[]; sync?: boolean }>;
export type Spans = [seconds: number, list: string, programme?: string][];

export const withProgramme = (lists: Lists, spans: Spans): PlaylistPayload => {
  const names = Object.keys(lists);
  const playlistOf = (id: string) => ({ id, name: id, fade_between_slides: false });
  const [, first = ''] = spans[0] ?? [];
  return {
    ...payloadOf(...(lists[first]?.slides ?? [])),
    playlist: playlistOf(first),
    programme: {
      revision: 'plan',
      from: at(-43_200),
      until: at(7 * 86_400),
      slides: Object.fromEntries(Object.values(lists).flatMap(({ slides }) => slides.map((each) => [each.id, each]))),
      playlists: Object.fromEntries(names.flatMap((name) => lists[name]?.slides.map(({ id }) => [id, name]) ?? [])),
      lists: names.map((name) => ({
        playlist: playlistOf(name),
        sync: lists[name]?.sync === true,
        slides: lists[name]?.slides.map(({ id }) => id) ?? [],
      })),
      spans: spans.map(([seconds, list, programme = null]) => ({
        from: at(seconds),
        list: names.indexOf(list),
        programme_id: programme,
      })),
    },
  };
};

export interface Scene {
  player: Player;
  /** What came on, in its order; `idle` where nothing was on. */
  shown: string[];
  /** When, in ms since the epoch, by the clock of this test. */
  times: number[];
  /** The pace of each slide that was ever made ready. */
  paces: Map<string, Pace | null>;
  /** How late slides came on that were to be in step. */
  skews: number[];
  /** What is in a layer, on or being made ready. */
  placed: Set<string>;
  faults: string[];
  halts: string[];
  /** What the view of a slide says of its length now, in ms; absent: it has none. */
  lengths: Map<string, number>;
  /** The entity tag of each medium: that of a rendition, so that what is on is finished. */
  tags: Map<string, string>;
  /** Of each slide that was ever made ready: to tell that it can't go on. */
  fails: Map<string, SlideContext['fail']>;
  /** The media that were asked for, in their order. */
  asked: string[];
}

interface Setting {
  isInStep?: boolean;
  /** What the time of the site, by which the service goes, is ahead of this test's clock, in ms. */
  ahead?: number;
  state?: () => ClockState;
}

export const wait = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);

/** Slides whose id begins with `slow` take 5 s to be made ready; those with `broken` fail, those with `hanging` late. */
export const openScene = (
  slides: Slide[],
  { isInStep = false, ahead = 0, state = () => 'ok' }: Setting = {},
): Scene => {
  const shown: string[] = [];
  const times: number[] = [];
  const paces: Scene['paces'] = new Map();
  const skews: number[] = [];
  const fails: Scene['fails'] = new Map();
  const placed = new Set<string>();
  const faults: string[] = [];
  const halts: string[] = [];
  const lengths: Scene['lengths'] = new Map();
  const tags: Scene['tags'] = new Map();
  const asked: string[] = [];
  const names = new Map<SlideView, string>();
  let reads = 0;

  const createView = (name: string, load?: () => Promise<string>): SlideView => {
    const view: SlideView = {
      element: null as unknown as HTMLElement,
      get length() {
        return lengths.get(name) ?? null;
      },
      prepare: async () => {
        await load?.();
        if (name.startsWith('slow')) await new Promise((resolve) => setTimeout(resolve, 5_000));
        if (name.startsWith('hanging')) await new Promise(() => {});
        if (name.startsWith('broken')) throw new Error('it is broken');
      },
      start: () => {
        shown.push(name);
        times.push(Date.now());
      },
      pause: () => halts.push(`pause ${name}`),
      resume: () => halts.push(`resume ${name}`),
      restart: () => halts.push(`restart ${name}`),
      flipPage: () => false,
      destroy() {},
    };
    names.set(view, name);
    return view;
  };
  const nameOf = (view: SlideView): string => names.get(view) ?? '';
  let front = '';
  const player = createPlayer(
    {
      clock: {
        elapsed: () => performance.now() + (reads++ % 7) * 0.1,
        now: () => Date.now() + ahead,
        state,
      },
      stage: {
        place: (view) => void placed.add(nameOf(view)),
        show: async (view, _, onFrame, cue) => {
          placed.delete(front);
          front = nameOf(view);
          if (cue === undefined) {
            onFrame();
            return 0;
          }
          const left = cue.left(performance.now());
          setTimeout(() => {
            onFrame();
            cue.onSeen(performance.now());
          }, left);
          return 0;
        },
        discard: (view) => void placed.delete(nameOf(view)),
      },
      syncClock: {
        at: (elapsed) => elapsed + Date.now() - performance.now() + ahead,
        recordSwap: (late) => skews.push(late),
        recordVideoSkew() {},
      },
      mediaCache: {
        resolve: async (url) => {
          asked.push(url);
          return url;
        },
        versionOf: (url) => tags.get(url) ?? null,
        revalidate: async (url, before) => before ?? tags.get(url) ?? null,
      },
      credentials: () => ({}),
      refused: async () => {},
      createSlide: ({ slide: { id, media_url }, pace, media, fail }: SlideContext) => {
        paces.set(id, pace);
        fails.set(id, fail);
        return createView(id, media_url === null ? undefined : () => media(media_url));
      },
      createIdle: () => createView('idle'),
      onReport() {},
      onError: (id) => faults.push(id),
      onSwap() {},
    },
    { timeZone: 'UTC' },
  );
  player.load(payloadOf(...slides), isInStep);
  return { player, shown, times, paces, skews, placed, faults, halts, lengths, tags, fails, asked };
};

/** When each slide came on, in seconds after noon. */
export const timesOf = ({ shown, times }: Scene) =>
  shown.map((name, index) => [name, Math.round(((times[index] ?? 0) - NOON) / 10) / 100]);
