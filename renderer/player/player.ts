/** The player: decides which slide is due, prepares it ahead of time, and swaps it in on the stage. */
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import { isOn } from '../../service/domain/slide-schedule.ts';
import { within } from './abort.ts';
import type { Clock } from './clock.ts';
import { createCooldowns } from './cooldowns.ts';
import { isSame } from './fingerprint.ts';
import type { Report } from './link.ts';
import { createLoopSchedule, type LoopSchedule } from './loop-schedule.ts';
import type { MediaCache } from './media-cache.ts';
import { createPlaylistSchedule } from './screen-document.ts';
import type { SlideFactory, SlideView } from './slides/slide.ts';
import type { Cue, Stage } from './stage.ts';
import { type Move, standaloneMove } from './standalone.ts';
import type { SyncClock } from './sync-clock.ts';
import { LEAD_MS, shiftOf, synchronizedMove } from './synchronized.ts';
import { lengthOf, resumed, type Slot, slotOf } from './timeline.ts';

interface Dependencies {
  clock: Clock;
  syncClock: Pick<SyncClock, 'at' | 'recordSwap' | 'recordVideoSkew'>;
  stage: Stage;
  mediaCache: MediaCache;
  /** Headers that authenticate requests to the service. */
  credentials(): Record<string, string>;
  createSlide: SlideFactory;
  /** Creates the view that is shown while no slide is. */
  createIdle(): SlideView;
  onReport(report: Pick<Report, 'currentSlide' | 'currentSlideId' | 'currentSlideTitle'>): void;
  onError(slideId: string, reason: string): void;
  /** Called when a slide (null: the idle screen) has replaced the previous one; `gapMs`: see {@link Stage.show}. */
  onSwap(slideId: string | null, gapMs: number): void;
}

export interface Player {
  /**
   * Replaces the playlist; null: the screen does not exist. A current slide that is unchanged keeps playing. Synchronized
   * pages of a screen show the same slide at the same time.
   */
  load(payload: PlaylistPayload | null, isSynchronized?: boolean): void;
  /** Goes to the previous or next slide that is on schedule and restarts its time. */
  step(step: 1 | -1): void;
  /** Goes one page back or forward inside the slide; past its first or last page, one slide. */
  flipPage(step: 1 | -1): void;
  /** Makes failed slides eligible at once, and undoes steps that moved a synchronized page out of sync. */
  retry(): void;
  /**
   * Halts or resumes time and motion; `silent` also mutes. Resolves once the current view has a picture.
   */
  halt(halted: boolean, silent: boolean): Promise<void> | undefined;
  /** Decides again at once, because a clock was set. */
  onClockSet(): void;
}

/**
 * When the slot of a slide starts, by the site's clock; used only by synchronized playback. An object of its own: the
 * view reads it, and the player moves it.
 */
interface SlotStart {
  startsAt: number;
}

/** The view on the stage; without a slide, the idle screen. */
interface Shown {
  slide: Slide | null;
  index: number;
  view: SlideView;
  slot: Slot;
  start: SlotStart;
  /** The view is visible and was started. */
  isBegun: boolean;
  /** Its slide was removed, edited, or failed: it is replaced as soon as another slide is ready. */
  spent: boolean;
  /** Its slide was edited: the new version gets the remaining time of the slot. */
  isEdited: boolean;
}

type Next = Omit<Shown, 'isBegun' | 'spent' | 'isEdited'>;

/** The slide that is being prepared, or is ready. */
interface Upcoming {
  slide: Slide;
  index: number;
  view: SlideView;
  ready: boolean;
  /** The direction of the command that asked for it: it is swapped in as soon as it is ready. Null: it waits for its slot. */
  step: 1 | -1 | null;
  abort: AbortController;
  start: SlotStart;
  /** Preparation began before its slot, so that its lateness is worth measuring. */
  isEarly: boolean;
}

interface Decision extends Move {
  /** When the slot of the slide to prepare starts, by the site's clock; used only by synchronized playback. */
  since: number;
}

