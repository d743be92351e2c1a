/** Takeovers, slides at the head of the playlist: a player of its own over everything else shows the one that is on, alone. */
import { type TakeoverLevel, takeoverLevels } from '../../service/contract/console/takeover-levels.ts';
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import { hasPassed, type Moment } from '../../service/domain/has-passed.ts';
import { isOn, nextChange } from '../../service/domain/slide-schedule.ts';
import { type MediaCache, prefetch } from './media-cache.ts';
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

/**
 * Above 0 if `a` takes precedence: the higher level, then the later start, then the greater id. Where a start is not told, the
 * box has put them in that order.
 */
const compare = (a: Takeover, b: Takeover): number => {
  const [from, other] = [startOf(a), startOf(b)];
  const byStart = from === 0 || other === 0 ? b.index - a.index : from - other;
  return takeoverLevels.indexOf(a.level) - takeoverLevels.indexOf(b.level) || byStart || (a.id > b.id ? 1 : -1);
};

/** Whether a takeover is on at `wall`, in ms since the epoch; an emergency is until its end is known to have passed. */
const isOnAt = (takeover: Takeover, wall: number, timeZone: string): boolean =>
  isOn(takeover.slide, wall, timeZone) ||
  (takeover.level === 'emergency' && startOf(takeover) <= wall && endOf(takeover) <= wall);

/** The takeover to show of those that are on; null: there is none. */
const highestOf = (on: readonly Takeover[]): Takeover | null =>
  on.reduce<Takeover | null>((best, each) => (best === null || compare(each, best) > 0 ? each : best), null);

/** When the next takeover comes on or ends, in ms since the epoch; infinity: never. */
const nextTakeoverChange = (takeovers: readonly Takeover[], wall: number, timeZone: string): number =>
  nextChange(
    takeovers.map(({ slide }) => slide),
    wall,
    timeZone,
  );

export type Takeovers = ReturnType<typeof createTakeovers>;

interface Dependencies {
  /** The time of the site, by which takeovers begin and end, and the page's own. */
  moment(): Moment;
  timeZone: string;
  /** Shows one slide, over everything else. */
  player: Pick<Player, 'load' | 'retry'>;
  mediaCache: Pick<MediaCache, 'resolve'>;
  /** Called when {@link Takeovers.isDue} has changed. */
  onDue(): void;
  /** Called when {@link Takeovers.shown} has changed. */
  onShow(shown: Takeover | null): void;
}

/** The time of day is read at least this often: a clock can change without an event. */
const MAX_SLEEP_MS = 500;
/** How long an ended takeover stays at most for a successor that is not painted yet. */
const SUCCESSION_MS = 600;

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

export const createTakeovers = ({ moment, timeZone, player, mediaCache, onDue, onShow }: Dependencies) => {
  let payload: PlaylistPayload | null = null;
  let takeovers: readonly Takeover[] = [];
  /** When this page learned of each takeover, by its key. */
  let learned: ReadonlyMap<string, Moment> = new Map();
  /** Keys of those whose end has passed while the clock was not set: they stay over, even if it is set back. */
  let over: ReadonlySet<string> = new Set();
  /** Those whose time it is; `due`: the one of them to show. */
  let on: readonly Takeover[] = [];
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
    if (!isChanged) return;
    onShow(shown);
    // It is shown at once with the cached medium, which may be outdated.
    if (shown !== null) player.retry();
  };

  /** Also of those to come: the service may be away then. */
  const fetchMedia = (): void => {
    const current = takeovers;
    const slides = current.map(({ slide }) => slide);
    void prefetch(slides, mediaCache, () => takeovers === current);
  };

  /**
   * Without a successor an ended takeover disappears immediately, else when its successor is painted, or is late. One that is
   * still on stays until then.
   */
  const settle = (): void => {
    const isPending = due !== null && painted !== null && painted !== due.slide.id;
    if (isPending && shown !== null && !on.some(({ id }) => id === shown?.id)) {
      succession ??= setTimeout(show, SUCCESSION_MS, null);
      return;
    }
    clearTimeout(succession);
    succession = undefined;
    if (!isPending) show(painted === null ? null : due);
  };

  const noteEnded = (current: Moment): void => {
    const ended = takeovers.filter((each) => hasPassed(endOf(each), learned.get(each.key) ?? current, current));
    if (ended.length > 0) over = new Set([...over, ...ended.map(({ key }) => key)]);
  };

  /** What the service still has with an end to come is not over: it keeps those that are. */
  const learn = (current: Moment): void => {
    learned = new Map(takeovers.map(({ key }) => [key, learned.get(key) ?? current]));
    over = new Set(takeovers.filter((each) => over.has(each.key) && endOf(each) <= current.at).map(({ key }) => key));
  };

  const loadDue = (before: Takeover | null): void => {
    if (due === null && before === null) return;
    // Before the view is created: it is laid out at the size of its stage.
    if (due?.key !== before?.key) onDue();
    else if (payload === loaded) return;
    loaded = payload;
    if (payload === null) player.load(null);
    else player.load(due === null ? { ...payload, slides: [] } : playlistOf(payload, due));
  };

  const update = (): void => {
    clearTimeout(waking);
    const current = moment();
    const wall = current.at;
    noteEnded(current);
    const before = due;
    on = takeovers.filter((each) => !over.has(each.key) && isOnAt(each, wall, timeZone));
    due = highestOf(on);
    loadDue(before);
    settle();
    if (takeovers.length === 0) return;
    const left = nextTakeoverChange(takeovers, wall, timeZone) - wall;
    waking = setTimeout(update, Math.min(Math.max(left, 0), MAX_SLEEP_MS));
  };

  return {
    /** The takeover on the screen; null: none. */
    get shown(): Takeover | null {
      return shown;
    },
    /** A takeover is due, so that its player needs its stage. */
    get isDue(): boolean {
      return due !== null;
    },
    /** How many takeovers lead the playlist. */
    get count(): number {
      return takeovers.length;
    },
    /** Accepts a playlist; returns it without its takeovers. */
    load: (next: PlaylistPayload | null): PlaylistPayload | null => {
      const split = next === null ? null : splitPlaylist(next);
      payload = next === null ? null : withoutPlan(next);
      takeovers = split?.takeovers ?? [];
      learn(moment());
      update();
      fetchMedia();
      return split?.playlist ?? null;
    },
    /** The player reports what it shows. */
    onReport: (slide: Slide | null): void => {
      painted = slide?.id ?? null;
      settle();
    },
    /** Re-evaluates immediately, because a clock was set. */
    onClockSet: update,
    /** Loads what was not available before, and what has been replaced under its name. */
    onMedia: (): void => {
      fetchMedia();
      player.retry();
    },
  };
};
