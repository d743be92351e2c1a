/** Keeps a video in sync with the other pages: by its playback rate, or by a seek if it is far off. */
import type { Pace } from './slide.ts';

interface Correction {
  rate: number;
  seek: boolean;
}

/** A larger deviation is visible, and correcting it by the rate would take too long. */
const JUMP_MS = 250;
/** A seek takes this long to have an effect; no second one is made before. */
const REST_MS = 2_000;
/** Half a frame of a 60 Hz display: smaller deviations are not corrected. */
const CLOSE_MS = 8;
const DONE_MS = 4;
const MIN_RATE_CHANGE = 0.02;
const MAX_RATE_CHANGE = 0.05;

/**
 * @param aheadMs how far the video is ahead, ms; negative: behind
 * @param isCorrecting whether a correction is in progress; it continues until the deviation is gone
 */
export const correctionOf = (aheadMs: number, isCorrecting: boolean, sinceJumpMs: number): Correction => {
  const distance = Math.abs(aheadMs);
  if (distance > JUMP_MS && sinceJumpMs > REST_MS) return { rate: 1, seek: true };
  if (distance <= (isCorrecting ? DONE_MS : CLOSE_MS)) return { rate: 1, seek: false };
  const share = Math.min(Math.max(distance / 1000, MIN_RATE_CHANGE), MAX_RATE_CHANGE);
  return { rate: 1 - Math.sign(aheadMs) * share, seek: false };
};

/** Position in the video, ms, at a position in its slide's time: a looping video restarts at its end, others stay there. */
export const whereIn = ({ duration, loop }: Pick<HTMLVideoElement, 'duration' | 'loop'>, position: number): number => {
  const length = duration * 1000;
  return loop ? position % length : Math.min(Math.max(position, 0), length);
};

/** The shorter distance between two positions of a loop. */
const around = (distance: number, length: number): number => distance - Math.round(distance / length) * length;

/** Frames per measurement, and how many outliers are ignored at each end. */
const PICTURES = 7;
const FLUKES = 1;
/** Weight of the latest video in the learnt startup latency. */
const TRUST = 0.5;
const MAX_STARTUP_LATENCY_MS = 250;
/** A seek aims this far ahead, because it takes about this long. */
const AIM_MS = 100;

/** Trimmed mean of the deviations of single frames, ms: the refresh of the display makes each of them inexact. */
const mostly = (skews: readonly number[]): number => {
  const sorted = skews.toSorted((a, b) => a - b).slice(FLUKES, -FLUKES);
  return sorted.reduce((sum, skew) => sum + skew, 0) / sorted.length;
};

/**
 * Corrects the drift while the video plays; returns a function that stops it.
 * @param learns whether the video was started early by the assumed startup latency, so that its deviation measures the real one
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
