/** The views of slides, by the key that the reducer gave them: creates, prepares, shows and discards them. */
import type { PlaylistPayload } from '../../service/contract/playlist.ts';
import { remember } from '../../service/domain/collections.ts';
import { within } from './abort.ts';
import type { Clock, SyncClock } from './clock.ts';
import type { MediaCache } from './media-cache.ts';
import type { Effect, PlaybackEvent } from './playback-state.ts';
import { MOST_MEDIA } from './slides/markup.ts';
import { type SlideContext, type SlideFactory, type SlideView, Unplayable } from './slides/slide.ts';
import type { Cue, Stage } from './stage.ts';

export interface ViewDependencies {
  clock: Pick<Clock, 'now'>;
  syncClock: Pick<SyncClock, 'recordSwap' | 'recordVideoSkew'>;
  stage: Stage;
  /** Without the last two, media that are replaced under their names stay as they are. */
  mediaCache: Pick<MediaCache, 'resolve'> &
    Partial<Pick<MediaCache, 'gainOf' | 'holding' | 'versionOf' | 'revalidate'>>;
  /** Headers that authenticate requests to the service. */
  credentials(): Record<string, string>;
  /** Renews them after a request was refused (401). */
  refused(): Promise<void>;
  createSlide: SlideFactory;
  countFrames?: SlideContext['countFrames'];
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
  /** The site's time, at a reading of `performance.now`. */
  siteAt(at: number): number;
  /** How long the slide of a view has been on, in ms, at a reading of `performance.now`; negative: its slot has not begun. */
  positionOf(key: number, at: number): number;
  isHalted(): boolean;
  payload(): PlaylistPayload | null;
}

type ViewEffect = Extract<Effect, { key: number }>;

const PREPARE_MS = 20_000;
/** Startup latency of a video on most machines; the first guess. */
const TYPICAL_STARTUP_LATENCY_MS = 60;

export const createViews = (deps: ViewDependencies, playing: Playing) => {
  const { clock, syncClock, stage, mediaCache, credentials, refused, createIdle, countFrames, onSwap } = deps;
  const createSlide = mediaCache.holding?.(deps.createSlide) ?? deps.createSlide;
  const { dispatch, positionOf, siteAt, timeZone, fadeMs, isHalted } = playing;
  const views = new Map<number, SlideView>();
  /** The media of each view, with the entity tags of what it loads. */
  const versions = new WeakMap<SlideView, ReadonlyMap<string, Promise<string | null>>>();
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
    const loaded = new Map<string, Promise<string | null>>();
    const media: SlideContext['media'] = (url, options) => {
      const address = mediaCache.resolve(url, options);
      const versionOf = (): string | null => mediaCache.versionOf?.(url) ?? null;
      const version = address.then(versionOf, () => null);
      if (!options?.isThirdParty) remember(loaded, url, version, MOST_MEDIA);
      return address;
    };
    try {
      const view = createSlide({
        slide,
        screen: payload.screen,
        payload,
        current: () => playing.payload() ?? payload,
        timeZone,
        // Of what is on now, pages of all boxes say the same.
        now: clock.now,
        media,
        ...(mediaCache.gainOf && { gainOf: mediaCache.gainOf }),
        credentials,
        refused,
        ...(countFrames && { countFrames }),
        continued: isContinued ? position : null,
        pace: isPaced ? { position, startupLatency, onSkew: syncClock.recordVideoSkew } : null,
        fail: (reason) => dispatch({ type: 'failed', key, reason }),
      });
      versions.set(view, loaded);
      add(key, view);
      await within(abort.signal, view.prepare(abort.signal));
      dispatch({ type: 'ready', key, length: view.length, movesMs: view.movesMs ?? null });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      dispatch({ type: 'unready', key, reason, isFailed: error instanceof Unplayable });
    } finally {
      clearTimeout(late);
      preparing.delete(key);
    }
  };

  const show = ({ key, slideId, isFading, cueAt, isPaced, isEarly }: Extract<Effect, { type: 'show' }>): void => {
    const view = views.get(key);
    if (view === undefined) return;
    const cue: Cue | undefined =
      cueAt === null
        ? undefined
        : {
            left: (at) => cueAt - siteAt(at),
            onSeen: (at) => {
              if (isEarly && !isHalted()) syncClock.recordSwap(siteAt(at) - cueAt);
            },
          };
    const onFrame = (): void => dispatch({ type: 'visible', key });
    const settled = stage.show(view, isFading ? fadeMs : 0, onFrame, cue);
    if (front !== null) {
      views.delete(front);
      void settled.then((gapMs) => onSwap(slideId, gapMs));
    }
    front = key;
    if (isPaced) view.preroll?.();
  };

  const discard = (key: number): void => {
    preparing.get(key)?.abort(new Error('no longer needed'));
    const view = views.get(key);
    if (view !== undefined) stage.discard(view);
    views.delete(key);
  };

  /** Replaces a view if one of its media was replaced, or has become available. `isOver`: nothing is left to finish. */
  const revalidate = async (key: number, view: SlideView, isOver = false): Promise<void> => {
    for (const [url, version] of versions.get(view) ?? []) {
      const before = await version;
      const now = await mediaCache.revalidate?.(url, isOver ? null : before);
      // Without a copy at the service a remote medium is shown from its own address.
      const isNew = before !== null || url.startsWith('/media/');
      if (isNew && now != null && now !== before) return dispatch({ type: 'replaced', key });
    }
  };

  /** A view that is not prepared again asks here for what has become of its media. */
  const restart = (key: number, view: SlideView | undefined): void => {
    view?.restart?.();
    if (view !== undefined) void revalidate(key, view, true);
  };

  const start = (view: SlideView | undefined): void => {
    // Muted before it starts: a slide that starts during a blackout must not be visible even briefly.
    if (isSilent) void view?.mute?.(true);
    view?.start();
  };

  return {
    get: (key: number | undefined): SlideView | undefined => (key === undefined ? undefined : views.get(key)),
    perform: (effect: ViewEffect): void => {
      const view = views.get(effect.key);
      if (effect.type === 'prepare') void prepare(effect);
      else if (effect.type === 'idle') add(effect.key, createIdle());
      else if (effect.type === 'show') show(effect);
      else if (effect.type === 'discard') discard(effect.key);
      else if (effect.type === 'start') start(view);
      else if (effect.type === 'pause') view?.pause();
      else if (effect.type === 'resume') view?.resume();
      else restart(effect.key, view);
    },
    /** Replaces the views whose media were replaced under their names. */
    revalidate: (): void => {
      for (const [key, view] of views) void revalidate(key, view);
    },
    /** Mutes or unmutes the view; one that starts later starts muted. Resolves once it has a picture again. */
    mute: (key: number | undefined, silent: boolean): Promise<void> | undefined => {
      const isChanged = silent !== isSilent;
      isSilent = silent;
      return isChanged && key !== undefined ? views.get(key)?.mute?.(silent) : undefined;
    },
  };
};
