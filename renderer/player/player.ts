/** The player: decides by the timeline what is on, has it made ready in time, and swaps it in on the stage. */
import type { PlaylistPayload, Slide } from '../../service/wire.ts';
import type { Clock } from './clock.ts';
import type { Report } from './link.ts';
import { isOn, nextChange } from './schedule.ts';
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
}

export interface Player {
  /** Takes a new playlist; null: the screen does not exist. What is on and stays the same is not touched. */
  load(payload: PlaylistPayload | null): void;
  /** Goes one slide back or on, past those that are off schedule, and starts the slide's time anew. */
  step(step: 1 | -1): void;
  /** Goes one page back or on inside the slide; at its ends, one slide. */
  turn(step: 1 | -1): void;
  /** Stops time, motion and sound, or lets them go on. */
  halt(halted: boolean): void;
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
  /** Swapped in as soon as it is ready, out of turn. */
  urgent: boolean;
  abort: AbortController;
}

/** The next slide is made ready this long before its turn: late enough to be fresh, early enough to load. */
const AHEAD_MS = 15_000;
const PREPARE_MS = 20_000;
const FADE_MS = 800;
/** The schedule is looked at this often at least, whatever happens to clocks. */
const LONGEST_SLEEP_MS = 30_000;

/** What decides whether a slide looks the same: itself, and the live data that its kind may draw on. */
const fingerprint = (slide: Slide, { screen, apiSources, rssFeeds, timetableGroups }: PlaylistPayload): string =>
  JSON.stringify([
    slide,
    slide.kind === 'template' && [screen.name, apiSources],
    slide.kind === 'rss' && rssFeeds,
    slide.kind === 'timetable' && timetableGroups,
  ]);

const isSame = (slide: Slide, before: PlaylistPayload, after: PlaylistPayload): boolean => {
  const now = after.slides.find(({ id }) => id === slide.id);
  return now !== undefined && fingerprint(slide, before) === fingerprint(now, after);
};

export const createPlayer = (
  { clock, stage, shelf, credentials, createSlide, createIdle, onReport, onFault }: Dependencies,
  { timeZone }: { timeZone: string },
): Player => {
  let payload: PlaylistPayload | null = null;
  let shown: Shown | null = null;
  let upcoming: Upcoming | null = null;
  let haltedAt: number | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Slides that failed: how often in a row, and until when they are left out. */
  const resting = new Map<string, { failures: number; until: number }>();

  const isPlayable = (slide: Slide, wall: number): boolean =>
    isOn(slide, wall, timeZone) && clock.elapsed() >= (resting.get(slide.id)?.until ?? 0);

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

  const prepare = (index: number, urgent: boolean): void => {
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
    const mine: Upcoming = { slide, index, view, ready: false, urgent, abort };
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
        },
      )
      .finally(() => {
        clearTimeout(late);
        if (upcoming === mine || upcoming === null) update();
      });
  };

  const show = (next: Omit<Shown, 'spent'>): void => {
    const fade = shown?.slide == null || next.slide === null || payload?.playlist?.fade_between_slides;
    stage.show(next.view, fade && shown !== null ? FADE_MS : 0);
    shown = { ...next, spent: false };
    next.view.start();
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
    resting.delete(slide.id);
    show({ slide, index, view, turn: turnOf(lengthOf(slide, view.length), clock.elapsed(), due) });
  };

  /** Looks at the clocks and does whatever is due. Everything that happens ends here. */
  const update = (): void => {
    const at = clock.elapsed();
    const wall = clock.now();
    const slide = shown?.slide ?? null;
    const isOver = shown === null || slide === null || shown.spent || !isOn(slide, wall, timeZone);
    const due = isOver ? at : haltedAt === null ? (shown?.turn.until ?? at) : Number.POSITIVE_INFINITY;

    if (upcoming !== null && !isPlayable(upcoming.slide, Math.max(wall, wall + Math.min(due - at, AHEAD_MS))))
      dropUpcoming();
    if (upcoming?.ready && (upcoming.urgent || at >= due)) swapIn(upcoming, isOver || upcoming.urgent ? null : due);
    else if (upcoming === null && at >= due - AHEAD_MS) {
      const index = choose(shown?.index ?? -1, 1, wall + Math.max(0, due - at));
      if (index === null) {
        if (isOver) showIdle();
      } else if (isOver || index !== shown?.index) prepare(index, false);
      else if (shown !== null && at >= due) shown.turn = turnOf(shown.turn.until - shown.turn.since, at, due);
    }
    sleep();
  };

  /** Wakes up for the next turn, the next preparation, the next change of the schedule. */
  const sleep = (): void => {
    clearTimeout(timer);
    const at = clock.elapsed();
    const wall = clock.now();
    const { until = at + LONGEST_SLEEP_MS } = shown?.slide == null ? {} : shown.turn;
    const waiting = upcoming === null ? until - AHEAD_MS : until;
    const scheduled = (shown?.slide == null ? payload?.slides : [shown.slide]) ?? [];
    const change = (nextChange(scheduled, wall, timeZone) ?? Number.POSITIVE_INFINITY) - wall + at;
    const rested = Math.min(...[...resting.values()].map((rest) => rest.until).filter((moment) => moment > at));
    const moments = [waiting, until, change, shown?.slide == null ? rested : until, at + LONGEST_SLEEP_MS];
    const next = Math.min(...moments.filter((moment) => moment > at));
    timer = setTimeout(update, next - at);
  };

  /** Media of this service are fetched ahead, so that the playlist goes round even if the service goes away now. */
  const stock = async ({ slides, revision }: PlaylistPayload): Promise<void> => {
    for (const { kind, media_url } of slides) {
      if (payload?.revision !== revision) return;
      if (media_url !== null && (kind === 'image' || kind === 'video')) await shelf.take(media_url).catch(() => {});
    }
  };

  return {
    load: (next) => {
      const before = payload;
      payload = next;
      resting.clear();
      if (upcoming !== null && (next === null || before === null || !isSame(upcoming.slide, before, next)))
        dropUpcoming();
      if (upcoming !== null) upcoming.index = next?.slides.findIndex(({ id }) => id === upcoming?.slide.id) ?? 0;
      if (shown?.slide != null) {
        const index = next?.slides.findIndex(({ id }) => id === shown?.slide?.id) ?? -1;
        const isKept = next !== null && before !== null && isSame(shown.slide, before, next);
        // What takes the place of a changed slide is the slide itself; of one that is gone, whatever follows.
        shown.index = isKept ? index : (index === -1 ? Math.min(shown.index, next?.slides.length ?? 0) : index) - 1;
        shown.spent = !isKept;
        if (isKept) {
          shown.slide = next.slides[index] ?? shown.slide;
          onReport({ currentSlide: index, currentSlideId: shown.slide.id, currentSlideTitle: shown.slide.title });
        }
      }
      update();
      if (next !== null) void stock(next);
    },
    step: (step) => {
      const from = upcoming?.urgent ? upcoming.index : (shown?.index ?? -1);
      const index = choose(from, step, clock.now());
      if (index === null || shown?.slide == null) return;
      if (index === shown.index && !shown.spent) {
        dropUpcoming();
        shown.turn = turnOf(shown.turn.until - shown.turn.since, clock.elapsed(), null);
        if (haltedAt !== null) haltedAt = clock.elapsed();
      } else if (upcoming?.index === index) upcoming.urgent = true;
      else prepare(index, true);
      update();
    },
    turn(step) {
      if (!shown?.view.turn(step)) this.step(step);
    },
    halt: (halted) => {
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
