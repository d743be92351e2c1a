/** The player: passes events to the playback reducer, and performs its effects on the views of the slides. */
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import { within } from './abort.ts';
import type { Clock, SyncClock } from './clock.ts';
import { type MediaCache, prefetch } from './media-cache.ts';
import { initialPlayback, MAX_SLEEP_MS, reduce } from './playback.ts';
import type { Effect, PlaybackEvent } from './playback-state.ts';
import type { PlayRecorder } from './plays/recorder.ts';
import type { SlideFactory, SlideView } from './slides/slide.ts';
import type { Cue, Stage } from './stage.ts';
import { FADE_MS } from './timeline.ts';
import { modeOf } from './transitions.ts';

/**
 * Hands events to `handle`, one at a time: events that it causes wait until it is done. Throws
 * the first error, at the end.
 */
const createDispatch = <Event>(handle: (event: Event) => void): ((event: Event) => void) => {
  const events: Event[] = [];
  return (event) => {
    events.push(event);
    if (events.length > 1) return;
    const errors: unknown[] = [];
    for (; events[0] !== undefined; events.shift()) {
      try {
        handle(events[0]);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  };
};

interface ViewDependencies {
  clock: Pick<Clock, 'now'>;
  syncClock: Pick<SyncClock, 'recordSwap' | 'recordVideoSkew'>;
  stage: Stage;
  mediaCache: Pick<MediaCache, 'resolve'>;
  /** Headers that authenticate requests to the service. */
  credentials(): Record<string, string>;
  createSlide: SlideFactory;
  /** Creates the view that is shown while no slide is. */
  createIdle(): SlideView;
  /** Called when a slide (null: the idle screen) has replaced the previous one; `gapMs`: see {@link Stage.show}. */
  onSwap(slideId: string | null, gapMs: number): void;
}

/** What the reducer's side of a view is. */
interface Playing {
  timeZone: string;
  /** How long slides take to fade into each other. */
  fadeMs: number;
  dispatch(event: PlaybackEvent): void;
  /** How long the slide of a view has been on, in ms, at a reading of `performance.now`; negative: its slot has not begun. */
  positionOf(key: number, at: number): number;
  isHalted(): boolean;
}

type ViewEffect = Extract<Effect, { key: number }>;

interface Views {
  get(key: number | undefined): SlideView | undefined;
  perform(effect: ViewEffect): void;
  /** Mutes or unmutes the view; one that starts later starts muted. Resolves once it has a picture again. */
  mute(key: number | undefined, isSilent: boolean): Promise<void> | undefined;
}

const PREPARE_MS = 20_000;
/** Startup latency of a video on most machines; the first guess. */
const TYPICAL_STARTUP_LATENCY_MS = 60;

const createViews = (deps: ViewDependencies, playing: Playing): Views => {
  const { clock, syncClock, stage, mediaCache, credentials, createSlide, createIdle, onSwap } = deps;
  const { dispatch, positionOf, timeZone, fadeMs, isHalted } = playing;
  const views = new Map<number, SlideView>();
  const preparing = new Map<number, AbortController>();
  const startupLatency = { ms: TYPICAL_STARTUP_LATENCY_MS };
  let front: number | null = null;
  let isSilent = false;

  const add = (key: number, view: SlideView): void => {
    views.set(key, view);
    stage.place(view);
  };

  const prepare = async ({ key, slide, payload, isPaced, isContinued }: Extract<Effect, { type: 'prepare' }>) => {
    const abort = new AbortController();
    preparing.set(key, abort);
    const late = setTimeout(() => abort.abort(new Error(`not ready within ${PREPARE_MS / 1000} s`)), PREPARE_MS);
    const position = (at: number): number => positionOf(key, at);
    try {
      const view = createSlide({
        slide,
        screen: payload.screen,
        payload,
        timeZone,
        now: clock.now,
        media: mediaCache.resolve,
        credentials,
        continued: isContinued ? position : null,
        pace: isPaced ? { position, startupLatency, onSkew: syncClock.recordVideoSkew } : null,
        fail: (reason) => dispatch({ type: 'failed', key, reason }),
      });
      add(key, view);
      await within(abort.signal, view.prepare(abort.signal));
      dispatch({ type: 'ready', key, length: view.length, movesMs: view.movesMs ?? null });
    } catch (error) {
      dispatch({ type: 'unready', key, reason: error instanceof Error ? error.message : String(error) });
    } finally {
      clearTimeout(late);
      preparing.delete(key);
    }
  };

  const show = ({ key, slideId, isFading, isCued, isEarly }: Extract<Effect, { type: 'show' }>): void => {
    const view = views.get(key);
    if (view === undefined) return;
    const cue: Cue = {
      left: (at) => -positionOf(key, at),
      onSeen: (at) => {
        if (isEarly && !isHalted()) syncClock.recordSwap(positionOf(key, at));
      },
    };
    const onFrame = (): void => dispatch({ type: 'visible', key });
    const settled = stage.show(view, isFading ? fadeMs : 0, onFrame, isCued ? cue : undefined);
    if (front !== null) {
      views.delete(front);
      void settled.then((gapMs) => onSwap(slideId, gapMs));
    }
    front = key;
    if (isCued) view.preroll?.();
  };

  const discard = (key: number): void => {
    preparing.get(key)?.abort(new Error('no longer needed'));
    const view = views.get(key);
    if (view !== undefined) stage.discard(view);
    views.delete(key);
  };

  const start = (view: SlideView | undefined): void => {
    // Muted before it starts: a slide that starts during a blackout must not be visible even briefly.
    if (isSilent) void view?.mute?.(true);
    view?.start();
  };

  return {
    get: (key) => (key === undefined ? undefined : views.get(key)),
    perform: (effect) => {
      const view = views.get(effect.key);
      if (effect.type === 'prepare') void prepare(effect);
      else if (effect.type === 'idle') add(effect.key, createIdle());
      else if (effect.type === 'show') show(effect);
      else if (effect.type === 'discard') discard(effect.key);
      else if (effect.type === 'start') start(view);
      else if (effect.type === 'pause') view?.pause();
      else if (effect.type === 'resume') view?.resume();
      else view?.restart?.();
    },
    mute: (key, silent) => {
      const isChanged = silent !== isSilent;
      isSilent = silent;
      return isChanged && key !== undefined ? views.get(key)?.mute?.(silent) : undefined;
    },
  };
};

interface Dependencies extends ViewDependencies {
  clock: Clock;
  syncClock: Pick<SyncClock, 'at' | 'recordSwap' | 'recordVideoSkew'>;
  /** Called with the slide that is shown and its index in the playlist; null: the idle screen. */
  onReport(index: number | null, slide: Slide | null): void;
  onError(slideId: string, reason: string): void;
  /** Records plays; absent: nothing is recorded, as in a preview. */
  plays?: Pick<PlayRecorder, 'begin' | 'end' | 'skip'>;
}

interface PlayerOptions {
  /** IANA time zone of the schedules. */
  timeZone: string;
  fadeMs?: number;
}

export interface Player {
  /**
   * Replaces the playlist; null: the screen does not exist. A current slide that is unchanged keeps playing. Synchronized
   * pages of a screen show the same slide at the same time.
   */
  load(payload: PlaylistPayload | null, isSynchronized?: boolean): void;
  /** Goes to the previous or next slide that is on schedule and restarts its time. */
  step(by: 1 | -1): void;
  /** Goes one page back or forward inside the slide; past its first or last page, one slide. */
  flipPage(by: 1 | -1): void;
  /** Makes failed slides eligible immediately, and undoes steps that moved a synchronized page out of sync. */
  retry(): void;
  /**
   * Halts or resumes time and motion; `isSilent` also mutes. Resolves once the current view has a picture.
   */
  halt(isHalted: boolean, isSilent: boolean): Promise<void> | undefined;
  /** Re-evaluates immediately, because a clock was set. */
  onClockSet(): void;
}

export const createPlayer = (deps: Dependencies, { timeZone, fadeMs = FADE_MS }: PlayerOptions): Player => {
  const { clock, syncClock, mediaCache, plays, onReport, onError } = deps;
  let state = initialPlayback(timeZone);
  let timer: ReturnType<typeof setTimeout> | undefined;

  const readClocks = (elapsed = clock.elapsed()) => ({
    elapsed,
    wall: clock.now(),
    site: syncClock.at(elapsed),
    isClockSet: clock.state() !== 'unset',
  });

  const wakeAt = (at: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => dispatch({ type: 'tick' }), at - clock.elapsed());
  };

  const perform = (effect: Effect): void => {
    if (effect.type === 'report') onReport(effect.index, effect.slide);
    else if (effect.type === 'fail') onError(effect.slideId, effect.reason);
    else if (effect.type === 'wakeAt') wakeAt(effect.at);
    else if (effect.type === 'began') plays?.begin(effect.slide, effect.expectedMs);
    else if (effect.type === 'ended') plays?.end(effect.ending);
    else if (effect.type === 'skipped') plays?.skip(effect.slide, effect.expectedMs, effect.reason);
    else views.perform(effect);
  };

  const handle = (event: PlaybackEvent): void => {
    wakeAt(clock.elapsed() + MAX_SLEEP_MS);
    const [next, effects] = reduce(state, event, readClocks());
    state = next;
    for (const effect of effects) perform(effect);
  };

  const dispatch = createDispatch(handle);

  const views = createViews(deps, {
    timeZone,
    fadeMs,
    dispatch,
    positionOf: (key, at) => {
      const now = readClocks(at);
      return modeOf(state, now).positionOf(state, key, now) ?? 0;
    },
    isHalted: () => state.haltedAt !== null,
  });

  return {
    load: (payload, isSynchronized = false) => {
      dispatch({ type: 'load', payload, isSynchronized });
      if (payload !== null) void prefetch(payload.slides, mediaCache, () => state.payload === payload);
    },
    step: (by) => dispatch({ type: 'step', by }),
    onClockSet: () => dispatch({ type: 'clockSet' }),
    retry: () => dispatch({ type: 'retry' }),
    flipPage: (by) => {
      const view = views.get(state.shown?.key);
      if (!view?.flipPage(by)) return dispatch({ type: 'step', by });
      dispatch({ type: 'pageFlipped', remainingMs: view.remainingMs?.() ?? null });
    },
    halt: (isHalted, isSilent) => {
      // A view that is not visible yet starts muted.
      const seen = views.mute(state.shown?.isBegun ? state.shown.key : undefined, isSilent);
      dispatch({ type: 'halt', isHalted });
      return seen;
    },
  };
};
