/** What a slide can use, and what its view can do. */
import type { PlaylistPayload, Screen, Slide } from '../../../service/contract/playlist.ts';
import type { Age } from '../../../service/domain/age.ts';
import { requireLoadable } from '../plain-http.ts';

/** The common timing of all pages that show a slide at the same time. */
export interface Pace {
  /** How long the slide has been on, in ms, at a reading of `performance.now`; negative: its slot has not begun. */
  position(at: DOMHighResTimeStamp): number;
  /** Learnt startup latency of media on this machine, ms. */
  startupLatency: { ms: number };
  /** Reports how far the medium is ahead of its position, in ms; called now and then. */
  onSkew(aheadMs: number): void;
}

/** The medium of a slide is here, and this player cannot show it. */
export class Unplayable extends Error {}

export interface SlideContext {
  /** The share of its volume at which a medium is played, from 0 to 1; absent: 1. */
  gainOf?(url: string): number;
  slide: Slide;
  screen: Screen;
  /** The whole payload, for kinds that use feeds, sources and timetables. */
  payload: PlaylistPayload;
  /** The newest payload, in which data that is the same can have been fetched again. */
  current(): PlaylistPayload;
  /** IANA name of the site's time zone. */
  timeZone: string;
  /** Milliseconds since the epoch, by the service's clock. */
  now(): number;
  /**
   * The address to load a medium from: a local copy if there is one, else the URL itself.
   * Rejects if the medium is not available. Media that a third party names, such as a feed, are loaded only from the service:
   * their URLs can lead anywhere.
   */
  media(url: string, options?: { isThirdParty?: boolean }): Promise<string>;
  /** Headers of requests to the service. */
  credentials(): Record<string, string>;
  /** Renews them after a request was refused (401). */
  refused(): Promise<void>;
  /** The common timing; null if no other page shows the slide at the same time. */
  pace: Pace | null;
  /**
   * How long the slide has been on with the same medium, in ms, at a reading of `performance.now`, if it was edited
   * while it is on. Null: it starts.
   */
  continued: ((at: DOMHighResTimeStamp) => number) | null;
  /** Counts the frames of a film; called before it is released. Absent: nobody wants to know. */
  countFrames?(video: HTMLVideoElement): void;
  /** Reports that the shown slide can't continue; it is skipped. */
  fail(reason: string): void;
}

/** The view of one slide, from preparation to removal. */
export interface SlideView {
  /** Fills its layer and is opaque, so that nothing under it is visible. */
  readonly element: HTMLElement;
  /**
   * Called once, with the element in the document but hidden under the current slide. Resolves when the first
   * picture can be painted at once; rejects with the reason for skipping the slide. The signal cancels it.
   */
  prepare(signal: AbortSignal): Promise<void>;
  /** Length of the medium, or of the pages that there are now, in ms, known once prepared; null: it has none. */
  readonly length: number | null;
  /** How long its picture moves after its start, in ms, known once prepared; null or absent: as long as it is on. */
  readonly movesMs?: number | null;
  /** How old its picture is, for kinds that fetch it themselves; null: it has none yet. */
  age?(): Age | null;
  /** The slide will start soon: media with a startup latency can start hidden and muted. */
  preroll?(): void;
  /** The slide is on the screen: motion and sound start. */
  start(): void;
  /** For moving pictures: resolves when a frame was presented; before the start, when the first one was. */
  presented?(): Promise<void>;
  /** Stops motion and sound; the picture stays. */
  pause(): void;
  resume(): void;
  /**
   * Mutes or unmutes a slide that is not visible; for kinds that a pause does not mute. Resolves once
   * it has a picture again, or after a time limit.
   */
  mute?(silent: boolean): Promise<void> | undefined;
  /** Restarts the slide, because no other one is playable: media that have ended play again. */
  restart?(): void;
  /** Turns a page inside the slide; false at the first and last page, and without pages. */
  flipPage(step: -1 | 1): boolean;
  /** For slides of several pages: their remaining time, in ms. */
  remainingMs?(): number;
  /** Releases decoders, timers and object URLs. */
  destroy(): void;
}

export type SlideFactory = (context: SlideContext) => SlideView;

/**
 * Common to all kinds: an element that fills its layer, with its state in `data-state`: a template's animations run while
 * it is `playing`.
 */
export const createView = (kind: Slide['kind']): Omit<SlideView, 'prepare'> => {
  const element = document.createElement('section');
  element.className = `slide slide-${kind}`;
  const become = (state: 'playing' | 'paused') => () => {
    element.dataset['state'] = state;
  };
  return {
    element,
    length: null,
    start: become('playing'),
    pause: become('paused'),
    resume: become('playing'),
    flipPage: () => false,
    destroy: () => element.replaceChildren(),
  };
};

/** The address of a slide's medium. @throws Error with the reason if it has none, or one that this page does not load */
export const mediaUrl = (slide: Slide): string => {
  if (slide.media_url === null) throw new Error('the slide has no media_url');
  requireLoadable(slide.media_url);
  return slide.media_url;
};
