import type Hls from 'hls.js';
import type { pageAuthHeader } from '../../../service/contract/page.ts';
import { streamSchemes } from '../../../service/contract/stream-schemes.ts';
import type { RtmpSession } from '../../../service/contract/streams.ts';
import { pictureKindOf } from '../../../service/domain/media-types.ts';
import { isTokenRefused } from '../../shared/page-token.ts';
import { within } from '../abort.ts';
import { createImage } from './image.ts';
import { createView, mediaUrl, type SlideContext, type SlideFactory, type SlideView } from './slide.ts';
import {
  createPicture,
  createVideo,
  frameShown,
  happened,
  nextFrame,
  play,
  release,
  soon,
  watchMotion,
} from './video.ts';

/** During a gap of up to this length the last frame is held. */
const HOLD_SECONDS = 6;
/** A stream without a picture for this long is replaced by its fallback, and the fallback by the next slide. */
const PATIENCE_MS = 6_000;
const ASK_AGAIN_MS = 250;
const RETRY_MS = 2_000;
const STILL = `the stream has had no picture for ${HOLD_SECONDS} s`;
const ENDED = 'the stream has ended';
/** Limit of one attempt to reconnect. */
const CONNECT_MS = 20_000;

// Typed by the contract, but not imported with its schemas.
const tokenHeader: typeof pageAuthHeader = 'x-signage-page-auth';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A manifest, or a part of one, of the service: others get no credentials, and their refusals say nothing of these. */
const isOwn = (address: string): boolean => new URL(address, location.href).origin === location.origin;

/** The source is no manifest: the service makes one. */
const live = new RegExp(`^(${streamSchemes.join('|')}):`, 'i');

/**
 * The manifest to play: that of the service's session for the source, once it is ready and media arrives, or the source
 * itself. What is left of a source that has gone would take the place of the fallback for a moment, and stand still.
 */
const manifestOf = async ({ slide, credentials, refused }: SlideContext, signal: AbortSignal): Promise<string> => {
  const source = mediaUrl(slide);
  if (!live.test(source)) return source;
  const disableAudio = slide.content?.['muted'] !== false;
  const query = new URLSearchParams({ source, slide: slide.id, disableAudio: String(disableAudio) });
  for (let refusals = 0; ; ) {
    const response = await fetch(`/api/rtmp/session?${query}`, { headers: credentials(), cache: 'no-store', signal });
    if (isTokenRefused(response.status) && ++refusals === 1) {
      await refused();
      continue;
    }
    if (!response.ok) throw new Error(`the stream's session answers ${response.status}`);
    const session = (await response.json()) as RtmpSession;
    if (session.ready && session.live) return session.playlistUrl;
    await pause(ASK_AGAIN_MS);
    signal.throwIfAborted();
  }
};

/** Addresses that were live. The rest of an ended stream looks like a recording, but must not be played again. */
const onceLive = new Set<string>();

/** The fallback as an image or video slide. */
const createFallback = (context: SlideContext): SlideView | null => {
  const media_url = context.slide.content?.['fallback_media_url'];
  if (typeof media_url !== 'string') return null;
  const kind = pictureKindOf(media_url) ?? 'image';
  return (kind === 'video' ? createVideo : createImage)({ ...context, slide: { ...context.slide, kind, media_url } });
};

/**
 * A live stream, played near its live edge: short gaps hold the last frame; long ones, and its end, show the fallback. A
 * recording is played from its beginning, again and again.
 */
