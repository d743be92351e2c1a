/** Takeovers on the page: a player of its own over everything else shows the one that is on, alone. */
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import { recall, remember } from '../shared/storage.ts';
import type { Clock } from './clock.ts';
import type { Player } from './player.ts';
import {
  endedAt,
  nextTakeoverChange,
  secondsOf,
  splitPlaylist,
  type Takeover,
  takeoverAt,
} from './takeover-schedule.ts';

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
      payload = next;
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
