import { frame, framing, surround } from './frame.ts';
import { createPicture, framePresented, happened, nextFrame, play, release, watchMotion } from './playback.ts';
import type { SlideFactory } from './slide.ts';
import { createView, mediaUrl } from './view.ts';

/** How long a picture may stand still, while it should move, before the slide is given up. */
const STALL_SECONDS = 8;
/** How long the last frame is held before a video that nothing follows begins again. */
const HOLD_MS = 1000;

/** A video: prepared at its first frame, held at its last. */
export const createVideo: SlideFactory = ({ slide, payload, media, fail }) => {
  const view = createView('video');
  const video = createPicture(slide.content);
  const how = framing(slide.content);
  frame(video, how);

  let length: number | null = null;
  let stopWatching = (): void => {};
  let replay: ReturnType<typeof setTimeout> | undefined;
  const broken = (): void => fail(`the video stopped: ${video.error?.message || 'it can not be played'}`);
  const run = (): void => void play(video).catch(broken);

  const holdAndReplay = (): void => {
    clearTimeout(replay);
    replay = setTimeout(run, HOLD_MS);
  };

  const halt = (): void => {
    stopWatching();
    clearTimeout(replay);
    video.pause();
  };

  const go = (): void => {
    stopWatching = watchMotion(video, STALL_SECONDS, () => fail(`the video has not moved for ${STALL_SECONDS} s`));
    if (video.ended) holdAndReplay();
    else run();
  };

  return {
    ...view,
    get length() {
      return length;
    },
    async prepare(signal) {
      const url = mediaUrl(slide);
      const address = await media(url);
      signal.throwIfAborted();
      view.element.append(video);
      const playable = happened(video, 'canplay', signal);
      video.src = address;
      await playable.catch((error: unknown) => {
        throw signal.aborted ? error : new Error(`${url} can't be loaded, or isn't a video this player can show`);
      });
      await framePresented(video);
      signal.throwIfAborted();
      length = Number.isFinite(video.duration) ? video.duration * 1000 : null;
      const longer = length !== null && slide.duration_seconds !== null && slide.duration_seconds * 1000 > length;
      video.loop = longer || payload.slides.length === 1;
      view.element.prepend(...surround(slide.content, how, video, video.videoWidth, video.videoHeight));
      video.addEventListener('error', broken);
      video.addEventListener('ended', holdAndReplay);
    },
    presented: () => nextFrame(video),
    start() {
      view.start();
      go();
    },
    again() {
      // A loop has no end to begin again from.
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
