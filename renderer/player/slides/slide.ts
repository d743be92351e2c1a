import type { PlaylistPayload, Screen, Slide } from '../../../service/contract/playlist.ts';

/** The pace of all who show a slide at the same time. */
export interface Pace {
  /** How long the slide has been on, in ms, at a reading of `performance.now`; negative: it is not its turn yet. */
  position(at: DOMHighResTimeStamp): number;
  /** How long a medium takes to begin on this machine, as far as the page has learnt. */
  startupLatency: { ms: number };
  /** Call with how far the medium is ahead of that, in ms, from time to time. */
  onSkew(aheadMs: number): void;
}

/** What a slide is given to work with. */
export interface SlideContext {
  slide: Slide;
  screen: Screen;
  /** The whole payload, for kinds that draw on feeds, sources and timetables. */
  payload: PlaylistPayload;
  /** IANA name of the site's zone. */
  timeZone: string;
  /** Milliseconds since the epoch, by the service's clock. */
  now(): number;
  /**
   * An address to load a medium from: a local copy where there is one, else the URL itself.
   * Rejects where the medium can't be had. What a third party names, such as a feed, comes from the service alone: the
   * URL itself may lead anywhere.
   */
  media(url: string, options?: { isThirdParty?: boolean }): Promise<string>;
  /** The headers that go with requests to the service. */
  credentials(): Record<string, string>;
  /** Where the slide should be in its time; null where nobody else shows it at the same moment. */
  pace: Pace | null;
  /**
   * How long the slide has been on with the same medium, in ms, at a reading of `performance.now`: it was edited
   * meanwhile. Null: it begins.
   */
  continued: ((at: DOMHighResTimeStamp) => number) | null;
  /** Call when a slide that is on the screen can't go on; it is skipped and reported. */
  fail(reason: string): void;
}

/** One slide, from being made ready to being taken away. */
export interface SlideView {
  /** Fills its layer and is opaque from edge to edge, so that nothing shines through. */
  readonly element: HTMLElement;
  /**
   * Called once, with the element in the document but hidden under the current slide. Resolves when the first
   * picture can be painted at once; rejects with the reason for skipping the slide. Stops working on abort.
   */
  prepare(signal: AbortSignal): Promise<void>;
  /** The medium's own length in ms, known once prepared; null where it has none. */
  readonly length: number | null;
  /** How long its picture moves from its start, in ms, known once prepared; null or absent: for as long as it is on. */
  readonly movesMs?: number | null;
  /** The slide is about to be started, at its pace: what takes its time to begin may begin unseen and unheard. */
  preroll?(): void;
  /** The slide is on the screen from now: motion and sound begin. */
  start(): void;
  /** For moving pictures: resolves when a frame is on its way to the screen; before the start, when the first one was. */
  presented?(): Promise<void>;
  /** Motion and sound stop, the picture stays. */
  pause(): void;
  resume(): void;
  /**
   * While silent, nothing may be heard; nothing is seen either. For kinds that a pause does not silence. Resolves once
   * there is something to see again, or it takes too long.
   */
  mute?(silent: boolean): Promise<void> | undefined;
  /** Its time begins anew, since nothing else can come on: what has an end begins again. */
  restart?(): void;
  /** Turns a page inside the slide; false at its ends and where there are none. */
  flipPage(step: -1 | 1): boolean;
  /** For slides of several pages: how long what is left of them takes, in ms. */
  remainingMs?(): number;
  /** Lets go of everything: decoders, timers, object URLs. */
  destroy(): void;
}

export type SlideFactory = (context: SlideContext) => SlideView;