/** How long before its slot a slide is prepared: late enough for fresh data, early enough to load. */
const PREPARE_AHEAD_MS = 15_000;
const PREPARE_MS = 20_000;
const FADE_MS = 800;
/** From the decision to swap until the old layer is gone: the stage warms up the new layer first. */
const FADE_LEAD_MS = FADE_MS + 100;
/** A page without a ready slide shows the idle screen after this time. */
const IDLE_AFTER_MS = 5_000;
/** Startup latency of a video on most machines; the first guess. */
const TYPICAL_STARTUP_LATENCY_MS = 60;
/** The schedule is evaluated at least this often, even if a clock changes without an event. */
const MAX_SLEEP_MS = 30_000;

export const createPlayer = (
  {
    clock,
    syncClock,
    stage,
    mediaCache,
    credentials,
    createSlide,
    createIdle,
    onReport,
    onError,
    onSwap,
  }: Dependencies,
  { timeZone }: { timeZone: string },
): Player => {
  let payload: PlaylistPayload | null = null;
  let shown: Shown | null = null;
  let upcoming: Upcoming | null = null;
  /** The slide that failed last since the last swap. The search continues after it, or two hanging slides would alternate. */
  let lastFailed: Slide | null = null;
  let idleAt = Number.POSITIVE_INFINITY;
  let haltedAt: number | null = null;
  let isSilent = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cooldowns = createCooldowns(clock.elapsed);
  let playlistSchedule = createPlaylistSchedule([], cooldowns, clock, timeZone);
  /** Null: the playlist is not synchronized. */
  let loopSchedule: LoopSchedule | null = null;
  /** By how much commands have moved this page's time, in ms; reset when the loop schedule changes. */
  let shift = 0;
  let wakeAt = 0;
  const startupLatency = { ms: TYPICAL_STARTUP_LATENCY_MS };

  const isSynchronized = (): boolean => loopSchedule !== null && clock.state() !== 'unset';
  /** The site's time as this page plays it, at a reading of the monotonic clock. */
  const siteTime = (at: number): number => syncClock.at(at) + shift;

  const reportFailure = (slide: Slide, error: unknown): void => {
    const reason = error instanceof Error ? error.message : String(error);
    const failures = cooldowns.start(slide);
    // Reported at 1, 2, 4, 8, … failures in a row.
    if (Number.isInteger(Math.log2(failures))) onError(slide.id, reason);
  };

  const dropUpcoming = (): void => {
    if (upcoming === null) return;
    upcoming.abort.abort(new Error('no longer needed'));
    stage.discard(upcoming.view);
    upcoming = null;
  };

  const prepare = (index: number, step: Upcoming['step'], since = 0): void => {
    const slide = payload?.slides[index];
    if (payload === null || slide === undefined) return;
    dropUpcoming();
    const start: SlotStart = { startsAt: since };
    const edited = editedBy(slide);
    const isContinued = edited?.slide?.media_url === slide.media_url;
    const view = createSlide({
      slide,
      screen: payload.screen,
      payload,
      timeZone,
      now: clock.now,
      media: mediaCache.resolve,
      credentials,
      continued: edited !== null && isContinued ? (at) => at - runningSlot(edited, at).since : null,
      pace: isSynchronized()
        ? { position: (at) => siteTime(at) - start.startsAt, startupLatency, onSkew: syncClock.recordVideoSkew }
        : null,
      fail: (reason) => {
        if (shown?.view !== view || shown.spent) return;
        shown.spent = true;
        reportFailure(slide, reason);
        update();
      },
    });
    const abort = new AbortController();
    const isEarly = siteTime(clock.elapsed()) < since;
    const mine: Upcoming = { slide, index, view, ready: false, step, abort, start, isEarly };
    upcoming = mine;
    stage.place(view);
    const late = setTimeout(() => abort.abort(new Error(`not ready within ${PREPARE_MS / 1000} s`)), PREPARE_MS);
    within(abort.signal, view.prepare(abort.signal))
      .then(
        () => {
          mine.ready = true;
        },
        (error: unknown) => {
          if (upcoming !== mine) return;
          dropUpcoming();
          reportFailure(slide, error);
          if (step === null) lastFailed = slide;
          const beyond = step === null ? null : playlistSchedule.next(mine.index, step, clock.now());
          if (beyond !== null && beyond !== shown?.index) prepare(beyond, step);
        },
      )
      .finally(() => {
        clearTimeout(late);
        update();
      });
  };

  const show = (next: Next, cue?: Cue): void => {
    const fade = shown?.slide == null || next.slide === null || payload?.playlist?.fade_between_slides;
    const isSwap = shown !== null;
    shown = { ...next, isBegun: false, spent: false, isEdited: false };
    const settled = stage.show(next.view, fade && isSwap ? FADE_MS : 0, () => begin(next), cue);
    if (isSwap) void settled.then((gapMs) => onSwap(next.slide?.id ?? null, gapMs));
    if (cue !== undefined) next.view.preroll?.();
  };

  const begin = (next: Next): void => {
    if (shown?.view !== next.view) return;
    shown.isBegun = true;
    // Muted before it starts: a slide that starts during a blackout must not be visible even briefly.
    if (isSilent) void next.view.mute?.(true);
    next.view.start();
    if (haltedAt !== null) {
      next.view.pause();
      if (!isSynchronized()) haltedAt = clock.elapsed();
    }
    onReport({
      currentSlide: next.slide === null ? null : shown.index,
      currentSlideId: next.slide?.id ?? null,
      currentSlideTitle: next.slide?.title ?? null,
    });
  };

  /** The current view once it was started; before that, {@link begin} applies a halt or mute. */
  const begunView = (): SlideView | undefined => (shown?.isBegun ? shown.view : undefined);

  /** The current view if it shows an earlier version of this slide. */
  const editedBy = (slide: Slide): Shown | null =>
    shown?.isEdited && shown.slide?.id === slide.id && !isSynchronized() ? shown : null;

  /** The slot of the current view, moved by the time that it has been halted. */
  const runningSlot = ({ slot }: Shown, at: number): Slot => (haltedAt === null ? slot : resumed(slot, haltedAt, at));

  const slotFor = (slide: Slide, view: SlideView, due: number | null): Slot => {
    const at = clock.elapsed();
    const length = lengthOf(slide, view.length);
    const edited = editedBy(slide);
    if (edited === null) return slotOf(length, at, due);
    const { since } = runningSlot(edited, at);
    return { since, until: Math.max(since + length, at) };
  };

  /** How long before the end of its slot the fade begins, in ms, so that a video still moves until it is gone. */
  const fadeLeadOf = ({ slot, view }: Shown): number => {
    const isFading = payload?.playlist?.fade_between_slides === true && view.movesMs != null;
    if (!isFading) return 0;
    const late = slot.until + FADE_LEAD_MS - (slot.since + (view.movesMs ?? 0));
    return Math.min(Math.max(late, 0), FADE_LEAD_MS, (slot.until - slot.since) / 2);
  };

  const showIdle = (): void => {
    if (shown !== null && shown.slide === null) return;
    const view = createIdle();
    stage.place(view);
    show({ slide: null, index: shown?.index ?? -1, view, slot: { since: 0, until: 0 }, start: { startsAt: 0 } });
  };

  const swapIn = ({ slide, index, view, start, isEarly }: Upcoming, due: number | null): void => {
    upcoming = null;
    lastFailed = null;
    if (shown?.slide != null && !shown.spent) cooldowns.reset(shown.slide.id);
    const next = { slide, index, view, slot: slotFor(slide, view, due), start };
    if (!isSynchronized()) return show(next);
    const left = (at: number): number => start.startsAt - siteTime(at);
    const onSeen = (at: number): void => {
      if (isEarly && haltedAt === null) syncClock.recordSwap(-left(at));
    };
    show(next, { left, onSeen });
  };

  /** Plays the current slide again, because no other one is playable. */
  const repeat = (due: number | null): void => {
    if (shown?.slide == null) return;
    lastFailed = null;
    cooldowns.reset(shown.slide.id);
    shown.slot = slotOf(lengthOf(shown.slide, shown.view.length), clock.elapsed(), due);
    shown.view.restart?.();
  };

  const searchFrom = (): number => {
    const failed = payload?.slides.findIndex(({ id }) => id === lastFailed?.id) ?? -1;
    return failed === -1 ? (shown?.index ?? -1) : failed;
  };

  const decideStandalone = (at: number, wall: number): Decision => {
    // A halt stops the slide's time, not its schedule.
    const until = haltedAt === null ? (shown?.slot.until ?? at) : Number.POSITIVE_INFINITY;
    const scene = {
      shown: shown && { ...shown, until, lead: fadeLeadOf(shown) },
      upcoming: upcoming && { ...upcoming, isCalled: upcoming.step !== null },
      from: searchFrom(),
    };
    return { ...standaloneMove(scene, { at, wall }, playlistSchedule, PREPARE_AHEAD_MS), since: 0 };
  };

  /** The time of a halted page stands still until its slide goes off schedule. */
  const synchronizedTime = (at: number): number => {
    const now = siteTime(at);
    const halted = haltedAt === null ? now : siteTime(haltedAt);
    const slide = payload?.slides[loopSchedule?.slotAt(halted).index ?? -1];
    return slide !== undefined && isOn(slide, now, timeZone) ? halted : now;
  };

  /** Moves the current view to another slot, as when no other slide is playable. */
  const assignSlot = ({ view, start }: Shown, since: number, now: number): void => {
    if (start.startsAt === since) return;
    start.startsAt = since;
    const restart = (): void => {
      if (shown?.view === view && haltedAt === null) view.restart?.();
    };
    // A slot that has already begun is a corrected time: no restart.
    if (since > now) setTimeout(restart, since - now);
  };

  /** A slide that can't be shown leaves its slot to the slide before it, so that pages stay synchronized. */
  const decideSynchronized = (ring: LoopSchedule, at: number): Decision => {
    const now = synchronizedTime(at);
    const on = shown?.slide == null || shown.spent ? null : shown.index;
    const { action, isIdle, ...move } = synchronizedMove(
      ring,
      now,
      { shown: on, upcoming },
      playlistSchedule.isAvailable,
      PREPARE_AHEAD_MS,
    );
    wakeAt = at + move.wakeAt - now;
    if (shown !== null && move.shownSince !== null) assignSlot(shown, move.shownSince, now);
    if (upcoming !== null) upcoming.start.startsAt = move.upcomingSince;
    const isOff = shown?.slide != null && !isOn(shown.slide, now + LEAD_MS, timeZone);
    const isEmpty = shown === null && upcoming === null && action === 'hold';
    return { action, isIdle: isIdle || isOff || isEmpty, due: null, since: move.upcomingSince };
  };

  /** Returns whether to decide again. */
  const perform = ({ action, isIdle, due, since }: Decision): boolean => {
    if (action === 'swap' && upcoming !== null) swapIn(upcoming, due);
    else if (action === 'drop') dropUpcoming();
    else {
      if (isIdle) showIdle();
      if (action === 'stay') repeat(due);
      else if (typeof action === 'object') prepare(action.prepare, null, since);
      return false;
    }
    return true;
  };

  /** Reads the clocks and performs what is due. Every event ends here. */
  const update = (): void => {
    // Read once: what comes due between two readings would be neither done nor waited for.
    const at = clock.elapsed();
    const wall = clock.now();
    try {
      let isSettled = false;
      while (!isSettled) {
        const decision =
          loopSchedule !== null && isSynchronized() ? decideSynchronized(loopSchedule, at) : decideStandalone(at, wall);
        const isLate = shown === null && at >= idleAt;
        isSettled = !perform({ ...decision, isIdle: decision.isIdle || isLate });
      }
    } finally {
      sleep(at, wall);
    }
  };

  /** Wakes up for the next slot, preparation, schedule change or end of a cooldown. */
  const sleep = (at: number, wall: number): void => {
    clearTimeout(timer);
    const { until = at + MAX_SLEEP_MS } = shown?.slide == null ? {} : shown.slot;
    const due = until - (shown === null ? 0 : fadeLeadOf(shown));
    const changes = playlistSchedule.changesAt(wall) - wall + at;
    const wakeTimes = isSynchronized()
      ? [wakeAt]
      : [until, due, due - PREPARE_AHEAD_MS, changes, changes - PREPARE_AHEAD_MS];
    const moments = [...wakeTimes, idleAt, at + MAX_SLEEP_MS, ...cooldowns.ends()];
    const next = Math.min(...moments.filter((moment) => moment > at));
    timer = setTimeout(update, next - clock.elapsed());
  };

  /** Fetches the media of the playlist ahead, so that it keeps playing if the service becomes unreachable. */
  const prefetch = async (wanted: PlaylistPayload): Promise<void> => {
    for (const { kind, media_url } of wanted.slides) {
      if (payload !== wanted) return;
      if (media_url !== null && ['image', 'video', 'pdf'].includes(kind))
        await mediaCache.resolve(media_url).catch(() => {});
    }
  };

  const load = (next: PlaylistPayload | null, synchronized = false): void => {
    const before = synchronized === (loopSchedule !== null) ? payload : null;
    const indexOf = (slide: Slide): number => next?.slides.findIndex(({ id }) => id === slide.id) ?? -1;
    const isKept = (slide: Slide): boolean => next !== null && before !== null && isSame(slide, before, next);
    const ring = next !== null && synchronized ? createLoopSchedule(next.slides, timeZone) : null;
    // New data for the same slides does not undo an operator's step.
    if (ring?.key !== loopSchedule?.key) shift = 0;
    payload = next;
    loopSchedule = ring;
    playlistSchedule = createPlaylistSchedule(next?.slides ?? [], cooldowns, clock, timeZone);
    cooldowns.clear();
    if (shown === null) idleAt = Math.min(idleAt, clock.elapsed() + IDLE_AFTER_MS);
    if (upcoming !== null && !isKept(upcoming.slide)) dropUpcoming();
    if (upcoming !== null) upcoming.index = indexOf(upcoming.slide);
    if (shown?.slide != null) {
      const { slide } = shown;
      const index = indexOf(slide);
      if (isKept(slide)) {
        shown.index = index;
        onReport({ currentSlide: index, currentSlideId: slide.id, currentSlideTitle: slide.title });
      } else {
        // An edited slide is followed by its new version, a removed one by the next slide.
        shown.index = (index === -1 ? Math.min(shown.index, next?.slides.length ?? 0) : index) - 1;
        shown.spent = true;
        shown.isEdited = index !== -1;
      }
    }
    if (shown?.slide != null && !shown.spent) lastFailed = null;
    // The next slide may have changed; when synchronized, the loop schedule decides that.
    const isWanted = isSynchronized() || upcoming?.index === playlistSchedule.next(searchFrom(), 1, clock.now());
    if (upcoming?.step === null && !isWanted) dropUpcoming();
    update();
    if (next !== null) void prefetch(next);
  };

  /** Goes to the start of the previous or next slot whose slide is not failing, and keeps that offset from then on. */
  const stepSynchronized = (ring: LoopSchedule, by: 1 | -1): void => {
    for (let tries = payload?.slides.length ?? 0; tries > 0; tries--) {
      const now = synchronizedTime(clock.elapsed());
      const moved = shiftOf(ring, now, by);
      shift += moved;
      if (playlistSchedule.isAvailable(ring.slotAt(now + moved).index ?? -1)) break;
    }
    update();
  };

  const step = (by: 1 | -1): void => {
    if (loopSchedule !== null && isSynchronized()) return stepSynchronized(loopSchedule, by);
    const from = upcoming?.step != null ? upcoming.index : (shown?.index ?? -1);
    const index = playlistSchedule.next(from, by, clock.now());
    if (index === null || shown?.slide == null) return;
    if (index === shown.index && !shown.spent) {
      dropUpcoming();
      shown.slot = slotOf(lengthOf(shown.slide, shown.view.length), clock.elapsed(), null);
      shown.view.restart?.();
      if (haltedAt !== null) {
        haltedAt = clock.elapsed();
        shown.view.pause();
      }
    } else if (upcoming?.index === index) upcoming.step = by;
    else prepare(index, by);
    update();
  };

  return {
    load,
    step,
    onClockSet: () => {
      // Before the first playlist a decision would flash the idle screen.
      if (shown !== null) update();
    },
    retry: () => {
      cooldowns.clear();
      shift = 0;
      update();
    },
    flipPage: (by) => {
      if (!shown?.view.flipPage(by)) return step(by);
      const at = clock.elapsed();
      // A person who goes back wants to read: the remaining pages get their full time.
      if (shown.view.remainingMs !== undefined) shown.slot = { since: at, until: at + shown.view.remainingMs() };
      if (haltedAt !== null && !isSynchronized()) haltedAt = at;
      update();
    },
    halt: (halted, silent) => {
      const seen = silent === isSilent ? undefined : begunView()?.mute?.(silent);
      isSilent = silent;
      if (halted === (haltedAt !== null)) return seen;
      if (halted) {
        haltedAt = clock.elapsed();
        begunView()?.pause();
      } else {
        if (shown !== null && haltedAt !== null) shown.slot = resumed(shown.slot, haltedAt, clock.elapsed());
        haltedAt = null;
        begunView()?.resume();
      }
      update();
      return seen;
    },
  };
};
