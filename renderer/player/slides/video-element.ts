/** Playback of a video element, for files and streams. */

/** How long the first frame may take to reach the screen once it is decoded. */
const FIRST_FRAME_MS = 500;

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

/** Waits for a frame, up to a limit: a hidden page presents none, although it decodes them. */
export const soon = (frame: Promise<void>): Promise<void> =>
  Promise.race([frame, new Promise<void>((resolve) => setTimeout(resolve, FIRST_FRAME_MS))]);

/** A video element without controls, muted unless `content.muted` is false. */
export const createPicture = (content: Readonly<Record<string, unknown>> | null): HTMLVideoElement => {
  const video = document.createElement('video');
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
    still = video.currentTime !== seen || video.ended || document.hidden ? 0 : still + 1;
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
