/** What a player can do to its state: prepare, swap, restart, note a failure. Pure. */
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import { isSamePlaylist } from './page-plan.ts';
import type { Direction, Effect, Ending, Mode, Now, Playback, Shown, Upcoming } from './playback-state.ts';
import { failuresOf, withCooldown, withoutCooldown } from './playlist-schedule.ts';
import { runningSlot, standalone } from './standalone.ts';
import { isLate, LEAD_MS, lengthOf, type Slot, slotOf } from './timeline.ts';

export type Result = readonly [Playback, readonly Effect[]];
/** A step from one state to the next. */
export type Reducer = (state: Playback, now: Now) => Result;

/**
 * Without a clock a page can't follow the others, and keeps its own time. What enters or leaves a synchronized round is
 * swapped as within it.
 */
export const modeOf = (
  { synchronized, plan }: Playback,
  { isClockSet, site }: Pick<Now, 'isClockSet' | 'site'>,
): Mode => {
  if (!isClockSet || synchronized === null) return standalone;
  const isNow = plan.roundAt(site).isSynchronized || plan.roundAt(site + LEAD_MS).isSynchronized;
  return isNow ? synchronized : standalone;
};

/** Applies reducers one after the other. */
export const chain = (state: Playback, now: Now, ...reducers: readonly Reducer[]): Result =>
  reducers.reduce<Result>(
    ([before, effects], reducer) => {
      const [after, more] = reducer(before, now);
      return [after, [...effects, ...more]];
    },
    [state, []],
  );

export const dropUpcoming: Reducer = (state) =>
  state.upcoming === null
    ? [state, []]
    : [{ ...state, upcoming: null }, [{ type: 'discard', key: state.upcoming.key }]];

/** The shown view if it shows an earlier version of this slide. */
const editedBy = (slide: Slide, { shown, synchronized }: Playback, now: Now): Shown | null =>
  shown?.isEdited && shown.slide?.id === slide.id && !(synchronized !== null && now.isClockSet) ? shown : null;

/** The payload with the round of a place as its slides: those that a slide differs from in its colours. */
const withRound = (payload: PlaylistPayload, { plan }: Playback, index: number): PlaylistPayload => {
  const { start, end } = plan.roundOf(index);
  return plan.isTimed ? { ...payload, slides: plan.slides.slice(start, end) } : payload;
};

export const prepare =
  (
    index: number,
    step: Direction | null,
    { since: startsAt, appears: appearsAt } = { since: 0, appears: 0 },
  ): Reducer =>
  (before, now) => {
    const { payload, plan } = before;
    const slide = plan.slides[index];
    if (payload === null || slide === undefined) return [before, []];
    const [state, effects] = dropUpcoming(before, now);
    const key = state.lastKey + 1;
    const isContinued = editedBy(slide, state, now)?.slide?.media_url === slide.media_url;
    // That of a synchronized round, which is prepared before the round is due.
    const isPaced = now.isClockSet && plan.roundOf(index).isSynchronized;
    const isEarly = now.site < appearsAt;
    const rest = { isReady: false, length: null, movesMs: null };
    const upcoming: Upcoming = { key, slide, index, step, startsAt, appearsAt, isEarly, isContinued, ...rest };
    return [
      { ...state, upcoming, lastKey: key },
      [...effects, { type: 'prepare', key, slide, payload: withRound(payload, state, index), isPaced, isContinued }],
    ];
  };

/** Starts a cooldown; reported at 1, 2, 4, 8, … failures in a row. */
export const noteFailure =
  (slide: Slide, reason: string): Reducer =>
  (state, { elapsed }) => {
    const cooldowns = withCooldown(state.cooldowns, slide, elapsed);
    const isReported = Number.isInteger(Math.log2(failuresOf(cooldowns, slide.id)));
    return [{ ...state, cooldowns }, isReported ? [{ type: 'fail', slideId: slide.id, reason }] : []];
  };

/** Why a view is replaced; null: its time is over. */
const endingOf = (shown: Shown, step: Direction | null, state: Playback, now: Now): Ending | null => {
  const { slide, failure, isSpent, isEdited } = shown;
  if (failure !== null) return { isFailed: true, reason: failure };
  const cut = (reason: string): Ending => ({ isFailed: false, reason });
  if (isSpent) return cut(isEdited ? 'edited' : 'removed');
  if (step !== null) return cut('command');
  const next = now.wall + LEAD_MS;
  const isDue = isSamePlaylist(state.plan.roundOf(shown.index), state.plan.roundAt(now.isClockSet ? next : null));
  const isOff = slide !== null && (!isDue || !state.scheduleAt(state.cooldowns, now).isOn(slide, now.wall));
  return isOff ? cut('schedule') : null;
};

