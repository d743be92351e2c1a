/** The pages of a slide: each is shown for its time, and commands turn them. */
import type { Slide } from '../../../service/contract/playlist.ts';
import type { SlideView } from './slide.ts';

/** The longest delay of `setTimeout` in browsers. */
const MAX_MS = 2 ** 31 - 1;

/**
 * Like `setTimeout`, for delays of any length: browsers fire immediately for delays beyond 24.8 days, and a slide can
 * be shown for a year. Returns a function that cancels the timer.
 */
const startTimer = (act: () => void, ms: number): (() => void) => {
  const due = performance.now() + ms;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (left: number): void => {
    timer = left > MAX_MS ? setTimeout(() => wait(due - performance.now()), MAX_MS) : setTimeout(act, left);
  };
  wait(ms);
  return () => clearTimeout(timer);
};

export type Pages = ReturnType<typeof createPages>;

/** How a slide's time is divided. */
interface Share {
  /** Number of pages that are shown, from the first. */
  count: number;
  pageMs: number;
  /** Time of all pages, in ms. */
  length: number;
}

/**
 * Divides a slide's duration equally among its pages, and shows as many of them as can be read in that time.
 * Without a duration all pages are shown, each for its usual time.
 */
export const spread = (
  { duration_seconds }: Pick<Slide, 'duration_seconds'>,
  pages: number,
  { usualMs, leastMs }: { usualMs: number; leastMs: number },
): Share => {
  if (duration_seconds === null) return { count: pages, pageMs: usualMs, length: pages * usualMs };
  const length = duration_seconds * 1000;
  const count = Math.max(1, Math.min(pages, Math.floor(length / leastMs)));
  return { count, pageMs: length / count, length };
};

/** @param show is called with the index of the next page, from 0 */
export const createPages = (show: (index: number) => void) => {
  let count = 1;
  let pageMs = 0;
  let index = 0;
  /** When the time of the current page ends; while it is halted, what is left of it. */
  let until = 0;
  let left: number | null = null;
  let stopTimer = (): void => {};

  const schedule = (ms: number): void => {
    stopTimer();
    until = performance.now() + ms;
    if (index < count - 1) stopTimer = startTimer(() => go(index + 1, until), ms);
  };

  /** @param since when its time begins; a late page does not shorten the next one */
  const go = (next: number, since = performance.now()): void => {
    index = next;
    show(index);
    if (left === null) schedule(Math.max(0, since + pageMs - performance.now()));
    else left = pageMs;
  };

  return {
    /** Sets the number of pages, of which the first is shown, and how long each is on, in ms. */
    open: (pages: number, ms: number): void => {
      count = pages;
      pageMs = ms;
    },
    /** Starts, or restarts, at the first page. */
    start: (): void => {
      left = null;
      if (index === 0) schedule(pageMs);
      else go(0);
    },
    pause: (): void => {
      left ??= Math.max(0, until - performance.now());
      stopTimer();
    },
    resume: (): void => {
      if (left !== null) schedule(left);
      left = null;
    },
    /** Turns to the previous or next page and restarts its time; false at the ends. */
    flipPage: (step: -1 | 1): boolean => {
      if (index + step < 0 || index + step >= count) return false;
      go(index + step);
      return true;
    },
    /** Remaining time of this page and the following ones, in ms. */
    remainingMs: (): number => (left ?? Math.max(0, until - performance.now())) + (count - 1 - index) * pageMs,
    close: (): void => stopTimer(),
  };
};

/** The pages that can be shown after this one: those beside it, and after the last the first, as the slide may be alone. */
export const nextTo = (index: number, count: number): number[] =>
  [(index + 1) % count, index - 1].filter((page) => page >= 0);

/** Passes the calls of a view on to its pages. */
export const withPages = (view: Omit<SlideView, 'prepare'>, pages: Pages) => ({
  ...view,
  start() {
    view.start();
    pages.start();
  },
  restart: pages.start,
  pause() {
    view.pause();
    pages.pause();
  },
  resume() {
    view.resume();
    pages.resume();
  },
  flipPage: pages.flipPage,
  remainingMs: pages.remainingMs,
  destroy() {
    pages.close();
    view.destroy();
  },
});
