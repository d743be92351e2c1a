/** The state of a player, its events and its effects. */
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import type { PagePlan } from './page-plan.ts';
import type { Cooldowns, PlaylistScheduleAt } from './playlist-schedule.ts';
import type { Action, Slot } from './timeline.ts';

export type Direction = 1 | -1;

/** The clocks, read once, so that nothing falls due between two readings. */
export interface Now {
  /** Monotonic, in ms. */
  elapsed: number;
  /** The time of day, in ms since the epoch; meaningless unless `isClockSet`. */
  wall: number;
  /** The site's time, in ms since the epoch. */
  site: number;
  isClockSet: boolean;
}

/** A view, by the key that the reducer gave it. */
interface Placed {
  key: number;
  index: number;
  /** When the slot of its slide starts, by the site's clock; used only by synchronized playback. */
  startsAt: number;
  /** When it comes on, likewise: later if its round is entered within the slot. */
  appearsAt: number;
}

/** The view on the stage; without a slide, the idle screen. */
export interface Shown extends Placed {
  slide: Slide | null;
  slot: Slot;
  /** Length of its medium in ms, and how long its picture moves; null: it has none, or moves for as long as it is on. */
  length: number | null;
  movesMs: number | null;
  isBegun: boolean;
  /** Its slide was removed, edited, or failed: it is replaced as soon as another slide is ready. */
  isSpent: boolean;
  /** Its slide was edited, or its medium replaced: the new version gets the remaining time of the slot. */
  isEdited: boolean;
  /** Why its slide can't continue; null: it can. */
  failure: string | null;
  /** When it restarts for its next slot, by the monotonic clock; infinity: it does not. */
  restartsAt: number;
}

/** The slide that is being prepared, or is ready. */
export interface Upcoming extends Placed {
  slide: Slide;
  isReady: boolean;
  length: number | null;
  movesMs: number | null;
  /**
   * The direction of the command that requested it: it is swapped in as soon as it is ready. Null: it waits for its
   * slot.
   */
  step: Direction | null;
  /** Preparation began before its slot, so that its lateness is worth measuring. */
  isEarly: boolean;
  /** It is the new version of the slide that is shown, with the same medium. */
  isContinued: boolean;
}

/** The action that a mode decides on. */
export interface Decision {
  action: Action;
  /** Show the idle screen immediately. */
  isIdle: boolean;
  /** When the current slot ends, by the monotonic clock, which may be yet to come; null: the swap is not at its end. */
  due: number | null;
  /**
   * When the slot of the shown slide starts, and that of the upcoming one starts and is entered, by the site's clock; null:
   * as before.
   */
  shownStartsAt: number | null;
  upcomingSlot: { since: number; appears: number } | null;
  /** As in the state, or later: a halted page whose slide is no longer due is halted again with its successor. */
  haltedAt: number | null;
  /** When to decide again, by the monotonic clock. */
  wakeTimes: readonly number[];
}

/**
 * From when the loop of this page counts since a command, in ms since the epoch by the site's clock. It holds until before
 * `until`; after that the loop counts from the epoch, as on other pages.
 */
export interface LoopOrigin {
  at: number;
  until: number;
}

/** The effect of a step command: nothing, restart the slide, go to another one, or move this page in its loop. */
export type Step = 'hold' | 'restart' | { call: number } | { origin: LoopOrigin };

/** How a player keeps time: standalone, or with the other pages of its screen. */
export interface Mode {
  decide(state: Playback, now: Now): Decision;
  step(state: Playback, by: Direction, now: Now): Step;
  /** Goes to the slide of a place that is due. */
  goTo(state: Playback, place: number, now: Now): Step;
  /** How long the slide of a view has been on, in ms; negative: its slot has not begun; null: the view is gone. */
  positionOf(state: Playback, key: number, now: Pick<Now, 'elapsed' | 'site'>): number | null;
}

