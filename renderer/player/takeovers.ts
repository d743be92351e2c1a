/** Takeovers, slides at the head of the playlist: a player of its own over everything else shows the one that is on, alone. */

import { type TakeoverLevel, takeoverLevels } from '../../service/contract/console/takeover-levels.ts';
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import { isOn, nextChange } from '../../service/domain/slide-schedule.ts';
import { recall, remember } from '../shared/storage.ts';
import type { Clock } from './clock.ts';
import type { Player } from './player.ts';

export interface Takeover {
  slide: Slide;
  /** Index of the slide in the playlist. */
  index: number;
  id: string;
  level: TakeoverLevel;
  /** Equal for the same takeover with the same start and end: a takeover that is prolonged gets a new key. */
  key: string;
}

const takeoverOf = (slide: Slide, index: number): Takeover | null => {
  const { id, ...content } = (slide.content?.['takeover'] ?? {}) as { id?: unknown; level?: unknown };
  const level = takeoverLevels.find((each) => each === content.level);
  if (typeof id !== 'string' || slide.id !== `takeover-${id}` || slide.schedule_mode !== 'between') return null;
  if (level === undefined) return null;
  const key = [id, slide.schedule_start_datetime, slide.schedule_end_datetime].join(' ');
  return { slide, index, id, level, key };
};

/** The takeovers at the head of a playlist, and the playlist without them. */
export const splitPlaylist = (payload: PlaylistPayload): { takeovers: Takeover[]; playlist: PlaylistPayload } => {
  const takeovers: Takeover[] = [];
  for (const [index, slide] of payload.slides.entries()) {
    const takeover = takeoverOf(slide, index);
    if (takeover === null) break;
    takeovers.push(takeover);
  }
  if (takeovers.length === 0) return { takeovers, playlist: payload };
  return { takeovers, playlist: { ...payload, slides: payload.slides.slice(takeovers.length) } };
};

const startOf = ({ slide }: Takeover): number => Date.parse(slide.schedule_start_datetime ?? '') || 0;
/** When a takeover ends, in ms since the epoch. */
export const endOf = ({ slide }: Takeover): number => Date.parse(slide.schedule_end_datetime ?? '');

/** How long a takeover is on, in s; null: without an end. */
const secondsOf = (takeover: Takeover): number | null => {
  const seconds = (endOf(takeover) - startOf(takeover)) / 1000;
  return seconds > 0 ? seconds : null;
};

/** Above 0 if `a` takes precedence: the higher level, then the later start, then the greater id. */
const compare = (a: Takeover, b: Takeover): number =>
  takeoverLevels.indexOf(a.level) - takeoverLevels.indexOf(b.level) ||
  startOf(a) - startOf(b) ||
  (a.id > b.id ? 1 : -1);

/** The keys of the takeovers that have ended at `wall`, in ms since the epoch. */
const endedAt = (takeovers: readonly Takeover[], wall: number): string[] =>
  takeovers.filter((takeover) => endOf(takeover) <= wall).map(({ key }) => key);

/** The takeover to show at `wall`, in ms since the epoch; null: there is none. `over`: keys of those that have ended before. */
const takeoverAt = (
  takeovers: readonly Takeover[],
  wall: number,
  timeZone: string,
  over: ReadonlySet<string>,
): Takeover | null =>
  takeovers
    .filter(({ slide, key }) => !over.has(key) && isOn(slide, wall, timeZone))
    .reduce<Takeover | null>((best, each) => (best === null || compare(each, best) > 0 ? each : best), null);

/** When the next takeover comes on or ends, in ms since the epoch; infinity: never. */
const nextTakeoverChange = (takeovers: readonly Takeover[], wall: number, timeZone: string): number =>
  nextChange(
    takeovers.map(({ slide }) => slide),
    wall,
    timeZone,
  );

export interface Takeovers {
  /** The takeover on the screen; null: none. */
  readonly shown: Takeover | null;
  /** A takeover is due, so that its player needs its stage. */
  readonly isDue: boolean;
  /** How many takeovers lead the playlist. */
  readonly count: number;
  /** Accepts a playlist; returns it without its takeovers. */
  load(payload: PlaylistPayload | null): PlaylistPayload | null;
  /** The player reports what it shows. */
  onReport(slide: Slide | null): void;
  /** Re-evaluates immediately, because a clock was set. */
  onClockSet(): void;
}

