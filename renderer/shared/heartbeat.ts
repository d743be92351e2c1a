/** The heartbeat of a page in the kiosk: reports what is painted, so that the kiosk notices a frozen picture. */
import type { Heartbeat } from '../../service/contract/kiosk.ts';
import { findKiosk } from './kiosk.ts';

const HEARTBEAT_MS = 3_000;
/** The number of frames requested for each heartbeat: enough to prove painting, few enough to let a still page idle. */
const MAX_FRAMES = 10;
/** A page that is not painted gets no animation frame; its heartbeat is sent after this time. */
const UNPAINTED_MS = 250;

type PageState = Pick<Heartbeat, 'ready' | 'slide' | 'free'>;

const playingVideos = (): HTMLVideoElement[] =>
  [...document.querySelectorAll('video')].filter((video) => !video.paused && !video.ended);

/**
 * Starts the heartbeat; does nothing in a browser.
 * @param readState called for each heartbeat
 * @returns sends an extra heartbeat as soon as the last change is painted
 */
export const startHeartbeat = (readState: () => PageState): (() => void) => {
  const kiosk = findKiosk();
  if (kiosk === undefined) return () => {};
  let frames = 0;
  let videoFrames = 0;
  /** Frames until the last change is painted; 0: it is. */
  let unpainted = 0;
  let late: ReturnType<typeof setTimeout> | undefined;
  /** What a frame is requested of, one at a time: behind a cover there are none, and requests would pile up. */
  const requested = new WeakSet<Document | HTMLVideoElement>();

  const request = (): void => {
    if (requested.has(document)) return;
    requested.add(document);
    requestAnimationFrame(() => {
      requested.delete(document);
      frames += 1;
      if (unpainted === 1) sendNow();
      else if (unpainted > 0) unpainted -= 1;
      if (frames < MAX_FRAMES || unpainted > 0) request();
    });
  };

  const requestOf = (video: HTMLVideoElement): void => {
    if (requested.has(video)) return;
    requested.add(video);
    video.requestVideoFrameCallback(() => {
      requested.delete(video);
      videoFrames += 1;
      if (videoFrames < MAX_FRAMES) requestOf(video);
    });
  };

  const countFrames = (): void => {
    frames = 0;
    videoFrames = 0;
    request();
    playingVideos().forEach(requestOf);
  };

  const send = (): void => {
    const videos = playingVideos();
    const time = videos.reduce((sum, { currentTime }) => sum + currentTime, 0);
    const video = videos.length === 0 ? null : { time, frames: videoFrames };
    kiosk.heartbeat({ ...readState(), frames, hidden: document.hidden, video });
    countFrames();
  };

  const sendNow = (): void => {
    clearTimeout(late);
    unpainted = 0;
    send();
  };

  const sendSoon = (): void => {
    clearTimeout(late);
    late = setTimeout(sendNow, UNPAINTED_MS);
    unpainted = 2;
    request();
  };

  countFrames();
  sendSoon();
  setInterval(send, HEARTBEAT_MS);
  return sendSoon;
};
