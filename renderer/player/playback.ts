/** The player as a reducer: events change its state and return effects. Pure. */
import { createPagePlan } from './page-plan.ts';
import type { Decision, Direction, Effect, Now, Playback, PlaybackEvent, Step } from './playback-state.ts';
import { createPlaylistSchedule, endsOf, noCooldowns } from './playlist-schedule.ts';
import { replaceMedium, replacePlaylist } from './replace-playlist.ts';
import { standalone } from './standalone.ts';
import { lengthOf, resumed } from './timeline.ts';
import {
  beginPlay,
  chain,
  dropUpcoming,
  modeOf,
  noteFailure,
  prepare,
  type Reducer,
  type Result,
  repeat,
  restart,
  showIdle,
  swapIn,
} from './transitions.ts';

/** The schedule is evaluated at least this often, even if a clock changes without an event. */
export const MAX_SLEEP_MS = 30_000;

const nothing = createPagePlan(null, false);

export const initialPlayback = (timeZone: string): Playback => ({
  timeZone,
  payload: null,
  plan: nothing,
  scheduleAt: createPlaylistSchedule(nothing, timeZone),
  synchronized: null,
  shown: null,
  upcoming: null,
  leaving: null,
  ending: null,
  lastFailed: null,
  cooldowns: noCooldowns,
  idleAt: Number.POSITIVE_INFINITY,
  haltedAt: null,
  origin: null,
  lastKey: 0,
});

const onReady =
  (key: number, length: number | null, movesMs: number | null): Reducer =>
  (state) =>
    state.upcoming?.key === key
      ? [{ ...state, upcoming: { ...state.upcoming, isReady: true, length, movesMs } }, []]
      : [state, []];

const onUnready =
  (key: number, reason: string, isFailed: boolean): Reducer =>
  (before, now) => {
    const { upcoming, shown } = before;
    if (upcoming?.key !== key) return [before, []];
    const { slide, step, index } = upcoming;
    const expectedMs = Math.round(lengthOf(slide, null));
    const skipped: Effect = { type: 'skipped', slide, index, expectedMs, reason, isFailed };
    // What was on before its medium was replaced is better than nothing.
    if (shown?.isEdited && shown.slide === slide) {
      const kept = { ...shown, index, isSpent: false, isEdited: false };
      return chain(before, now, dropUpcoming, (state) => [{ ...state, shown: kept }, [skipped]]);
    }
    return chain(
      before,
      now,
      dropUpcoming,
      noteFailure(slide, reason),
      (state) => [state, [skipped]],
      (state) => {
        if (step === null) return [{ ...state, lastFailed: { id: slide.id, index } }, []];
        const beyond = state.scheduleAt(state.cooldowns, now).next(index, step, now.wall);
        return beyond === null || beyond === shown?.index ? [state, []] : prepare(beyond, step)(state, now);
      },
    );
  };

const onVisible =
  (key: number): Reducer =>
  (state, now) => {
    const { shown, haltedAt } = state;
    if (shown?.key !== key) return [state, []];
    const { slide, index } = shown;
    const isHalted = haltedAt !== null;
    const restartsHalt = isHalted && modeOf(state, now) === standalone;
    const begun = {
      ...state,
      shown: { ...shown, isBegun: true },
      haltedAt: restartsHalt ? now.elapsed : haltedAt,
    };
    const effects: Effect[] = [
      { type: 'start', key },
      ...(isHalted ? [{ type: 'pause', key } as const] : []),
      { type: 'report', index: slide === null ? null : index, slide },
    ];
    return chain(begun, now, (same) => [same, effects], beginPlay);
  };

const onFailed =
  (key: number, reason: string): Reducer =>
  (state, now) => {
    const { shown } = state;
    if (shown?.key !== key || shown.slide === null || shown.isSpent) return [state, []];
    return noteFailure(shown.slide, reason)({ ...state, shown: { ...shown, isSpent: true, failure: reason } }, now);
  };

/** Carries out a move to another slide, which is entered in the direction `by`. */
const moveTo =
  (move: Step, by: Direction): Reducer =>
  (state, now) => {
    const { shown, upcoming, haltedAt } = state;
    if (move === 'hold') return [state, []];
    if (move === 'restart') {
      if (shown === null) return [state, []];
      const isHalted = haltedAt !== null;
      const ending = { isFailed: false, reason: 'command' };
      return chain({ ...state, ending }, now, dropUpcoming, restart(shown, null), (restarted) => [
        { ...restarted, haltedAt: isHalted ? now.elapsed : null },
        isHalted ? [{ type: 'pause', key: shown.key }] : [],
      ]);
    }
    if ('origin' in move) {
      const ending = state.ending ?? { isFailed: false, reason: 'command' };
      return [{ ...state, origin: move.origin, haltedAt: haltedAt === null ? null : now.elapsed, ending }, []];
    }
    if (upcoming?.index === move.call) return [{ ...state, upcoming: { ...upcoming, step: by } }, []];
    return prepare(move.call, by)(state, now);
  };

const step =
  (by: Direction): Reducer =>
  (state, now) =>
    moveTo(modeOf(state, now).step(state, by, now), by)(state, now);

/** Of several places of a slide the next one in the round that is due. */
const goTo =
  (slideId: string): Reducer =>
  (state, now) => {
    const { start, end } = state.plan.roundAt(now.isClockSet ? now.wall : null);
    const places = state.plan.slides.flatMap(({ id }, place) =>
      id === slideId && place >= start && place < end ? [place] : [],
    );
    const place = places.find((each) => each > (state.shown?.index ?? -1)) ?? places[0];
    return place === undefined ? [state, []] : moveTo(modeOf(state, now).goTo(state, place, now), 1)(state, now);
  };

