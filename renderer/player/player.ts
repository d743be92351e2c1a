/** The player: decides by the timeline what is on, has it made ready in time, and swaps it in on the stage. */
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import { within } from './abort.ts';
import type { Clock } from './clock.ts';
import { createRests } from './cooldowns.ts';
import { isSame } from './fingerprint.ts';
import type { Report } from './link.ts';
import { createRota, type Rota } from './loop-schedule.ts';
import type { Shelf } from './media-cache.ts';
import { isOn } from './schedule.ts';
import { createProgramme } from './screen-document.ts';
import type { SlideFactory, SlideView } from './slides/slide.ts';
import type { Cue, Stage } from './stage.ts';
import { type Move, moveAlone } from './standalone.ts';
import type { Site } from './sync-clock.ts';
import { LEAD_MS, moveOf, shiftOf } from './synchronized.ts';
import { lengthOf, resumed, type Turn, turnOf } from './timeline.ts';

interface Dependencies {
  clock: Clock;
  site: Pick<Site, 'at' | 'swapped' | 'video'>;
  stage: Stage;
  shelf: Shelf;
  /** The headers that go with requests to the service. */
  credentials(): Record<string, string>;
  createSlide: SlideFactory;
  /** What is on while no slide is. */
  createIdle(): SlideView;
  onReport(report: Pick<Report, 'currentSlide' | 'currentSlideId' | 'currentSlideTitle'>): void;
  onFault(slideId: string, reason: string): void;
  /** A slide has taken the place of another (null: the idle screen); `gapMs`: as in {@link Stage.show}. */
  onSwap(slideId: string | null, gapMs: number): void;
}

export interface Player {
  /**
   * Takes a new playlist; null: the screen does not exist. What is on and stays the same is not touched. In step, every
   * screen of the site shows the same slide of it at the same time.
   */
  load(payload: PlaylistPayload | null, isInStep?: boolean): void;
  /** Goes one slide back or on, past those that are off schedule, and starts the slide's time anew. */
  step(step: 1 | -1): void;
  /** Goes one page back or on inside the slide; at its ends, one slide. */
  turn(step: 1 | -1): void;
  /** Lets slides that failed have another try at once: what they lacked may have come. Steps that led out of step end. */
  retry(): void;
  /**
   * Stops time and motion, or lets them go on; while silent, nothing may be heard either. Resolves once what is on can be
   * seen.
   */
  halt(halted: boolean, silent: boolean): Promise<void> | undefined;
  /** Looks at the clocks at once, since they were set. */
  look(): void;
}

/** When the turn of a slide begins, by the site's clock; of use only in step. */
interface Place {
  since: number;
}

/** On the stage. With no slide it is the idle screen. */
interface Shown {
  slide: Slide | null;
  index: number;
  view: SlideView;
  turn: Turn;
  place: Place;
  /** It can be seen, and was started. */
  isBegun: boolean;
  /** Its slide has left the playlist, was changed, or failed: it goes as soon as something can come. */
  spent: boolean;
  /** Its slide was changed: the new version has what is left of its time. */
  isEdited: boolean;
}

/** What is about to be shown. */
type Next = Omit<Shown, 'isBegun' | 'spent' | 'isEdited'>;

/** Being made ready, or ready. */
interface Upcoming {
  slide: Slide;
  index: number;
  view: SlideView;
  ready: boolean;
  /** Asked for by a command, so many steps away: swapped in as soon as it is ready. Null: it waits for its turn. */
  step: 1 | -1 | null;
  abort: AbortController;
  place: Place;
  /** It was called for before its turn, so it should come on in time. */
  isEarly: boolean;
}

interface Decision extends Move {
  /** When the turn of what is to be made ready begins, by the site's clock; of use only in step. */
  since: number;
}

/** The next slide is made ready this long before its turn: late enough to be fresh, early enough to load. */
const AHEAD_MS = 15_000;
const PREPARE_MS = 20_000;
const FADE_MS = 800;
/** From the decision to swap until what was on is gone: the stage makes the layer ready first. */
const FADE_LEAD_MS = FADE_MS + 100;
/** A start that has nothing to show for longer than this shows the idle screen. */
const EMPTY_MS = 5_000;
/** What a video takes to begin, on most machines. */
const USUAL_LAG_MS = 60;
/** The schedule is looked at this often at least, whatever happens to clocks. */
const LONGEST_SLEEP_MS = 30_000;

