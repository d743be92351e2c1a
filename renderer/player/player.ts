/** The player: decides by the timeline what is on, has it made ready in time, and swaps it in on the stage. */
import type { PlaylistPayload, Slide } from '../../service/wire.ts';
import type { Clock } from './clock.ts';
import { fingerprint } from './fingerprint.ts';
import type { Report } from './link.ts';
import { endOf, isOn, nextChange } from './schedule.ts';
import type { Shelf } from './shelf.ts';
import type { SlideFactory, SlideView } from './slides/slide.ts';
import type { Stage } from './stage.ts';
import { following, lengthOf, restMs, resumed, type Turn, turnOf } from './timeline.ts';

interface Dependencies {
  clock: Clock;
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
  /** Takes a new playlist; null: the screen does not exist. What is on and stays the same is not touched. */
  load(payload: PlaylistPayload | null): void;
  /** Goes one slide back or on, past those that are off schedule, and starts the slide's time anew. */
  step(step: 1 | -1): void;
  /** Goes one page back or on inside the slide; at its ends, one slide. */
  turn(step: 1 | -1): void;
  /** Lets slides that failed have another try at once: what they lacked may have come. */
  retry(): void;
  /** Stops time and motion, or lets them go on; while silent, nothing may be heard either. */
  halt(halted: boolean, silent: boolean): void;
  /** Looks at the clocks at once, since they were set. */
  look(): void;
}

/** On the stage. With no slide it is the idle screen. */
interface Shown {
  slide: Slide | null;
  index: number;
  view: SlideView;
  turn: Turn;
  /** Its slide has left the playlist, was changed, or failed: it goes as soon as something can come. */
  spent: boolean;
}

/** Being made ready, or ready. */
interface Upcoming {
  slide: Slide;
  index: number;
  view: SlideView;
  ready: boolean;
  /** Asked for by a command, so many steps away: swapped in as soon as it is ready. Null: it waits for its turn. */
  step: 1 | -1 | null;
  abort: AbortController;
}

/** The next slide is made ready this long before its turn: late enough to be fresh, early enough to load. */
const AHEAD_MS = 15_000;
const PREPARE_MS = 20_000;
const FADE_MS = 800;
/** The schedule is looked at this often at least, whatever happens to clocks. */
const LONGEST_SLEEP_MS = 30_000;

const isSame = (slide: Slide, before: PlaylistPayload, after: PlaylistPayload): boolean => {
  const now = after.slides.find(({ id }) => id === slide.id);
  return now !== undefined && fingerprint(slide, before) === fingerprint(now, after);
};

