import { backdrop, frame, framing } from './frame.ts';
import type { SlideFactory } from './slide.ts';
import { createView, mediaUrl } from './view.ts';

/** How long a picture may stand still, while it should move, before the slide is given up. */
const stallSeconds = 8;
/** How long the first frame may take to reach the screen once it is decoded. */
const firstFrameMs = 500;
/** How long the last frame is held before a video that nothing follows begins again. */
const holdMs = 1000;

/** Resolves on the event; rejects on an error of the video, and on abort. */
const happened = (video: HTMLVideoElement, event: string, signal: AbortSignal): Promise<void> =>
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

const framePresented = (video: HTMLVideoElement): Promise<unknown> =>
  Promise.race([
    new Promise((resolve) => video.requestVideoFrameCallback?.(resolve)),
    new Promise((resolve) => setTimeout(resolve, firstFrameMs)),
  ]);

/** A video: prepared at its first frame, held at its last. */
export const createVideo: SlideFactory = ({ slide, payload, media, fail }) => {
  const view = createView('video');
  const video = document.createElement('video');
  const content = slide.content ?? {};
  const volume: unknown = content['volume'];
  video.className = 'picture';
  video.muted = content['muted'] !== false;
  video.volume = typeof volume === 'number' && volume >= 0 && volume <= 1 ? volume : 1;
  video.playsInline = true;
  video.preload = 'auto';
  video.disablePictureInPicture = true;
  video.disableRemotePlayback = true;
  const how = framing(slide.content);
  frame(video, how);

  let length: number | null = null;
  let watch: ReturnType<typeof setInterval> | undefined;
  let replay: ReturnType<typeof setTimeout> | undefined;
  const broken = (): void => fail(`the video stopped: ${video.error?.message || 'it can not be played'}`);

  const play = async (): Promise<void> => {
    try {
      await video.play();
    } catch (error) {
      const { name } = error as DOMException;
      if (name === 'AbortError') return;
      // A browser that wants a click before it makes a sound still plays without one.
      if (name !== 'NotAllowedError' || video.muted) return broken();
      video.muted = true;
      await video.play().catch(broken);
    }
  };

  const halt = (): void => {
    clearInterval(watch);
    clearTimeout(replay);
    video.pause();
  };

  const run = (): void => {
    let seen = -1;
    let still = 0;
    clearInterval(watch);
    // Seconds are counted, not measured: a machine that slept has not stalled.
    watch = setInterval(() => {
      still = video.currentTime !== seen || video.ended || document.hidden ? 0 : still + 1;
      seen = video.currentTime;
      if (still >= stallSeconds) fail(`the video has not moved for ${stallSeconds} s`);
    }, 1000);
    if (!video.ended) void play();
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
      if (how.fit === 'contain') view.element.prepend(backdrop(video, video.videoWidth, video.videoHeight));
      video.addEventListener('error', broken);
      video.addEventListener('ended', () => {
        replay = setTimeout(() => void play(), holdMs);
      });
    },
    start() {
      view.start();
      run();
    },
    pause() {
      view.pause();
      halt();
    },
    resume() {
      view.resume();
      run();
    },
    destroy() {
      halt();
      video.removeEventListener('error', broken);
      // A video lets go of its decoder only when it is told to load nothing.
      video.removeAttribute('src');
      video.load();
      view.destroy();
    },
  };
};