export const createPlayer = (
  { clock, site, stage, shelf, credentials, createSlide, createIdle, onReport, onFault, onSwap }: Dependencies,
  { timeZone }: { timeZone: string },
): Player => {
  let payload: PlaylistPayload | null = null;
  let shown: Shown | null = null;
  let upcoming: Upcoming | null = null;
  /** What failed last since something came on: the search goes on from there, or those that hang take turns for ever. */
  let tried: Slide | null = null;
  let emptyUntil = Number.POSITIVE_INFINITY;
  let haltedAt: number | null = null;
  let isSilent = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const rests = createRests(clock.elapsed);
  let programme = createProgramme([], rests, clock, timeZone);
  /** Of a playlist that is shown in step. */
  let rota: Rota | null = null;
  /** What commands have moved this page's time by, in ms; until its turns are others it is out of step. */
  let shift = 0;
  let wakeAt = 0;
  const lag = { ms: USUAL_LAG_MS };

  const isInStep = (): boolean => rota !== null && clock.state() !== 'unset';
  /** The time of the site as this page shows it, at a reading of the clock. */
  const siteTime = (at: number): number => site.at(at) + shift;

  const fault = (slide: Slide, error: unknown): void => {
    const reason = error instanceof Error ? error.message : String(error);
    const failures = rests.begin(slide);
    // What goes on failing is told ever more seldom.
    if (Number.isInteger(Math.log2(failures))) onFault(slide.id, reason);
  };

  const dropUpcoming = (): void => {
    if (upcoming === null) return;
    upcoming.abort.abort(new Error('no longer wanted'));
    stage.discard(upcoming.view);
    upcoming = null;
  };

  const prepare = (index: number, step: Upcoming['step'], since = 0): void => {
    const slide = payload?.slides[index];
    if (payload === null || slide === undefined) return;
    dropUpcoming();
    const place: Place = { since };
    const edited = editedBy(slide);
    const isContinued = edited?.slide?.media_url === slide.media_url;
    const view = createSlide({
      slide,
      screen: payload.screen,
      payload,
      timeZone,
      now: clock.now,
      media: shelf.take,
      credentials,
      continued: edited !== null && isContinued ? (at) => at - runningTurn(edited, at).since : null,
      pace: isInStep() ? { position: (at) => siteTime(at) - place.since, lag, onSkew: site.video } : null,
      fail: (reason) => {
        if (shown?.view !== view || shown.spent) return;
        shown.spent = true;
        fault(slide, reason);
        update();
      },
    });
    const abort = new AbortController();
    const isEarly = siteTime(clock.elapsed()) < since;
    const mine: Upcoming = { slide, index, view, ready: false, step, abort, place, isEarly };
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
          fault(slide, error);
          if (step === null) tried = slide;
          const beyond = step === null ? null : programme.next(mine.index, step, clock.now());
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
    if (cue !== undefined) next.view.arm?.();
  };

  const begin = (next: Next): void => {
    if (shown?.view !== next.view) return;
    shown.isBegun = true;
    // First: what starts while the screen is black must not be seen for a moment.
    if (isSilent) void next.view.hush?.(true);
    next.view.start();
    if (haltedAt !== null) {
      next.view.pause();
      if (!isInStep()) haltedAt = clock.elapsed();
    }
    onReport({
      currentSlide: next.slide === null ? null : shown.index,
      currentSlideId: next.slide?.id ?? null,
      currentSlideTitle: next.slide?.title ?? null,
    });
  };

  /** What is on and was started; before that, {@link begin} sees to it that it stands still or is silent. */
  const begunView = (): SlideView | undefined => (shown?.isBegun ? shown.view : undefined);

  /** The slide that is on in an earlier version, where this is the newer one. */
  const editedBy = (slide: Slide): Shown | null =>
    shown?.isEdited && shown.slide?.id === slide.id && !isInStep() ? shown : null;

  /** The turn of what is on without the time that it has been halted. */
  const runningTurn = ({ turn }: Shown, at: number): Turn => (haltedAt === null ? turn : resumed(turn, haltedAt, at));

  const turnFor = (slide: Slide, view: SlideView, due: number | null): Turn => {
    const at = clock.elapsed();
    const length = lengthOf(slide, view.length);
    const edited = editedBy(slide);
    if (edited === null) return turnOf(length, at, due);
    const { since } = runningTurn(edited, at);
    return { since, until: Math.max(since + length, at) };
  };

  /** How long before the end of its turn a fade begins, so that a video moves until it is gone. */
  const leadOf = ({ turn, view }: Shown): number => {
    const isFading = payload?.playlist?.fade_between_slides === true && view.movesMs != null;
    if (!isFading) return 0;
    const late = turn.until + FADE_LEAD_MS - (turn.since + (view.movesMs ?? 0));
    return Math.min(Math.max(late, 0), FADE_LEAD_MS, (turn.until - turn.since) / 2);
  };

  const showIdle = (): void => {
    if (shown !== null && shown.slide === null) return;
    const view = createIdle();
    stage.place(view);
    show({ slide: null, index: shown?.index ?? -1, view, turn: { since: 0, until: 0 }, place: { since: 0 } });
  };

  const swapIn = ({ slide, index, view, place, isEarly }: Upcoming, due: number | null): void => {
    upcoming = null;
    tried = null;
    if (shown?.slide != null && !shown.spent) rests.forget(shown.slide.id);
    const next = { slide, index, view, turn: turnFor(slide, view, due), place };
    if (!isInStep()) return show(next);
    const left = (at: number): number => place.since - siteTime(at);
    const onSeen = (at: number): void => {
      if (isEarly && haltedAt === null) site.swapped(-left(at));
    };
    show(next, { left, onSeen });
  };

  /** Another round of the slide that is on, since nothing else is. */
  const stay = (due: number | null): void => {
    if (shown?.slide == null) return;
    tried = null;
    rests.forget(shown.slide.id);
    shown.turn = turnOf(lengthOf(shown.slide, shown.view.length), clock.elapsed(), due);
    shown.view.again?.();
  };

  const searchFrom = (): number => {
    const failed = payload?.slides.findIndex(({ id }) => id === tried?.id) ?? -1;
    return failed === -1 ? (shown?.index ?? -1) : failed;
  };

  const decideAlone = (at: number, wall: number): Decision => {
    // A halt stops the slide's time, not the schedule's.
    const until = haltedAt === null ? (shown?.turn.until ?? at) : Number.POSITIVE_INFINITY;
    const scene = {
      shown: shown && { ...shown, until, lead: leadOf(shown) },
      upcoming: upcoming && { ...upcoming, isCalled: upcoming.step !== null },
      from: searchFrom(),
    };
    return { ...moveAlone(scene, { at, wall }, programme, AHEAD_MS), since: 0 };
  };

  /** A halted page stands still in time, until its slide goes off schedule. */
  const timeInStep = (at: number): number => {
    const now = siteTime(at);
    const halted = haltedAt === null ? now : siteTime(haltedAt);
    const slide = payload?.slides[rota?.turn(halted).index ?? -1];
    return slide !== undefined && isOn(slide, now, timeZone) ? halted : now;
  };

  /** Gives what is on another turn, as where nothing else can come on. */
  const renew = ({ view, place }: Shown, since: number, now: number): void => {
    if (place.since === since) return;
    place.since = since;
    const again = (): void => {
      if (shown?.view === view && haltedAt === null) view.again?.();
    };
    // One that is in the middle of it already has only learnt its time anew.
    if (since > now) setTimeout(again, since - now);
  };

  /** A slide that can't be shown leaves its time to the picture before it: nobody falls out of step for it. */
  const decideInStep = (ring: Rota, at: number): Decision => {
    const now = timeInStep(at);
    const on = shown?.slide == null || shown.spent ? null : shown.index;
    const { action, isIdle, ...move } = moveOf(ring, now, { shown: on, upcoming }, programme.isRested, AHEAD_MS);
    wakeAt = at + move.wakeAt - now;
    if (shown !== null && move.shownSince !== null) renew(shown, move.shownSince, now);
    if (upcoming !== null) upcoming.place.since = move.upcomingSince;
    const isOff = shown?.slide != null && !isOn(shown.slide, now + LEAD_MS, timeZone);
    const isEmpty = shown === null && upcoming === null && action === 'hold';
    return { action, isIdle: isIdle || isOff || isEmpty, due: null, since: move.upcomingSince };
  };

  /** Answers whether there may be more to do. */
  const carryOut = ({ action, isIdle, due, since }: Decision): boolean => {
    if (action === 'swap' && upcoming !== null) swapIn(upcoming, due);
    else if (action === 'drop') dropUpcoming();
    else {
      if (isIdle) showIdle();
      if (action === 'stay') stay(due);
      else if (typeof action === 'object') prepare(action.prepare, null, since);
      return false;
    }
    return true;
  };

  /** Looks at the clocks and does whatever is due. Everything that happens ends here. */
  const update = (): void => {
    // Read once: whatever comes due between two readings would be neither done nor waited for.
    const at = clock.elapsed();
    const wall = clock.now();
    try {
      let isDone = false;
      while (!isDone) {
        const decision = rota !== null && isInStep() ? decideInStep(rota, at) : decideAlone(at, wall);
        const isLate = shown === null && at >= emptyUntil;
        isDone = !carryOut({ ...decision, isIdle: decision.isIdle || isLate });
      }
    } finally {
      sleep(at, wall);
    }
  };

  /** Wakes up for the next turn, the next preparation, the next change of the schedule, the end of a rest. */
  const sleep = (at: number, wall: number): void => {
    clearTimeout(timer);
    const { until = at + LONGEST_SLEEP_MS } = shown?.slide == null ? {} : shown.turn;
    const due = until - (shown === null ? 0 : leadOf(shown));
    const changes = programme.changesAt(wall) - wall + at;
    const turns = isInStep() ? [wakeAt] : [until, due, due - AHEAD_MS, changes, changes - AHEAD_MS];
    const moments = [...turns, emptyUntil, at + LONGEST_SLEEP_MS, ...rests.ends()];
    const next = Math.min(...moments.filter((moment) => moment > at));
    timer = setTimeout(update, next - clock.elapsed());
  };

  /** Media of this service are fetched ahead, so that the playlist goes round even if the service goes away now. */
  const stock = async (stocked: PlaylistPayload): Promise<void> => {
    for (const { kind, media_url } of stocked.slides) {
      if (payload !== stocked) return;
      if (media_url !== null && ['image', 'video', 'pdf'].includes(kind)) await shelf.take(media_url).catch(() => {});
    }
  };

  const load = (next: PlaylistPayload | null, inStep = false): void => {
    const before = inStep === (rota !== null) ? payload : null;
    const indexOf = (slide: Slide): number => next?.slides.findIndex(({ id }) => id === slide.id) ?? -1;
    const isKept = (slide: Slide): boolean => next !== null && before !== null && isSame(slide, before, next);
    const ring = next !== null && inStep ? createRota(next.slides, timeZone) : null;
    // Fresh figures for the same slides are no reason to take back an operator's step.
    if (ring?.key !== rota?.key) shift = 0;
    payload = next;
    rota = ring;
    programme = createProgramme(next?.slides ?? [], rests, clock, timeZone);
    rests.clear();
    if (shown === null) emptyUntil = Math.min(emptyUntil, clock.elapsed() + EMPTY_MS);
    if (upcoming !== null && !isKept(upcoming.slide)) dropUpcoming();
    if (upcoming !== null) upcoming.index = indexOf(upcoming.slide);
    if (shown?.slide != null) {
      const { slide } = shown;
      const index = indexOf(slide);
      if (isKept(slide)) {
        shown.index = index;
        onReport({ currentSlide: index, currentSlideId: slide.id, currentSlideTitle: slide.title });
      } else {
        // What takes the place of a changed slide is the slide itself; of one that is gone, whatever follows.
        shown.index = (index === -1 ? Math.min(shown.index, next?.slides.length ?? 0) : index) - 1;
        shown.spent = true;
        shown.isEdited = index !== -1;
      }
    }
    if (shown?.slide != null && !shown.spent) tried = null;
    // What follows may be another slide now; in step the rota says what does.
    const isWanted = isInStep() || upcoming?.index === programme.next(searchFrom(), 1, clock.now());
    if (upcoming?.step === null && !isWanted) dropUpcoming();
    update();
    if (next !== null) void stock(next);
  };

  /** Goes to the beginning of another turn, past slides that failed, and stays as much ahead or behind from then on. */
  const stepInStep = (ring: Rota, by: 1 | -1): void => {
    for (let tries = payload?.slides.length ?? 0; tries > 0; tries--) {
      const now = timeInStep(clock.elapsed());
      const moved = shiftOf(ring, now, by);
      shift += moved;
      if (programme.isRested(ring.turn(now + moved).index ?? -1)) break;
    }
    update();
  };

  const step = (by: 1 | -1): void => {
    if (rota !== null && isInStep()) return stepInStep(rota, by);
    const from = upcoming?.step != null ? upcoming.index : (shown?.index ?? -1);
    const index = programme.next(from, by, clock.now());
    if (index === null || shown?.slide == null) return;
    if (index === shown.index && !shown.spent) {
      dropUpcoming();
      shown.turn = turnOf(lengthOf(shown.slide, shown.view.length), clock.elapsed(), null);
      shown.view.again?.();
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
    look: () => {
      // Before the first playlist there is nothing to decide, and the idle screen would flash up.
      if (shown !== null) update();
    },
    retry: () => {
      rests.clear();
      shift = 0;
      update();
    },
    turn: (by) => {
      if (!shown?.view.turn(by)) return step(by);
      const at = clock.elapsed();
      // Whoever turns back wants to read: the pages that are left have their time again.
      if (shown.view.restMs !== undefined) shown.turn = { since: at, until: at + shown.view.restMs() };
      if (haltedAt !== null && !isInStep()) haltedAt = at;
      update();
    },
    halt: (halted, silent) => {
      const seen = silent === isSilent ? undefined : begunView()?.hush?.(silent);
      isSilent = silent;
      if (halted === (haltedAt !== null)) return seen;
      if (halted) {
        haltedAt = clock.elapsed();
        begunView()?.pause();
      } else {
        if (shown !== null && haltedAt !== null) shown.turn = resumed(shown.turn, haltedAt, clock.elapsed());
        haltedAt = null;
        begunView()?.resume();
      }
      update();
      return seen;
    },
  };
};