/** `key` is equal for playlists with the same slots. */
export interface Synchronized extends Mode {
  readonly key: string;
  /** The slot of this time by the site's clock, and its place; null: no slide is on schedule. */
  slotAt(now: number): { index: number | null; since: number };
}

/** How a play ends; null: its time is over. */
export interface Ending {
  isFailed: boolean;
  reason: string;
}

export interface Playback {
  readonly timeZone: string;
  readonly payload: PlaylistPayload | null;
  /** Its rounds; indexes of slides are places in it. */
  readonly plan: PagePlan;
  readonly scheduleAt: PlaylistScheduleAt;
  /** Null: no playlist is synchronized. */
  readonly synchronized: Synchronized | null;
  readonly shown: Readonly<Shown> | null;
  readonly upcoming: Readonly<Upcoming> | null;
  /** The view that was replaced last: it can still be visible in a fade. */
  readonly leaving: Readonly<Placed> | null;
  /** Why the play that is under way ends before its time; null: it does not, as far as is known. */
  readonly ending: Ending | null;
  /** The slide that failed last since the last swap. The search continues after it, or two hanging slides would alternate. */
  readonly lastFailed: { id: string; index: number } | null;
  readonly cooldowns: Cooldowns;
  /** When the idle screen is shown if no slide is ready, by the monotonic clock. */
  readonly idleAt: number;
  /** Since when time and motion are halted, by the monotonic clock; null: they are not. */
  readonly haltedAt: number | null;
  /** Reset when the slots of the playlist change; null: no command has moved this page. */
  readonly origin: LoopOrigin | null;
  readonly lastKey: number;
}

export type PlaybackEvent =
  /** A playlist was delivered; null: the screen does not exist. */
  | { type: 'load'; payload: PlaylistPayload | null; isSynchronized: boolean }
  /** A view was prepared, or could not be. */
  | { type: 'ready'; key: number; length: number | null; movesMs: number | null }
  | { type: 'unready'; key: number; reason: string; isFailed?: boolean }
  | { type: 'visible'; key: number }
  /** A medium of a view was replaced. */
  | { type: 'replaced'; key: number }
  /** The slide of a visible view can't continue. */
  | { type: 'failed'; key: number; reason: string }
  | { type: 'step'; by: Direction }
  | { type: 'goTo'; slideId: string }
  /** A page was turned inside the slide; null: that does not change its time. */
  | { type: 'pageFlipped'; remainingMs: number | null }
  | { type: 'halt'; isHalted: boolean }
  /** Failed slides become eligible immediately. */
  | { type: 'retry' }
  | { type: 'clockSet' }
  | { type: 'tick' };

export type Effect =
  /** Create a view for a slide under the current one. `isPaced`: it follows its position. */
  | { type: 'prepare'; key: number; slide: Slide; payload: PlaylistPayload; isPaced: boolean; isContinued: boolean }
  | { type: 'idle'; key: number }
  /**
   * Swap a view in, exactly at `cueAt` by the site's clock, if it is not null; the difference is measured if `isEarly`.
   * `isPaced`: it follows its position.
   */
  | {
      type: 'show';
      key: number;
      slideId: string | null;
      isFading: boolean;
      cueAt: number | null;
      isPaced: boolean;
      isEarly: boolean;
    }
  | { type: 'discard' | 'start' | 'pause' | 'resume' | 'restart'; key: number }
  | { type: 'report'; index: number | null; slide: Slide | null }
  | { type: 'fail'; slideId: string; reason: string }
  /** The shown slide begins to play, again too, and is to be on for `expectedMs`. */
  | { type: 'began'; slide: Slide; index: number; expectedMs: number }
  /** The play that began last is over. */
  | { type: 'ended'; ending: Ending | null }
  /** A slide that was due could not be prepared; `isFailed`: its medium is here, and cannot be shown. */
  | { type: 'skipped'; slide: Slide; index: number; expectedMs: number; reason: string; isFailed: boolean }
  /** Send a tick at this reading of the monotonic clock; replaces the previous request. */
  | { type: 'wakeAt'; at: number };
