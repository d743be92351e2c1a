/** The time of the site, as a page in step has it from its service; and what it tells of how well it keeps step. */

import type { ServiceMessage } from '../../service/contract/socket.ts';
import { type Course, createEstimator, offsetAt, steer } from '../../service/domain/clock-estimate.ts';
import type { Clock } from './clock.ts';

type TimeAnswer = Extract<ServiceMessage, { type: 'time' }>;

export interface Site {
  /** Milliseconds since the epoch, at a reading of `performance.now`. */
  at(elapsed: number): number;
  /** Whether the time of the site matters, and is asked for. */
  follow(isInStep: boolean): void;
  /** Takes the service's answer. */
  answer(message: TimeAnswer): void;
  /** A slide came on so many ms after its moment. */
  swapped(lateMs: number): void;
  /** A video is so many ms ahead of where it should be. */
  video(aheadMs: number): void;
}

/** Questions follow one another so soon until so many answers agree. */
const SOON_MS = 150;
const LATER_MS = 4_000;
const ENOUGH = 6;
const REPORT_MS = 5_000;
/** What a report may hold. */
const MOST_SKEWS = 100;

/** @param send passes a message to the service, or drops it where that is away */
export const createSite = (clock: Clock, send: (message: object) => void): Site => {
  const estimator = createEstimator();
  let course: Course | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let reporting: ReturnType<typeof setInterval> | undefined;
  let swaps: number[] = [];
  let videos: number[] = [];
  let settled = false;

  const ask = (): void => {
    send({ type: 'time', t0: clock.elapsed() });
    timer = setTimeout(ask, estimator.count() < ENOUGH ? SOON_MS : LATER_MS);
  };

  const report = (): void => {
    if (swaps.length + videos.length > 0) send({ type: 'skew', swaps, videos });
    swaps = [];
    videos = [];
  };

  const note = (skews: number[], skew: number): void => {
    if (skews.length < MOST_SKEWS) skews.push(Math.round(skew * 10) / 10);
  };

  return {
    // Until the service has told its time, or where it can't: the time of day.
    at: (elapsed) => elapsed + (course === null ? clock.now() - clock.elapsed() : offsetAt(course, elapsed)),
    follow: (isInStep) => {
      clearTimeout(timer);
      clearInterval(reporting);
      if (!isInStep) return;
      ask();
      reporting = setInterval(report, REPORT_MS);
    },
    answer: ({ t0, t1, t2 }) => {
      const t3 = clock.elapsed();
      estimator.add({ t0, t1, t2, t3 });
      const best = estimator.best(t3);
      if (best === null) return;
      course = steer(course ?? { at: t3, offset: best.offset, target: best.offset }, best.offset, t3, !settled);
      settled ||= estimator.count() >= ENOUGH;
    },
    swapped: (lateMs) => note(swaps, lateMs),
    video: (aheadMs) => note(videos, aheadMs),
  };
};
