/** The clocks of a page: its own, that of the service, and the site's. */
import type { ClockState, ServiceMessage } from '../../service/contract/socket.ts';
import { type Course, createEstimator, offsetAt, steer } from '../../service/domain/clock-estimate.ts';

/**
 * Two clocks: `elapsed` is monotonic and measures how long slides are shown; `now` is the time of day that the service goes
 * by, its own or the site's, and decides which slides are on schedule, independent of the clock of the machine that shows
 * the page.
 */
export type Clock = ReturnType<typeof createClock>;

/** If the clocks of service and page differ by more, one of them is wrong. */
const APART_MS = 60_000;

/**
 * @param builtAt when this player was built, ms since the epoch. A clock that reads an earlier time has not been set:
 *   many boxes have no battery-backed clock
 */
export const createClock = (builtAt: number) => {
  const elapsed = () => performance.now();
  let offset: number | null = null;
  let site: (() => number) | null = null;

  const serviceTime = (): number | null => site?.() ?? (offset === null ? null : elapsed() + offset);

  const state = (): ClockState => {
    const [service, own] = [serviceTime(), Date.now()];
    if (service === null || service < builtAt) return own >= builtAt ? 'service' : 'unset';
    return Math.abs(service - own) <= APART_MS ? 'ok' : 'page';
  };

  const now = (): number => {
    const service = serviceTime();
    return service === null || state() === 'service' ? Date.now() : service;
  };

  return {
    /** Monotonic milliseconds since a fixed moment. */
    elapsed,
    /** Milliseconds since the epoch. */
    now,
    /** Whose clock is plausible. While it is `unset`, `now` is meaningless. */
    state,
    /** Adopts the service's time if it differs by more than `tolerance` ms; returns by how much `now` moved, in ms. */
    set: (serverTime: number, tolerance: number): number => {
      const before = now();
      const isFirst = serviceTime() === null;
      const difference = serverTime - elapsed() - (offset ?? Number.NEGATIVE_INFINITY);
      if (Math.abs(difference) > tolerance) offset = serverTime - elapsed();
      return isFirst ? 0 : now() - before;
    },
    /** Goes by the site's time, or by that of the service if it is null. */
    follow: (time: (() => number) | null): void => {
      site = time;
    },
  };
};

type TimeAnswer = Extract<ServiceMessage, { type: 'time' }>;

export type SyncClock = ReturnType<typeof createSyncClock>;

/** Interval of requests until the estimate is settled. */
const SOON_MS = 150;
const LATER_MS = 4_000;
/** It is settled by this many samples, the best of which is precise, or by many requests. */
const ENOUGH = 6;
const PRECISE_ROUND_TRIP_MS = 10;
const MANY = 40;
const REPORT_MS = 5_000;
/** Entries per list of a report, as the service accepts. */
const MAX_SKEWS = 100;

/** @param send sends a message to the service, or drops it if there is no connection */
export const createSyncClock = (clock: Clock, send: (message: object) => void) => {
  const estimator = createEstimator();
  let course: Course | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let reporting: ReturnType<typeof setInterval> | undefined;
  let swaps: number[] = [];
  let videos: number[] = [];
  let asked = 0;
  let settled = false;

  /** Asks for the site's time, and does so again for as long as the page is open. */
  const ask = (): void => {
    clearTimeout(timer);
    asked += 1;
    send({ type: 'time', t0: clock.elapsed() });
    timer = setTimeout(ask, settled ? LATER_MS : SOON_MS);
  };

  const report = (): void => {
    if (swaps.length + videos.length > 0) send({ type: 'skew', swaps, videos });
    swaps = [];
    videos = [];
  };

  const record = (skews: number[], skew: number): void => {
    if (skews.length < MAX_SKEWS) skews.push(Math.round(skew * 10) / 10);
  };

  // Without an answer of the service: the time of day.
  const at = (elapsed: number): number =>
    elapsed + (course === null ? clock.now() - clock.elapsed() : offsetAt(course, elapsed));

  return {
    /** The site's time in milliseconds since the epoch, at a reading of `performance.now`. */
    at,
    ask,
    /** Whether it reports how far what it shows is out of step. */
    setReporting: (isSynchronized: boolean): void => {
      clearInterval(reporting);
      if (isSynchronized) reporting = setInterval(report, REPORT_MS);
    },
    /** Handles the service's answer to a `time` message; returns by how much the time of day moved, in ms. */
    answer: ({ t0, t1, t2, followed }: TimeAnswer): number => {
      // A box that has just started does not know better.
      if (followed === null && course !== null) return 0;
      const t3 = clock.elapsed();
      estimator.add({ t0, t1, t2, t3 });
      const best = estimator.best(t3);
      if (best === null) return 0;
      const time = clock.now();
      course = steer(course ?? { at: t3, offset: best.offset, target: best.offset }, best.offset, t3, !settled);
      settled ||= asked >= MANY || (estimator.count() >= ENOUGH && best.roundTrip <= PRECISE_ROUND_TRIP_MS);
      clock.follow(followed === true ? () => at(clock.elapsed()) : null);
      return clock.now() - time;
    },
    /** Records that a slide appeared `lateMs` after the start of its slot. */
    recordSwap: (lateMs: number): void => record(swaps, lateMs),
    /** Records that a video is `aheadMs` ahead of its position in the slot. */
    recordVideoSkew: (aheadMs: number): void => record(videos, aheadMs),
  };
};