const onPageFlipped =
  (remainingMs: number | null): Reducer =>
  (state, now) => {
    const { shown, haltedAt } = state;
    const { elapsed } = now;
    if (shown === null) return [state, []];
    // The user went back to read: the remaining pages get their full time.
    const slot = remainingMs === null ? shown.slot : { since: elapsed, until: elapsed + remainingMs };
    const restartsHalt = haltedAt !== null && modeOf(state, now) === standalone;
    return [{ ...state, shown: { ...shown, slot }, haltedAt: restartsHalt ? elapsed : haltedAt }, []];
  };

const halt =
  (isHalted: boolean): Reducer =>
  (state, { elapsed }) => {
    const { shown, haltedAt } = state;
    if (isHalted === (haltedAt !== null)) return [state, []];
    const type = isHalted ? 'pause' : 'resume';
    const effects: Effect[] = shown?.isBegun ? [{ type, key: shown.key }] : [];
    const slot = shown !== null && haltedAt !== null ? resumed(shown.slot, haltedAt, elapsed) : shown?.slot;
    return [
      {
        ...state,
        haltedAt: isHalted ? elapsed : null,
        shown: shown === null || slot === undefined ? shown : { ...shown, slot },
      },
      effects,
    ];
  };

const apply =
  (event: PlaybackEvent): Reducer =>
  (state, now) => {
    switch (event.type) {
      case 'load':
        return replacePlaylist(event.payload, event.isSynchronized)(state, now);
      case 'ready':
        return onReady(event.key, event.length, event.movesMs)(state, now);
      case 'unready':
        return onUnready(event.key, event.reason, event.isFailed === true)(state, now);
      case 'visible':
        return onVisible(event.key)(state, now);
      case 'failed':
        return onFailed(event.key, event.reason)(state, now);
      case 'replaced':
        return replaceMedium(event.key)(state, now);
      case 'step':
        return step(event.by)(state, now);
      case 'goTo':
        return goTo(event.slideId)(state, now);
      case 'pageFlipped':
        return onPageFlipped(event.remainingMs)(state, now);
      case 'halt':
        return halt(event.isHalted)(state, now);
      case 'retry':
        return [{ ...state, cooldowns: noCooldowns }, []];
      case 'clockSet':
      case 'tick':
        return [state, []];
    }
  };

/** Moves the slots of the views to where the site's clock has them. A slot that has already begun is a corrected time. */
const assignSlots =
  ({ shownStartsAt, upcomingSlot, haltedAt }: Decision): Reducer =>
  (state, now) => {
    const { shown, upcoming } = state;
    const isMoved = shown !== null && shownStartsAt !== null && shown.startsAt !== shownStartsAt;
    const left = (shownStartsAt ?? 0) - now.site;
    const restartsAt = left > 0 ? now.elapsed + left : Number.POSITIVE_INFINITY;
    return [
      {
        ...state,
        haltedAt,
        shown: isMoved ? { ...shown, startsAt: shownStartsAt, restartsAt } : shown,
        upcoming:
          upcoming === null || upcomingSlot === null
            ? upcoming
            : {
                ...upcoming,
                startsAt: upcomingSlot.since,
                // How late it is counts from the boundary that it missed.
                appearsAt: Math.max(upcomingSlot.appears, Math.min(upcoming.appearsAt, now.site)),
              },
      },
      [],
    ];
  };

/** Restarts a view whose slide plays again in the next slot. */
const restartDue: Reducer = (state, now) => {
  const { shown, haltedAt } = state;
  if (shown === null || now.elapsed < shown.restartsAt) return [state, []];
  const restarted = { ...state, shown: { ...shown, restartsAt: Number.POSITIVE_INFINITY } };
  if (haltedAt !== null) return [restarted, []];
  return chain(restarted, now, (same) => [same, [{ type: 'restart', key: shown.key }]], beginPlay);
};

/** Performs due actions. A swap or a drop leads to another decision. */
const decide: Reducer = (before, now) => {
  const decision = modeOf(before, now).decide(before, now);
  const { action, due } = decision;
  return chain(before, now, assignSlots(decision), (state) => {
    const { upcoming, shown, idleAt } = state;
    if (action === 'swap' && upcoming !== null) return chain(state, now, swapIn(upcoming, due), decide);
    if (action === 'drop') return chain(state, now, dropUpcoming, decide);
    const isIdle = decision.isIdle || (shown === null && now.elapsed >= idleAt);
    return chain(
      state,
      now,
      ...(isIdle ? [showIdle] : []),
      ...(action === 'stay' ? [repeat(due)] : []),
      ...(typeof action === 'object' ? [prepare(action.prepare, null, decision.upcomingSlot ?? undefined)] : []),
    );
  });
};

/** Wakes up for the next slot, preparation, restart, schedule change or end of a cooldown. */
const sleep: Reducer = (state, now) => {
  const { elapsed } = now;
  const { shown, idleAt, cooldowns } = state;
  const { wakeTimes } = modeOf(state, now).decide(state, now);
  const restartsAt = shown?.restartsAt ?? Number.POSITIVE_INFINITY;
  const moments = [...wakeTimes, ...endsOf(cooldowns), idleAt, restartsAt, elapsed + MAX_SLEEP_MS];
  return [state, [{ type: 'wakeAt', at: Math.min(...moments.filter((moment) => moment > elapsed)) }]];
};

/** Returns the next state and the effects. Every event ends in a decision on due actions. */
export const reduce = (state: Playback, event: PlaybackEvent, now: Now): Result => {
  const result = chain(state, now, apply(event), restartDue);
  // Before the first playlist a decision would flash the idle screen.
  const isLoaded = result[0].idleAt !== Number.POSITIVE_INFINITY;
  return isLoaded ? chain(state, now, () => result, decide, sleep) : result;
};