export const createPlayer = (
  { clock, stage, shelf, credentials, createSlide, createIdle, onReport, onFault, onSwap }: Dependencies,
  { timeZone }: { timeZone: string },
): Player => {
  let payload: PlaylistPayload | null = null;
  let shown: Shown | null = null;
  let upcoming: Upcoming | null = null;
  let haltedAt: number | null = null;
  let isSilent = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Slides that failed: how often in a row, and until when they are left out. */
  const resting = new Map<string, { failures: number; until: number }>();
  let change = { from: Number.POSITIVE_INFINITY, at: 0 };

  /** While nobody knows what time it is, only what is always on can be. */
  const isOnAt = (slide: Slide, wall: number): boolean =>
    clock.state() === 'unset' ? slide.schedule_mode === 'always' : isOn(slide, wall, timeZone);

  const isPlayable = (slide: Slide, wall: number): boolean =>
    isOnAt(slide, wall) && clock.elapsed() >= (resting.get(slide.id)?.until ?? 0);

  /** What comes after the slide at `from`, at the moment `wall`. */
  const choose = (from: number, step: 1 | -1, wall: number): number | null => {
    const slides = payload?.slides ?? [];
    return following(slides.length, from, step, (index) => {
      const slide = slides[index];
      return slide !== undefined && isPlayable(slide, wall);
    });
  };

  const fault = (slide: Slide, error: unknown): void => {
    const reason = error instanceof Error ? error.message : String(error);
    const failures = (resting.get(slide.id)?.failures ?? 0) + 1;
    resting.set(slide.id, { failures, until: clock.elapsed() + restMs(slide.kind, failures) });
    // What goes on failing is told ever more seldom.
    if (Number.isInteger(Math.log2(failures))) onFault(slide.id, reason);
  };

  const dropUpcoming = (): void => {
    if (upcoming === null) return;
    upcoming.abort.abort(new Error('no longer wanted'));
    stage.discard(upcoming.view);
    upcoming = null;
  };

  const prepare = (index: number, step: Upcoming['step']): void => {
    const slide = payload?.slides[index];
    if (payload === null || slide === undefined) return;
    dropUpcoming();
    const view = createSlide({
      slide,
      screen: payload.screen,
      payload,
      timeZone,
      now: clock.now,
      media: shelf.take,
      credentials,
      fail: (reason) => {
        if (shown?.view !== view) return;
        shown.spent = true;
        fault(slide, reason);
        update();
      },
    });
    const abort = new AbortController();
    const mine: Upcoming = { slide, index, view, ready: false, step, abort };
    upcoming = mine;
    stage.place(view);
    const late = setTimeout(() => abort.abort(new Error(`not ready within ${PREPARE_MS / 1000} s`)), PREPARE_MS);
    const aborted = new Promise<never>((_, reject) => {
      abort.signal.addEventListener('abort', () => reject(abort.signal.reason as Error));
    });
    Promise.race([view.prepare(abort.signal), aborted])
      .then(
        () => {
          mine.ready = true;
        },
        (error: unknown) => {
          if (upcoming !== mine) return;
          dropUpcoming();
          fault(slide, error);
          const beyond = step === null ? null : choose(mine.index, step, clock.now());
          if (beyond !== null && beyond !== shown?.index) prepare(beyond, step);
        },
      )
      .finally(() => {
        clearTimeout(late);
        update();
      });
  };

  const show = (next: Omit<Shown, 'spent'>): void => {
    const fade = shown?.slide == null || next.slide === null || payload?.playlist?.fade_between_slides;
    const isSwap = shown !== null;
    const settled = stage.show(next.view, fade && isSwap ? FADE_MS : 0);
    if (isSwap) void settled.then((gapMs) => onSwap(next.slide?.id ?? null, gapMs));
    shown = { ...next, spent: false };
    next.view.start();
    if (isSilent) next.view.hush?.(true);
    if (haltedAt !== null) {
      next.view.pause();
      haltedAt = clock.elapsed();
    }
    onReport({
      currentSlide: next.slide === null ? null : next.index,
      currentSlideId: next.slide?.id ?? null,
      currentSlideTitle: next.slide?.title ?? null,
    });
  };

  const showIdle = (): void => {
    if (shown !== null && shown.slide === null) return;
    const view = createIdle();
    stage.place(view);
    show({ slide: null, index: shown?.index ?? -1, view, turn: { since: 0, until: 0 } });
  };

  const swapIn = ({ slide, index, view }: Upcoming, due: number | null): void => {
    upcoming = null;
    if (shown?.slide != null && !shown.spent) resting.delete(shown.slide.id);
    show({ slide, index, view, turn: turnOf(lengthOf(slide, view.length), clock.elapsed(), due) });
  };

  /** Another round of the slide that is on, since nothing else is. */
  const stay = (current: Shown, due: number): void => {
    if (current.slide === null) return;
    resting.delete(current.slide.id);
    current.turn = turnOf(lengthOf(current.slide, current.view.length), clock.elapsed(), due);
    current.view.again?.();
  };

  const decide = (at: number, wall: number): void => {
    const slide = shown?.slide ?? null;
    const isOff = slide !== null && !isOnAt(slide, wall);
    const isOver = shown === null || slide === null || shown.spent || isOff;
    // A halt stops the slide's time, not the schedule's.
    const timeIsUp = haltedAt === null ? (shown?.turn.until ?? at) : Number.POSITIVE_INFINITY;
    const due = isOver ? at : Math.min(timeIsUp, endOf(slide, wall, timeZone) - wall + at);
    const wallAtSwap = wall + Math.min(Math.max(due - at, 0), AHEAD_MS);

    if (upcoming !== null && !isPlayable(upcoming.slide, upcoming.step === null ? wallAtSwap : wall)) dropUpcoming();
    if (upcoming?.ready && (upcoming.step !== null || at >= due)) {
      swapIn(upcoming, isOver || upcoming.step !== null ? null : due);
      return decide(at, wall);
    }
    // What is over by the schedule is not shown a moment longer; what was changed or broke may stay until it is replaced.
    if (isOff) showIdle();
    if (upcoming !== null || at < due - AHEAD_MS) return;
    const index = choose(shown?.index ?? -1, 1, wallAtSwap);
    if (index === null) {
      if (isOver) showIdle();
    } else if (isOver || index !== shown?.index) prepare(index, null);
    else if (at >= due) stay(shown, due);
  };

  /** Looks at the clocks and does whatever is due. Everything that happens ends here. */
  const update = (): void => {
    // Read once: whatever comes due between two readings would be neither done nor waited for.
    const at = clock.elapsed();
    const wall = clock.now();
    try {
      decide(at, wall);
    } finally {
      sleep(at, wall);
    }
  };

  /** When the schedule changes next, by the wall clock; looked up anew when that has come, or the clock was set back. */
  const scheduleChange = (wall: number): number => {
    if (wall < change.from || wall >= change.at) {
      change = { from: wall, at: nextChange(payload?.slides ?? [], wall, timeZone) };
    }
    return change.at;
  };

  /** Wakes up for the next turn, the next preparation, the next change of the schedule, the end of a rest. */
  const sleep = (at: number, wall: number): void => {
    clearTimeout(timer);
    const { until = at + LONGEST_SLEEP_MS } = shown?.slide == null ? {} : shown.turn;
    const rests = [...resting.values()].map((rest) => rest.until);
    const changes = scheduleChange(wall) - wall + at;
    const moments = [until, until - AHEAD_MS, changes, changes - AHEAD_MS, at + LONGEST_SLEEP_MS, ...rests];
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

  const load = (next: PlaylistPayload | null): void => {
    const before = payload;
    const indexOf = (slide: Slide): number => next?.slides.findIndex(({ id }) => id === slide.id) ?? -1;
    const isKept = (slide: Slide): boolean => next !== null && before !== null && isSame(slide, before, next);
    payload = next;
    change = { from: Number.POSITIVE_INFINITY, at: 0 };
    resting.clear();
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
      }
    }
    // What follows may be another slide now.
    if (upcoming?.step === null && upcoming.index !== choose(shown?.index ?? -1, 1, clock.now())) dropUpcoming();
    update();
    if (next !== null) void stock(next);
  };

  const step = (by: 1 | -1): void => {
    const from = upcoming?.step != null ? upcoming.index : (shown?.index ?? -1);
    const index = choose(from, by, clock.now());
    if (index === null || shown?.slide == null) return;
    if (index === shown.index && !shown.spent) {
      dropUpcoming();
      shown.turn = turnOf(lengthOf(shown.slide, shown.view.length), clock.elapsed(), null);
      shown.view.again?.();
      if (haltedAt !== null) haltedAt = clock.elapsed();
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
      resting.clear();
      update();
    },
    turn: (by) => {
      if (!shown?.view.turn(by)) return step(by);
      const at = clock.elapsed();
      // Whoever turns back wants to read: the pages that are left have their time again.
      if (shown.view.restMs !== undefined) shown.turn = { since: at, until: at + shown.view.restMs() };
      if (haltedAt !== null) haltedAt = at;
      update();
    },
    halt: (halted, silent) => {
      if (silent !== isSilent) shown?.view.hush?.(silent);
      isSilent = silent;
      if (halted === (haltedAt !== null)) return;
      if (halted) {
        haltedAt = clock.elapsed();
        shown?.view.pause();
      } else {
        if (shown !== null && haltedAt !== null) shown.turn = resumed(shown.turn, haltedAt, clock.elapsed());
        haltedAt = null;
        shown?.view.resume();
      }
      update();
    },
  };
};