interface Dependencies {
  clock: Pick<Clock, 'now'>;
  timeZone: string;
  /** Shows one slide, over everything else. */
  player: Pick<Player, 'load'>;
  /** Called when {@link Takeovers.isDue} has changed. */
  onDue(): void;
  /** Called when {@link Takeovers.shown} has changed. */
  onShow(shown: Takeover | null): void;
}

/** The time of day is read at least this often: a clock can change without an event. */
const MAX_SLEEP_MS = 500;
/** How long an ended takeover stays at most for a successor that is not painted yet. */
const SUCCESSION_MS = 600;
const storageKey = 'signage.endedTakeovers';
/** Ended takeovers that are remembered. */
const MAX_ENDED = 200;

const recallEnded = (): string[] => {
  try {
    const keys: unknown = JSON.parse(recall(storageKey) ?? '[]');
    return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [];
  } catch {
    return [];
  }
};

/** What programmes make due is for the player below: by a plan the slide of a takeover would not be. */
const withoutPlan = ({ programme: _, ...payload }: PlaylistPayload): PlaylistPayload => payload;

/** The slide of a takeover as the only one of a playlist: its schedule is observed here. */
const playlistOf = (payload: PlaylistPayload, takeover: Takeover): PlaylistPayload => ({
  ...payload,
  slides: [
    {
      ...takeover.slide,
      schedule_mode: 'always',
      schedule_start_datetime: null,
      schedule_end_datetime: null,
      duration_seconds: secondsOf(takeover),
    },
  ],
});

export const createTakeovers = ({ clock, timeZone, player, onDue, onShow }: Dependencies): Takeovers => {
  let payload: PlaylistPayload | null = null;
  let takeovers: readonly Takeover[] = [];
  /** An ended takeover never returns, even if the clock is set back. */
  const over = new Set(recallEnded());
  /** The one that is due. */
  let due: Takeover | null = null;
  /** The playlist that the player has. */
  let loaded: PlaylistPayload | null = null;
  /** The id of the slide that the player shows. */
  let painted: string | null = null;
  let shown: Takeover | null = null;
  let waking: ReturnType<typeof setTimeout> | undefined;
  let succession: ReturnType<typeof setTimeout> | undefined;

  const show = (takeover: Takeover | null): void => {
    const isChanged = takeover?.key !== shown?.key;
    shown = takeover;
    if (isChanged) onShow(shown);
  };

  /** Without a successor an ended takeover disappears immediately, else when its successor is painted. */
  const settle = (): void => {
    clearTimeout(succession);
    if (due === null || painted === null) show(null);
    else if (painted === due.slide.id) show(due);
    else if (shown !== null) succession = setTimeout(show, SUCCESSION_MS, null);
  };

  const noteEnded = (wall: number): void => {
    const ended = endedAt(takeovers, wall).filter((key) => !over.has(key));
    if (ended.length === 0) return;
    for (const key of ended) over.add(key);
    remember(storageKey, JSON.stringify([...over].slice(-MAX_ENDED)));
  };

  const loadDue = (before: Takeover | null): void => {
    if (payload === null || (due === null && before === null)) return;
    // Before the view is created: it is laid out at the size of its stage.
    if (due?.key !== before?.key) onDue();
    else if (payload === loaded) return;
    loaded = payload;
    player.load(due === null ? { ...payload, slides: [] } : playlistOf(payload, due));
  };

  const update = (): void => {
    clearTimeout(waking);
    const wall = clock.now();
    noteEnded(wall);
    const before = due;
    due = takeoverAt(takeovers, wall, timeZone, over);
    loadDue(before);
    settle();
    if (takeovers.length === 0) return;
    const left = nextTakeoverChange(takeovers, wall, timeZone) - clock.now();
    waking = setTimeout(update, Math.min(Math.max(left, 0), MAX_SLEEP_MS));
  };

  return {
    get shown() {
      return shown;
    },
    get isDue() {
      return due !== null;
    },
    get count() {
      return takeovers.length;
    },
    load: (next) => {
      const split = next === null ? null : splitPlaylist(next);
      payload = next === null ? null : withoutPlan(next);
      takeovers = split?.takeovers ?? [];
      update();
      return split?.playlist ?? null;
    },
    onReport: (slide) => {
      painted = slide?.id ?? null;
      settle();
    },
    onClockSet: update,
  };
};
