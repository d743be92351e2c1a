/** The pulse of a page: tells the kiosk what is painted, so that a picture that stands still is noticed. */
import type { Beat } from '../../service/contract/kiosk.ts';
import { findKiosk } from './kiosk.ts';

const HEARTBEAT_MS = 3_000;
/** Frames are asked for, this many a beat: enough to see that they come, few enough that a still page rests. */
const MAX_FRAMES = 10;

type View = Pick<Beat, 'ready' | 'slide'>;

/** Those that should be moving. */
const playing = (): HTMLVideoElement[] =>
  [...document.querySelectorAll('video')].filter((video) => !video.paused && !video.ended);

/**
 * Starts the pulse; in a browser that is no kiosk there is none.
 * @param view asked at each beat
 * @returns beats out of round, as soon as what changed is painted
 */
export const startHeartbeat = (view: () => View): (() => void) => {
  const kiosk = findKiosk();
  if (kiosk === undefined) return () => {};
  let frames = 0;
  let videoFrames = 0;
  /** Counts of the beat before must not go into this one's. */
  let round = 0;

  const listen = (): void => {
    round += 1;
    const mine = round;
    frames = 0;
    videoFrames = 0;
    const count = (): void => {
      if (round !== mine) return;
      frames += 1;
      if (frames < MAX_FRAMES) requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
    for (const video of playing()) {
      const countVideo = (): void => {
        if (round !== mine) return;
        videoFrames += 1;
        if (videoFrames < MAX_FRAMES) video.requestVideoFrameCallback(countVideo);
      };
      video.requestVideoFrameCallback(countVideo);
    }
  };

  const send = (): void => {
    const videos = playing();
    const time = videos.reduce((sum, { currentTime }) => sum + currentTime, 0);
    const video = videos.length === 0 ? null : { time, frames: videoFrames };
    kiosk.beat({ ...view(), frames, hidden: document.hidden, video });
    listen();
  };

  const sendSoon = (): void => void requestAnimationFrame(() => requestAnimationFrame(send));

  listen();
  sendSoon();
  setInterval(send, HEARTBEAT_MS);
  return sendSoon;
};
