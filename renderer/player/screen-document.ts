/** Which slides of a playlist can be shown at a moment of the wall clock (`wall`, in ms since the epoch). */
import type { Slide } from '../../service/contract/playlist.ts';
import { endOf, isOn, nextChange } from '../../service/domain/slide-schedule.ts';
import type { Clock } from './clock.ts';
import type { Cooldowns } from './cooldowns.ts';
import { following } from './timeline.ts';

export interface PlaylistSchedule {
  isOn(slide: Slide, wall: number): boolean;
  /** When a slide that is on schedule goes off, in ms since the epoch. */
  endOf(slide: Slide, wall: number): number;
  /** Whether a slide is not in a cooldown after a failure. */
  isAvailable(index: number): boolean;
  /** The index of the next playable slide after the one at `from`; null: no slide is playable. */
  next(from: number, step: 1 | -1, wall: number): number | null;
  /** Whether a slide is on schedule and not in a cooldown. */
  isPlayable(index: number, wall: number): boolean;
  /** When the next slide goes on or off schedule, in ms since the epoch. */
  changesAt(wall: number): number;
}

export const createPlaylistSchedule = (
  slides: readonly Slide[],
  cooldowns: Cooldowns,
  clock: Pick<Clock, 'state'>,
  timeZone: string,
): PlaylistSchedule => {
  let change = { from: Number.POSITIVE_INFINITY, at: 0 };

  /** While the time is unknown, only slides without a schedule can be shown. */
  const isOnAt = (slide: Slide, wall: number): boolean =>
    clock.state() === 'unset' ? slide.schedule_mode === 'always' : isOn(slide, wall, timeZone);

  const isAvailable = (index: number): boolean => cooldowns.isOver(slides[index]?.id ?? '');

  const isPlayable = (index: number, wall: number): boolean => {
    const slide = slides[index];
    return slide !== undefined && isAvailable(index) && isOnAt(slide, wall);
  };

  return {
    isOn: isOnAt,
    endOf: (slide, wall) => endOf(slide, wall, timeZone),
    isAvailable,
    isPlayable,
    next: (from, step, wall) => following(slides.length, from, step, (index) => isPlayable(index, wall)),
    changesAt: (wall) => {
      // Computed again when that moment has come, or the clock was set back.
      if (wall < change.from || wall >= change.at) change = { from: wall, at: nextChange(slides, wall, timeZone) };
      return change.at;
    },
  };
};
