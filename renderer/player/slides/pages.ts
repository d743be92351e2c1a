/** The pages of a slide that has several: each has its time, and a person may turn them. */

import type { Slide } from '../../../service/contract/playlist.ts';
import { startTimer } from '../timer.ts';
import type { SlideView } from './slide.ts';

export interface Pages {
  /** Says how many there are, of which the first is shown already, and how long each is on, in ms. */
  open(count: number, pageMs: number): void;
  /** Begins at the first page, or again. */
  start(): void;
  pause(): void;
  resume(): void;
  /** Turns one page back or on, whose time begins anew; false at the ends. */
  flipPage(step: -1 | 1): boolean;
  /** What is left of the time of this page and of those after it, in ms. */
  remainingMs(): number;
  close(): void;
}

/** What a slide's time is given to. */
interface Share {
  /** Pages that are shown, the first of them. */
  count: number;
  pageMs: number;
  /** Of all of them, in ms. */
  length: number;
}

/**
 * How a slide's duration spreads over its pages: each has as much of it, and as many are shown as can be read in it.
 * Without a duration all are shown, and each for its usual time.
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

/** @param show is called with the index of the page that comes on, from 0 */
export const createPages = (show: (index: number) => void): Pages => {
  let count = 1;
  let pageMs = 0;
  let index = 0;
  /** Of the page that is on: when its time is up, and while it is halted what is left of it. */
  let until = 0;
  let left: number | null = null;
  let stopTimer = (): void => {};

  const schedule = (ms: number): void => {
    stopTimer();
    until = performance.now() + ms;
    if (index < count - 1) stopTimer = startTimer(() => go(index + 1, until), ms);
  };

  /** @param since when its time begins; a page that came late does not take from the next */
  const go = (next: number, since = performance.now()): void => {
    index = next;
    show(index);
    if (left === null) schedule(Math.max(0, since + pageMs - performance.now()));
    else left = pageMs;
  };

  return {
    open: (pages, ms) => {
      count = pages;
      pageMs = ms;
    },
    start: () => {
      left = null;
      if (index === 0) schedule(pageMs);
      else go(0);
    },
    pause: () => {
      left ??= Math.max(0, until - performance.now());
      stopTimer();
    },
    resume: () => {
      if (left !== null) schedule(left);
      left = null;
    },
    flipPage: (step) => {
      if (index + step < 0 || index + step >= count) return false;
      go(index + step);
      return true;
    },
    remainingMs: () => (left ?? Math.max(0, until - performance.now())) + (count - 1 - index) * pageMs,
    close: () => stopTimer(),
  };
};

/** A view that has pages: what it does, they do too. */
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
