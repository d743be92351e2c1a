/** The player: passes events to the playback reducer, and performs its effects. */
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import type { Clock, SyncClock } from './clock.ts';
import { createDispatch } from './dispatch.ts';
import { prefetch } from './media-cache.ts';
import { slidesFrom } from './page-plan.ts';
import { initialPlayback, MAX_SLEEP_MS, reduce } from './playback.ts';
import type { Effect, Playback, PlaybackEvent } from './playback-state.ts';
import type { PlayRecorder } from './plays/recorder.ts';
import { FADE_MS, LEAD_MS } from './timeline.ts';
import { modeOf } from './transitions.ts';
import { createViews, type ViewDependencies } from './views.ts';

interface Dependencies extends ViewDependencies {
  clock: Pick<Clock, 'elapsed' | 'now' | 'state'>;
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

export type Player = ReturnType<typeof createPlayer>;

export const createPlayer = (deps: Dependencies, { timeZone, fadeMs = FADE_MS }: PlayerOptions) => {
  const { clock, syncClock, mediaCache, plays, onReport, onError } = deps;
  let state = initialPlayback(timeZone);
  let timer: ReturnType<typeof setTimeout> | undefined;

  const readClocks = (elapsed = clock.elapsed(), site = syncClock.at(elapsed)) => {
    // What is in step is due by the time of the site, right or wrong.
    const wall = state.plan.hasSynchronized ? site : clock.now();
    return { elapsed, wall, site, isClockSet: clock.state() !== 'unset' };
  };
  const placeOf = (index: number) => state.plan.playOf(index, readClocks().wall + LEAD_MS);

  const wakeAt = (at: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => dispatch({ type: 'tick' }), at - clock.elapsed());
  };

  const perform = (effect: Effect): void => {
    if (effect.type === 'report') onReport(state.plan.positionOf(effect.index), effect.slide);
    else if (effect.type === 'fail') onError(effect.slideId, effect.reason);
    else if (effect.type === 'wakeAt') wakeAt(effect.at);
    else if (effect.type === 'began') plays?.begin(effect.slide, effect.expectedMs, placeOf(effect.index));
    else if (effect.type === 'ended') plays?.end(effect.ending);
    else if (effect.type === 'skipped') plays?.skip(effect.slide, effect, placeOf(effect.index));
    else views.perform(effect);
  };

  /** The state with the length that the shown view has now: a timetable gets further pages while it is on. */
  const measured = (): Playback => {
    const { shown } = state;
    const view = views.get(shown?.key);
    return shown === null || view === undefined ? state : { ...state, shown: { ...shown, length: view.length } };
  };

  const handle = (event: PlaybackEvent): void => {
    wakeAt(clock.elapsed() + MAX_SLEEP_MS);
    const [next, effects] = reduce(measured(), event, readClocks());
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
    siteAt: (at) => syncClock.at(at),
    isHalted: () => state.haltedAt !== null,
    payload: () => state.payload,
  });

  return {
    /** Replaces the playlist; null: the screen does not exist. A current slide that is unchanged keeps playing. */
    load: (payload: PlaylistPayload | null, isSynchronized = false): void => {
      dispatch({ type: 'load', payload, isSynchronized });
      const slides = slidesFrom(state.plan, state.shown?.index, readClocks());
      if (payload !== null) void prefetch(slides, mediaCache, () => state.payload === payload);
    },
    /** Goes to the previous or next slide that is on schedule and restarts its time. */
    step: (by: 1 | -1): void => dispatch({ type: 'step', by }),
    /** Goes to a slide that is due and restarts its time; any other id changes nothing. */
    goTo: (slideId: string): void => dispatch({ type: 'goTo', slideId }),
    /** Re-evaluates immediately, because a clock was set. */
    onClockSet: (): void => dispatch({ type: 'clockSet' }),
    /** Makes failed slides eligible immediately, and updates media that were replaced. */
    retry: (): void => {
      dispatch({ type: 'retry' });
      views.revalidate();
    },
    /** Goes one page back or forward inside the slide; past its first or last page, one slide. */
    flipPage: (by: 1 | -1): void => {
      const view = views.get(state.shown?.key);
      if (!view?.flipPage(by)) return dispatch({ type: 'step', by });
      dispatch({ type: 'pageFlipped', remainingMs: view.remainingMs?.() ?? null });
    },
    /** Halts or resumes time and motion; `isSilent` also mutes. Resolves once the current view has a picture. */
    halt: (isHalted: boolean, isSilent: boolean): Promise<void> | undefined => {
      // A view that is not visible yet starts muted.
      const seen = views.mute(state.shown?.isBegun ? state.shown.key : undefined, isSilent);
      dispatch({ type: 'halt', isHalted });
      return seen;
    },
  };
};
