/** The heartbeat of a page in the kiosk: reports what is painted, so that the kiosk notices a frozen picture. */
import type { Heartbeat } from '../../service/contract/kiosk.ts';
import { findKiosk } from './kiosk.ts';

const HEARTBEAT_MS = 3_000;
/** The number of frames requested for each heartbeat: enough to prove painting, few enough to let a still page idle. */
const MAX_FRAMES = 10;
/** A page that is not painted gets no animation frame; its heartbeat is sent after this time. */
const UNPAINTED_MS = 250;

type PageState = Pick<Heartbeat, 'ready' | 'slide'>;

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
  /** Frames that were requested for an earlier heartbeat are not counted. */
  let round = 0;

  const countFrames = (): void => {
    round += 1;
    const current = round;
    frames = 0;
    videoFrames = 0;
    const count = (): void => {
      if (round !== current) return;
      frames += 1;
      if (frames < MAX_FRAMES) requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
    for (const video of playingVideos()) {
      const countVideo = (): void => {
        if (round !== current) return;
        videoFrames += 1;
        if (videoFrames < MAX_FRAMES) video.requestVideoFrameCallback(countVideo);
      };
      video.requestVideoFrameCallback(countVideo);
    }
  };

  const send = (): void => {
    const videos = playingVideos();
    const time = videos.reduce((sum, { currentTime }) => sum + currentTime, 0);
    const video = videos.length === 0 ? null : { time, frames: videoFrames };
    kiosk.heartbeat({ ...readState(), frames, hidden: document.hidden, video });
    countFrames();
  };

  const sendSoon = (): void => {
    let isPainted = false;
    const sendPainted = (): void => {
      isPainted = true;
      send();
    };
    requestAnimationFrame(() => requestAnimationFrame(sendPainted));
    setTimeout(() => isPainted || send(), UNPAINTED_MS);
  };

  countFrames();
  sendSoon();
  setInterval(send, HEARTBEAT_MS);
  return sendSoon;
};
