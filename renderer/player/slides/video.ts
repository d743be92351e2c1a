/** Videos, and the playback of a video element, which streams use too. */
import type { Slide } from '../../../service/contract/playlist.ts';
import { keepPace, whereIn } from './drift-correction.ts';
import { frame, framing, surround } from './frame.ts';
import { createView, mediaUrl, type SlideFactory, Unplayable } from './slide.ts';

/** How long the first frame may take to be presented once it is decoded: on a busy machine a large film takes its time. */
const FIRST_FRAME_MS = 3_000;
/** A hidden page presents none, although it decodes them. */
const HIDDEN_FRAME_MS = 500;

/** Resolves on the event; rejects on an error of the video, and on abort. */
export const happened = (video: HTMLVideoElement, event: string, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const done = new AbortController();
    const settle = (how: () => void): void => {
      done.abort();
      how();
    };
    const once = { signal: done.signal };
    video.addEventListener(event, () => settle(resolve), once);
    video.addEventListener('error', () => settle(() => reject(new Error(video.error?.message ?? ''))), once);
    signal.addEventListener('abort', () => settle(() => reject(signal.reason as Error)), once);
  });

/** Resolves when a frame was presented; immediately in a browser without `requestVideoFrameCallback`. */
export const frameShown = (video: HTMLVideoElement): Promise<void> =>
  'requestVideoFrameCallback' in video
    ? new Promise((resolve) => video.requestVideoFrameCallback(() => resolve()))
    : Promise.resolve();

/** As {@link frameShown}; resolves immediately for a paused video. */
export const nextFrame = (video: HTMLVideoElement): Promise<void> =>
  video.paused ? Promise.resolve() : frameShown(video);

/** Waits for a frame, up to a limit. */
export const soon = (frame: Promise<void>): Promise<void> => {
  const limit = document.hidden ? HIDDEN_FRAME_MS : FIRST_FRAME_MS;
  return Promise.race([frame, new Promise<void>((resolve) => setTimeout(resolve, limit))]);
};

/** The video element of a slide: without controls, muted unless `content.muted` is false. */
export const createPicture = ({ id, content }: Pick<Slide, 'id' | 'content'>): HTMLVideoElement => {
  const video = document.createElement('video');
  video.dataset['slide'] = id;
  const volume = content?.['volume'];
  video.className = 'picture';
  video.muted = content?.['muted'] !== false;
  video.volume = typeof volume === 'number' && volume >= 0 && volume <= 1 ? volume : 1;
  video.playsInline = true;
  video.preload = 'auto';
  video.disablePictureInPicture = true;
  video.disableRemotePlayback = true;
  return video;
};

/** Plays; muted if the browser requires a click before it plays sound. Rejects if the video can't be played. */
export const play = async (video: HTMLVideoElement): Promise<void> => {
  try {
    await video.play();
  } catch (error) {
    const { name } = error as DOMException;
    // It was paused, or its source was replaced, before the first frame.
    if (name === 'AbortError') return;
    if (name !== 'NotAllowedError' || video.muted) throw error;
    video.muted = true;
    await video.play();
  }
};

/** Calls `onStill` once when no frame was presented for `seconds`; returns a function that stops watching. */
export const watchMotion = (video: HTMLVideoElement, seconds: number, onStill: () => void): (() => void) => {
  let seen = -1;
  let still = 0;
  // Ticks are counted instead of measuring time: a machine that slept has not stalled.
  const timer = setInterval(() => {
    // Sound alone moves on without a picture.
    const moves = video.currentTime !== seen && video.videoWidth > 0;
    still = moves || video.ended || document.hidden ? 0 : still + 1;
    seen = video.currentTime;
    if (still < seconds) return;
    clearInterval(timer);
    onStill();
  }, 1000);
  return () => clearInterval(timer);
};

/** A video releases its decoder only when it loads an empty source. */
export const release = (video: HTMLVideoElement): void => {
  video.pause();
  video.removeAttribute('src');
  video.load();
};

/** How long a playing video may present no frame before its slide is skipped. */
const STALL_SECONDS = 8;
/** How long a video may play before its first picture is on. */
const BLIND_MS = 3_000;
/** The lowest playback rate of Chromium. */
const MIN_PLAYBACK_RATE = 0.0625;
/** A video that is less behind is corrected by its rate. */
const LATE_MS = 250;
/** A slide that is longer than its video by less than this ends on the last frame: a loop would flash the first ones. */
const TAIL_MS = 500;
/** How long the last frame is held before a video without a successor restarts. */
const HOLD_MS = 1000;

