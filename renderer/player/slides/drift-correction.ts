/** Keeps a video where everybody else's is: a little faster or slower, or by a jump where it is far off. */
import type { Pace } from './slide.ts';

/** What to do about a video. */
interface Correction {
  /** To play at. */
  rate: number;
  seek: boolean;
}

/** Further off than this it is seen, and would take too long to be made good. */
const JUMP_MS = 250;
/** A jump takes its time; another one before that would see none of its effect. */
const REST_MS = 2_000;
/** Within half a frame of a 60 Hz display it is as good as it gets. */
const CLOSE_MS = 8;
const DONE_MS = 4;
const MIN_RATE_CHANGE = 0.02;
const MAX_RATE_CHANGE = 0.05;

/**
 * @param aheadMs how far the video is ahead; negative: behind
 * @param isCorrecting whether it is being made good already: then it goes on until nothing is left of it
 */
export const correctionOf = (aheadMs: number, isCorrecting: boolean, sinceJumpMs: number): Correction => {
  const distance = Math.abs(aheadMs);
  if (distance > JUMP_MS && sinceJumpMs > REST_MS) return { rate: 1, seek: true };
  if (distance <= (isCorrecting ? DONE_MS : CLOSE_MS)) return { rate: 1, seek: false };
  const share = Math.min(Math.max(distance / 1000, MIN_RATE_CHANGE), MAX_RATE_CHANGE);
  return { rate: 1 - Math.sign(aheadMs) * share, seek: false };
};

/** Where a video is at a position in its slide's time, in ms: at its end it begins again, or stays. */
export const whereIn = ({ duration, loop }: Pick<HTMLVideoElement, 'duration' | 'loop'>, position: number): number => {
  const length = duration * 1000;
  return loop ? position % length : Math.min(Math.max(position, 0), length);
};

/** The shorter way from one place of a ring to another. */
const around = (distance: number, length: number): number => distance - Math.round(distance / length) * length;

/** How many pictures a judgement is made of, and how many at each end of them are left out as flukes. */
const PICTURES = 7;
const FLUKES = 1;
/** How much of what is learnt from one video is believed. */
const TRUST = 0.5;
const MAX_STARTUP_LATENCY_MS = 250;
/** How far a jump aims ahead, since it takes about so long. */
const AIM_MS = 100;

/** What most pictures say, in ms: displays show them at their own beat, now a little early and now a little late. */
const mostly = (skews: readonly number[]): number => {
  const sorted = skews.toSorted((a, b) => a - b).slice(FLUKES, -FLUKES);
  return sorted.reduce((sum, skew) => sum + skew, 0) / sorted.length;
};

/**
 * Pursues the pace for as long as the video plays; answers how to stop.
 * @param learns whether the video was begun ahead by as much as media are thought to take: then it shows what they do
 */
export const keepPace = (video: HTMLVideoElement, pace: Pace, learns: boolean): (() => void) => {
  let handle = 0;
  let isFirst = learns;
  let seen: number[] = [];
  let jumpedAt = Number.NEGATIVE_INFINITY;

  const jump = (at: DOMHighResTimeStamp): void => {
    jumpedAt = at;
    video.currentTime = whereIn(video, pace.position(at) + AIM_MS) / 1000;
  };

  const judge = (at: DOMHighResTimeStamp): void => {
    const ahead = mostly(seen);
    if (isFirst)
      pace.startupLatency.ms = Math.min(Math.max(pace.startupLatency.ms - ahead * TRUST, 0), MAX_STARTUP_LATENCY_MS);
    isFirst = false;
    seen = [];
    pace.onSkew(ahead);
    const { rate, seek } = correctionOf(ahead, video.playbackRate !== 1, at - jumpedAt);
    if (video.playbackRate !== rate) video.playbackRate = rate;
    if (seek) jump(at);
  };

  const look: VideoFrameRequestCallback = (at, { mediaTime, expectedDisplayTime }) => {
    handle = video.requestVideoFrameCallback(look);
    const position = pace.position(expectedDisplayTime);
    const ahead = mediaTime * 1000 - whereIn(video, position);
    const isOver = !video.loop && position > video.duration * 1000;
    if (position < 0 || isOver) return;
    seen.push(video.loop ? around(ahead, video.duration * 1000) : ahead);
    if (seen.length === PICTURES) judge(at);
  };

  handle = video.requestVideoFrameCallback?.(look) ?? 0;
  return () => {
    video.cancelVideoFrameCallback?.(handle);
    video.playbackRate = 1;
  };
};
