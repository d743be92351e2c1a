/** What pages show and when, looked at from inside them, apart from what they report; by one clock for all of a machine. */
import type { BrowserContext, Page } from 'playwright-core';

/** A slide that came on, by the class of its element, ms since the epoch. */
export interface Sighting {
  name: string;
  at: number;
}

/** A picture of a video: when it was on the screen, and where it is in the video; in ms. */
export interface Picture {
  at: number;
  position: number;
}

export interface Watched {
  swaps: Sighting[];
  pictures: Picture[];
}

/** Has every page of a context note what comes on. */
export const watch = (context: BrowserContext): Promise<unknown> =>
  context.addInitScript(() => {
    const watched: Watched = { swaps: [], pictures: [] };
    Object.assign(globalThis, { watched });
    let front = 0;
    new MutationObserver((changes) => {
      for (const { target } of changes) {
        if (!(target instanceof HTMLElement) || !target.classList.contains('layer')) continue;
        const height = Number(target.style.zIndex);
        if (height <= front || target.style.opacity !== '') continue;
        front = height;
        const frame = Number(document.timeline.currentTime);
        watched.swaps.push({ name: target.firstElementChild?.className ?? '', at: performance.timeOrigin + frame });
      }
    }).observe(document, { attributes: true, attributeFilter: ['style'], subtree: true });

    const known = new WeakSet<HTMLVideoElement>();
    // A method, since tsx wraps functions of other kinds in a helper that pages do not have.
    const eye = {
      follow(video: HTMLVideoElement): void {
        video.requestVideoFrameCallback((_, { mediaTime, expectedDisplayTime }) => {
          eye.follow(video);
          if (video.paused || video.playbackRate < 0.5) return;
          watched.pictures.push({ at: performance.timeOrigin + expectedDisplayTime, position: mediaTime * 1000 });
        });
      },
    };
    setInterval(() => {
      for (const video of document.querySelectorAll('video')) {
        if (known.has(video)) continue;
        known.add(video);
        eye.follow(video);
      }
    }, 50);
  });

/** What a page has noted since it was asked last. */
export const watchedOf = (page: Page): Promise<Watched> =>
  page.evaluate(() => {
    const { watched } = globalThis as unknown as { watched: Watched };
    return { swaps: watched.swaps.splice(0), pictures: watched.pictures.splice(0) };
  });

const NEAR_MS = 1_000;

/** How far apart the same swaps of pages were, in ms: one figure for each that all of them had. */
export const swapSkews = ([first = [], ...others]: readonly Sighting[][]): number[] =>
  first.flatMap(({ name, at }) => {
    const times = others.map(
      (swaps) => swaps.find((swap) => swap.name === name && Math.abs(swap.at - at) < NEAR_MS)?.at,
    );
    if (times.some((time) => time === undefined)) return [];
    const all = [at, ...times.filter((time) => time !== undefined)];
    return [Math.max(...all) - Math.min(...all)];
  });

/** How far the videos of pages were apart, in ms: one figure for each picture of the first that the others have near it. */
export const pictureSkews = ([first = [], ...others]: readonly Picture[][]): number[] =>
  first.flatMap(({ at, position }) => {
    const starts = others.map((pictures) => {
      const near = pictures.find((picture) => Math.abs(picture.at - at) < 40);
      return near === undefined ? undefined : near.at - near.position;
    });
    if (starts.some((start) => start === undefined)) return [];
    const all = [at - position, ...starts.filter((start) => start !== undefined)];
    return [Math.max(...all) - Math.min(...all)];
  });