/** A video: prepared at its first frame, held at its last one. */
export const createVideo: SlideFactory = ({
  slide,
  payload,
  media,
  gainOf = () => 1,
  pace,
  continued,
  countFrames,
  fail,
}) => {
  const view = createView('video');
  const video = createPicture(slide);
  const how = framing(slide.content);
  frame(video, how);
  // Preserving the pitch delays Chromium by up to a quarter of a second at each change of the rate.
  if (pace !== null) video.preservesPitch = false;

  let length: number | null = null;
  let stopWatching = (): void => {};
  let stopDriftCorrection = (): void => {};
  let replay: ReturnType<typeof setTimeout> | undefined;
  let isBegun = false;
  let firstFrame: Promise<void> = Promise.resolve();
  /** Whether a picture was presented: a browser that decodes the sound alone plays on without one. */
  let isSeen = false;
  let blind: ReturnType<typeof setTimeout> | undefined;
  /** Whether it was started early and hidden, and not interrupted since. */
  let isOnTime = false;
  let unleash: ReturnType<typeof setTimeout> | undefined;
  const broken = (): void => fail(`the video stopped: ${video.error?.message || 'it cannot be played'}`);
  const run = (): void => void play(video).catch(broken);

  const holdAndReplay = (): void => {
    clearTimeout(replay);
    if (pace === null) replay = setTimeout(run, HOLD_MS);
  };

  /** Seeks to the position that the other pages will have reached when it is shown. */
  const joinLate = async (position: number, signal: AbortSignal): Promise<void> => {
    const sought = happened(video, 'seeked', signal);
    video.currentTime = whereIn(video, position) / 1000;
    await sought;
    await soon(frameShown(video));
    signal.throwIfAborted();
  };

  const atFullSpeed = (): void => {
    clearTimeout(unleash);
    video.playbackRate = 1;
  };

  const watchPicture = (): void => {
    clearTimeout(blind);
    if (isSeen) return;
    blind = setTimeout(() => {
      // A hidden page presents no pictures.
      if (document.hidden) watchPicture();
      else if (!isSeen) fail(`${slide.media_url} shows no picture`);
    }, BLIND_MS);
  };

  const halt = (): void => {
    clearTimeout(unleash);
    clearTimeout(blind);
    stopWatching();
    stopDriftCorrection();
    clearTimeout(replay);
    video.pause();
  };

  const go = (): void => {
    stopWatching = watchMotion(video, STALL_SECONDS, () => fail(`the video has not moved for ${STALL_SECONDS} s`));
    watchPicture();
    if (video.ended) holdAndReplay();
    else run();
    if (pace !== null && length !== null) stopDriftCorrection = keepPace(video, pace, isOnTime);
    isOnTime = false;
  };

  return {
    ...view,
    get length() {
      return length;
    },
    get movesMs() {
      return video.loop ? null : length;
    },
    async prepare(signal) {
      const url = mediaUrl(slide);
      const address = await media(url);
      signal.throwIfAborted();
      video.volume *= gainOf(url);
      view.element.append(video);
      const playable = happened(video, 'canplay', signal);
      // Requested before it can be presented: a frame of a paused video is not reported later.
      firstFrame = frameShown(video).then(() => {
        isSeen = true;
      });
      video.src = address;
      await playable.catch((error: unknown) => {
        throw signal.aborted ? error : new Error(`${url} cannot be loaded, or isn't a video this player can show`);
      });
      signal.throwIfAborted();
      if (video.videoWidth === 0) throw new Unplayable(`${url} has no picture that this player can show`);
      await soon(firstFrame);
      signal.throwIfAborted();
      length = Number.isFinite(video.duration) ? video.duration * 1000 : null;
      const isLonger = length !== null && (slide.duration_seconds ?? 0) * 1000 > length + TAIL_MS;
      video.loop = isLonger || payload.slides.length === 1;
      const position = pace?.position ?? continued;
      if (position !== null && length !== null && position(performance.now()) >= LATE_MS) {
        await joinLate(position(performance.now() + LATE_MS), signal);
      }
      view.element.prepend(...surround(slide, payload, how, video, video.videoWidth, video.videoHeight));
      video.addEventListener('error', broken);
      video.addEventListener('ended', holdAndReplay);
    },
    presented: () => (isBegun ? nextFrame(video) : firstFrame),
    preroll() {
      // Starting a video takes time, changing its rate does not; at this rate it is silent and hardly moves.
      if (pace === null) return;
      const left = -pace.position(performance.now()) - pace.startupLatency.ms;
      if (left <= 0) return;
      isOnTime = true;
      video.playbackRate = MIN_PLAYBACK_RATE;
      run();
      unleash = setTimeout(atFullSpeed, left);
    },
    start() {
      isBegun = true;
      view.start();
      atFullSpeed();
      go();
    },
    restart() {
      // A looping video restarts on its own.
      if (video.loop) return;
      clearTimeout(replay);
      const isHalted = video.paused && !video.ended;
      video.currentTime = 0;
      if (!isHalted) run();
    },
    pause() {
      view.pause();
      halt();
    },
    resume() {
      view.resume();
      go();
    },
    destroy() {
      halt();
      video.removeEventListener('error', broken);
      countFrames?.(video);
      release(video);
      view.destroy();
    },
  };
};