type Next = Omit<Shown, 'isBegun' | 'isSpent' | 'isEdited' | 'failure' | 'restartsAt'>;

const show =
  (next: Next, isEarly: boolean, step: Direction | null, due: number | null = null): Reducer =>
  (state, now) => {
    const { shown: before, plan } = state;
    const isFading =
      before !== null &&
      (before.slide === null || next.slide === null || plan.roundOf(next.index).playlist?.fade_between_slides === true);
    const isPaced = next.slide !== null && modeOf(state, now) !== standalone;
    const early = due !== null && due > now.elapsed ? now.site + (due - now.elapsed) : null;
    const cueAt = isPaced ? next.appearsAt : early;
    const fresh = {
      isBegun: false,
      isSpent: false,
      isEdited: false,
      failure: null,
      restartsAt: Number.POSITIVE_INFINITY,
    };
    // A view that was never visible does not end the play of the one before it for another reason.
    const ending = state.ending ?? (before?.isBegun ? endingOf(before, step, state, now) : null);
    return [
      { ...state, shown: { ...next, ...fresh }, leaving: before, ending },
      [{ type: 'show', key: next.key, slideId: next.slide?.id ?? null, isFading, cueAt, isPaced, isEarly }],
    ];
  };

/** How long the shown slide is to be on from now, in ms. */
const expectedMs = (shown: Shown, slide: Slide, state: Playback, now: Now): number => {
  const mode = modeOf(state, now);
  const whole = mode === standalone ? shown.slot.until - shown.slot.since : lengthOf(slide, null);
  const position = mode.positionOf(state, shown.key, now) ?? 0;
  return Math.round(isLate(position, whole) ? Math.max(0, whole - position) : whole);
};

/** The shown slide begins to play, and what played before it is over. */
export const beginPlay: Reducer = (state, now) => {
  const { shown, ending } = state;
  const slide = shown?.slide ?? null;
  const effects: Effect[] = [{ type: 'ended', ending }];
  if (shown !== null && slide !== null)
    effects.push({ type: 'began', slide, index: shown.index, expectedMs: expectedMs(shown, slide, state, now) });
  return [{ ...state, ending: null }, effects];
};

export const showIdle: Reducer = (state, now) => {
  if (state.shown !== null && state.shown.slide === null) return [state, []];
  const key = state.lastKey + 1;
  const index = state.shown?.index ?? -1;
  const idle = {
    key,
    index,
    slide: null,
    startsAt: 0,
    appearsAt: 0,
    slot: { since: 0, until: 0 },
    length: null,
    movesMs: null,
  };
  return chain({ ...state, lastKey: key }, now, (at) => [at, [{ type: 'idle', key }]], show(idle, false, null));
};

const slotFor = (state: Playback, { slide, length }: Upcoming, due: number | null, now: Now): Slot => {
  const { elapsed } = now;
  const lengthMs = lengthOf(slide, length);
  const edited = editedBy(slide, state, now);
  if (edited === null) return slotOf(lengthMs, elapsed, due);
  const { since } = runningSlot(edited, state, elapsed);
  return { since, until: Math.max(since + lengthMs, elapsed) };
};

export const swapIn =
  (upcoming: Upcoming, due: number | null): Reducer =>
  (before, now) => {
    const { shown, cooldowns } = before;
    const isFine = shown?.slide != null && !shown.isSpent;
    const state = {
      ...before,
      upcoming: null,
      lastFailed: null,
      cooldowns: isFine ? withoutCooldown(cooldowns, shown.slide?.id ?? '') : cooldowns,
    };
    const { key, slide, index, startsAt, appearsAt, length, movesMs } = upcoming;
    const slot = slotFor(before, upcoming, due, now);
    const next = { key, slide, index, startsAt, appearsAt, length, movesMs, slot };
    return show(next, upcoming.isEarly, upcoming.step, due)(state, now);
  };

/** Restarts the slide that is shown, and its time. */
export const restart =
  (shown: Shown, due: number | null): Reducer =>
  (state, now) => {
    if (shown.slide === null) return [state, []];
    const slot = slotOf(lengthOf(shown.slide, shown.length), now.elapsed, due);
    const restarted = { ...state, shown: { ...shown, slot } };
    return chain(restarted, now, (same) => [same, [{ type: 'restart', key: shown.key }]], beginPlay);
  };

/** Plays the shown slide again, because no other one is playable. */
export const repeat =
  (due: number | null): Reducer =>
  (state, now) => {
    const { shown, cooldowns } = state;
    if (shown?.slide == null) return [state, []];
    const fine = { ...state, lastFailed: null, cooldowns: withoutCooldown(cooldowns, shown.slide.id) };
    return restart(shown, due)(fine, now);
  };
