/** Which slides of a playlist can be shown: those on schedule by the wall clock, except those that failed and are skipped for a while, longer after each failure in a row. Pure. */
import type { Slide } from '../../service/contract/playlist.ts';
import { endOf, isOn, nextChange } from '../../service/domain/slide-schedule.ts';
import { endOfPlaylist, isSamePlaylist, type PagePlan, searchIn } from './page-plan.ts';
import { cooldownMs, following } from './timeline.ts';

interface Cooldown {
  /** Failures in a row. */
  failures: number;
  /** When it ends, by the monotonic clock. */
  until: number;
}

/** By slide id. A slide whose cooldown has ended stays in it until it was shown without an error. */
export type Cooldowns = ReadonlyMap<string, Cooldown>;

export const noCooldowns: Cooldowns = new Map();

/** Starts a cooldown for a slide that failed. */
export const withCooldown = (cooldowns: Cooldowns, { id, kind }: Slide, elapsed: number): Cooldowns => {
  const failures = failuresOf(cooldowns, id) + 1;
  return new Map(cooldowns).set(id, { failures, until: elapsed + cooldownMs(kind, failures) });
};

/** Resets the failures of a slide that was shown without an error. */
export const withoutCooldown = (cooldowns: Cooldowns, slideId: string): Cooldowns =>
  cooldowns.has(slideId) ? new Map([...cooldowns].filter(([id]) => id !== slideId)) : cooldowns;

/** The number of failures of a slide in a row. */
export const failuresOf = (cooldowns: Cooldowns, slideId: string): number => cooldowns.get(slideId)?.failures ?? 0;

const isCoolingDown = (cooldowns: Cooldowns, slideId: string, elapsed: number): boolean =>
  elapsed < (cooldowns.get(slideId)?.until ?? Number.NEGATIVE_INFINITY);

/** When the cooldowns end, by the monotonic clock. */
export const endsOf = (cooldowns: Cooldowns): number[] => [...cooldowns.values()].map(({ until }) => until);

export interface PlaylistSchedule {
  isOn(slide: Slide, wall: number): boolean;
  /** When a slide that is on schedule goes off, in ms since the epoch. */
  endOf(slide: Slide, wall: number): number;
  /** Until when the playlist of a place is due, in ms since the epoch: `wall` if it is not. */
  dueUntil(index: number, wall: number): number;
  /** Whether a slide is not in a cooldown after a failure. */
  isAvailable(index: number): boolean;
  /** The index of the next playable slide after the one at `from`; null: no slide is playable. */
  next(from: number, step: 1 | -1, wall: number): number | null;
  /** Whether the round of a place is due, and its slide on schedule and not in a cooldown. */
  isPlayable(index: number, wall: number): boolean;
  /** When the next slide goes on or off schedule, or another round is due, in ms since the epoch. */
  changesAt(wall: number): number;
}

/** What a schedule depends on besides the slides. */
interface Moment {
  /** A reading of the monotonic clock, in ms. */
  elapsed: number;
  /** False: the time of day is unknown, so that only slides without a schedule can be shown. */
  isClockSet: boolean;
}

/** The schedule of a playlist, given its cooldowns and a moment. */
export type PlaylistScheduleAt = (cooldowns: Cooldowns, moment: Moment) => PlaylistSchedule;

export const createPlaylistSchedule = (plan: PagePlan, timeZone: string): PlaylistScheduleAt => {
  const { slides } = plan;
  let change = { from: Number.POSITIVE_INFINITY, at: 0 };

  const changesAt = (wall: number): number => {
    // Recomputed once that time has passed, or the clock was set back.
    if (wall < change.from || wall >= change.at) {
      const { start, end } = plan.roundAt(wall);
      const at = Math.min(nextChange(slides.slice(start, end), wall, timeZone), plan.changesAt(wall));
      change = { from: wall, at };
    }
    return change.at;
  };

  return (cooldowns, { elapsed, isClockSet }) => {
    const isOnAt = (slide: Slide, wall: number): boolean =>
      isClockSet ? isOn(slide, wall, timeZone) : slide.schedule_mode === 'always';

    const isAvailable = (index: number): boolean => !isCoolingDown(cooldowns, slides[index]?.id ?? '', elapsed);

    const roundAt = (wall: number) => plan.roundAt(isClockSet ? wall : null);

    const isPlayable = (index: number, wall: number): boolean => {
      const slide = slides[index];
      const { start, end } = roundAt(wall);
      return slide !== undefined && index >= start && index < end && isAvailable(index) && isOnAt(slide, wall);
    };

    return {
      isOn: isOnAt,
      endOf: (slide, wall) => endOf(slide, wall, timeZone),
      dueUntil: (index, wall) => {
        if (!isClockSet) return Number.POSITIVE_INFINITY;
        if (!isSamePlaylist(plan.roundOf(index), plan.roundAt(wall))) return wall;
        return endOfPlaylist(plan, wall);
      },
      isAvailable,
      isPlayable,
      next: (from, step, wall) => {
        const round = roundAt(wall);
        const after = searchIn(plan, round, from) - round.start;
        const found = following(round.end - round.start, after, step, (index) => isPlayable(round.start + index, wall));
        return found === null ? null : round.start + found;
      },
      changesAt,
    };
  };
};