export const createStream: SlideFactory = (context) => {
  const view = createView('stream');
  const video = createPicture(context.slide);
  const still = document.createElement('canvas');
  still.className = 'picture';
  still.style.objectFit = 'contain';
  const life = new AbortController();
  let hls: Hls | null = null;
  let fallback: SlideView | null = null;
  let isOn = false;
  /** The stream was lost; the fallback or the last frame is shown. */
  let isAway = false;
  let stopWatching = (): void => {};

  const disconnect = (): void => {
    stopWatching();
    context.countFrames?.(video);
    hls?.destroy();
    hls = null;
    release(video);
  };

  /** Copies the last frame to a canvas, because a video without a source shows nothing. */
  const hold = (): void => {
    if (video.readyState < video.HAVE_CURRENT_DATA) return;
    still.width = video.videoWidth;
    still.height = video.videoHeight;
    still.getContext('2d')?.drawImage(video, 0, 0);
    video.after(still);
  };

  const dropStill = (): void => {
    still.remove();
    still.width = 0;
  };

  const wasLive = (): boolean => onceLive.has(mediaUrl(context.slide));
  const isLive = (): boolean =>
    hls === null ? video.duration === Number.POSITIVE_INFINITY : hls.latestLevelDetails?.live === true;

  /** Connects and resolves with the first frame. */
  const connect = async (signal: AbortSignal): Promise<void> => {
    hold();
    disconnect();
    const { default: Player } = await import('hls.js');
    const isProtected = live.test(mediaUrl(context.slide)) && tokenHeader in context.credentials();
    if (isProtected && !Player.isSupported())
      throw new Error('this browser has no Media Source Extensions, so it sends no page token with streams');
    const url = await manifestOf(context, signal);
    signal.throwIfAborted();
    const framed = happened(video, 'loadeddata', signal);
    let refuse = (_reason: Error): void => {};
    const refused = new Promise<never>((_, reject) => {
      refuse = reject;
    });
    if (Player.isSupported()) {
      const player = new Player({
        backBufferLength: 8,
        maxBufferLength: 12,
        liveSyncDurationCount: 2,
        liveMaxLatencyDurationCount: 8,
        maxLiveSyncPlaybackRate: 1.05,
        xhrSetup: (request, address) => {
          if (isOwn(address))
            for (const [name, value] of Object.entries(context.credentials())) request.setRequestHeader(name, value);
        },
      });
      hls = player;
      player.on(Player.Events.ERROR, async (_, { fatal, type, response }) => {
        if (response?.code !== undefined && isTokenRefused(response.code) && isOwn(response.url)) {
          await context.refused();
        }
        if (!fatal || hls !== player) return;
        if (type === Player.ErrorTypes.MEDIA_ERROR) player.recoverMediaError();
        else player.startLoad();
      });
      player.on(Player.Events.LEVEL_LOADED, (_event, { details }) => {
        if (wasLive() && !details.live) refuse(new Error(ENDED));
      });
      player.loadSource(url);
      player.attachMedia(video);
    } else video.src = url;
    await Promise.race([framed, refused]);
    if (isLive()) onceLive.add(mediaUrl(context.slide));
    else if (wasLive()) throw new Error(ENDED);
    await soon(frameShown(video));
    if (video.videoWidth === 0) throw new Error('the stream has sound alone');
    dropStill();
  };

  const run = (): void => {
    stopWatching();
    stopWatching = watchMotion(video, HOLD_SECONDS, () => lost(STILL));
    void play(video).catch(() => lost(STILL));
  };

  /** Connects and plays, if the slide is on. */
  const runAgain = async (signal: AbortSignal, limitMs: number): Promise<void> => {
    await connect(AbortSignal.any([signal, AbortSignal.timeout(limitMs)]));
    isAway = false;
    if (isOn) run();
  };

  const dropFallback = (): void => {
    fallback?.element.remove();
    fallback?.destroy();
    fallback = null;
  };

  /** Retries until there is a picture or the signal aborts. */
  const comeBack = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        await runAgain(signal, CONNECT_MS);
        return dropFallback();
      } catch {
        disconnect();
        await pause(RETRY_MS);
      }
    }
  };

  /**
   * Shows the fallback over the last frame until the stream is back. Resolves once either has a picture;
   * rejects if the fallback has none.
   */
  const fallBack = async (): Promise<void> => {
    const next = createFallback(context);
    if (next === null) throw new Error('the stream has no picture');
    isAway = true;
    const end = new AbortController();
    const signal = AbortSignal.any([life.signal, end.signal]);
    const patient = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    const ready = within(patient, next.prepare(patient));
    // A stalled stream rarely recovers immediately: the fallback loads first, within a time limit.
    const back = Promise.race([ready, pause(RETRY_MS)]).then(() => comeBack(signal));
    try {
      await Promise.race([ready, back]);
    } catch (error) {
      end.abort(error);
      next.destroy();
      throw error;
    }
    if (!isAway) {
      end.abort(new Error('the stream is back'));
      return next.destroy();
    }
    fallback = next;
    view.element.append(next.element);
    dropStill();
    if (isOn) next.start();
  };

  const lost = (reason: string): void => {
    stopWatching();
    fallBack().catch(() => context.fail(reason));
  };

  video.addEventListener('ended', () => {
    if (isAway) return;
    if (wasLive()) return lost(ENDED);
    // Its address is asked again, because it may be that of a live stream by now.
    runAgain(life.signal, PATIENCE_MS).catch(() => life.signal.aborted || lost(STILL));
  });

  const hasFallback = typeof context.slide.content?.['fallback_media_url'] === 'string';

  return {
    ...view,
    async prepare(signal) {
      signal.addEventListener('abort', () => life.abort(signal.reason));
      view.element.append(video);
      try {
        await connect(AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]));
      } catch (error) {
        signal.throwIfAborted();
        if (hasFallback) await fallBack();
        else
          throw error instanceof DOMException
            ? new Error(`the stream has no picture after ${PATIENCE_MS / 1000} s`)
            : error;
      }
    },
    presented: () => fallback?.presented?.() ?? nextFrame(video),
    start() {
      isOn = true;
      view.start();
      fallback?.start();
      if (isAway) return;
      if (isLive() && hls?.liveSyncPosition != null) video.currentTime = hls.liveSyncPosition;
      run();
    },
    pause() {
      isOn = false;
      view.pause();
      fallback?.pause();
      stopWatching();
      video.pause();
    },
    resume() {
      this.start();
    },
    destroy() {
      life.abort(new Error('the slide is gone'));
      dropFallback();
      dropStill();
      disconnect();
      view.destroy();
    },
  };
};
