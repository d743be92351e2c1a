/** The site's time on a synchronized page, from its service, and the page's reports of its synchronization error. */

import type { ServiceMessage } from '../../service/contract/socket.ts';
import { type Course, createEstimator, offsetAt, steer } from '../../service/domain/clock-estimate.ts';
import type { Clock } from './clock.ts';

type TimeAnswer = Extract<ServiceMessage, { type: 'time' }>;

export interface SyncClock {
  /** The site's time in milliseconds since the epoch, at a reading of `performance.now`. */
  at(elapsed: number): number;
  /** Starts or stops asking for the site's time and reporting. */
  setActive(isSynchronized: boolean): void;
  /** Handles the service's answer to a `time` message. */
  answer(message: TimeAnswer): void;
  /** Records that a slide appeared `lateMs` after the start of its slot. */
  recordSwap(lateMs: number): void;
  /** Records that a video is `aheadMs` ahead of its position in the slot. */
  recordVideoSkew(aheadMs: number): void;
}

/** Interval of requests until the estimate has {@link ENOUGH} samples. */
const SOON_MS = 150;
const LATER_MS = 4_000;
const ENOUGH = 6;
const REPORT_MS = 5_000;
/** Entries per list of a report, as the service accepts. */
const MAX_SKEWS = 100;

/** @param send sends a message to the service, or drops it if there is no connection */
export const createSyncClock = (clock: Clock, send: (message: object) => void): SyncClock => {
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

  const record = (skews: number[], skew: number): void => {
    if (skews.length < MAX_SKEWS) skews.push(Math.round(skew * 10) / 10);
  };

  return {
    // Without an answer of the service: the time of day.
    at: (elapsed) => elapsed + (course === null ? clock.now() - clock.elapsed() : offsetAt(course, elapsed)),
    setActive: (isSynchronized) => {
      clearTimeout(timer);
      clearInterval(reporting);
      if (!isSynchronized) return;
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
    recordSwap: (lateMs) => record(swaps, lateMs),
    recordVideoSkew: (aheadMs) => record(videos, aheadMs),
  };
};
