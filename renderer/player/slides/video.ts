import { keepPace, whereIn } from './drift-correction.ts';
import { frame, framing, surround } from './frame.ts';
import type { SlideFactory } from './slide.ts';
import { createPicture, frameShown, happened, nextFrame, play, release, soon, watchMotion } from './video-element.ts';
import { createView, mediaUrl } from './view.ts';

/** How long a playing video may present no frame before its slide is skipped. */
const STALL_SECONDS = 8;
/** The lowest playback rate of Chromium. */
const MIN_PLAYBACK_RATE = 0.0625;
/** A video that is less behind is corrected by its rate. */
const LATE_MS = 250;
/** How long the last frame is held before a video without a successor restarts. */
const HOLD_MS = 1000;

/** A video: prepared at its first frame, held at its last one. */
export const createVideo: SlideFactory = ({ slide, payload, media, pace, continued, fail }) => {
  const view = createView('video');
  const video = createPicture(slide.content);
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
    if (position < LATE_MS) return;
    const sought = happened(video, 'seeked', signal);
    video.currentTime = whereIn(video, position + LATE_MS) / 1000;
    await sought;
    await soon(frameShown(video));
    signal.throwIfAborted();
  };

  const atFullSpeed = (): void => {
    clearTimeout(unleash);
    video.playbackRate = 1;
  };

  const halt = (): void => {
    clearTimeout(unleash);
    stopWatching();
    stopDriftCorrection();
    clearTimeout(replay);
    video.pause();
  };

  const go = (): void => {
    stopWatching = watchMotion(video, STALL_SECONDS, () => fail(`the video has not moved for ${STALL_SECONDS} s`));
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
      view.element.append(video);
      const playable = happened(video, 'canplay', signal);
      // Requested before it can be presented: a frame of a paused video is not reported later.
      firstFrame = frameShown(video);
      video.src = address;
      await playable.catch((error: unknown) => {
        throw signal.aborted ? error : new Error(`${url} cannot be loaded, or isn't a video this player can show`);
      });
      await soon(firstFrame);
      signal.throwIfAborted();
      length = Number.isFinite(video.duration) ? video.duration * 1000 : null;
      const longer = length !== null && slide.duration_seconds !== null && slide.duration_seconds * 1000 > length;
      video.loop = longer || payload.slides.length === 1;
      const position = pace?.position ?? continued;
      if (position !== null && length !== null) await joinLate(position(performance.now()), signal);
      view.element.prepend(...surround(slide.content, how, video, video.videoWidth, video.videoHeight));
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
      release(video);
      view.destroy();
    },
  };
};
