/** What of a playlist may be on at a moment of the wall clock, in ms since the epoch. */
import type { Slide } from '../../service/contract/playlist.ts';
import type { Clock } from './clock.ts';
import type { Rests } from './cooldowns.ts';
import { endOf, isOn, nextChange } from './schedule.ts';
import { following } from './timeline.ts';

export interface Programme {
  isOn(slide: Slide, wall: number): boolean;
  /** When a slide that is on goes off. */
  endOf(slide: Slide, wall: number): number;
  /** Whether a slide is not left out because it failed. */
  isRested(index: number): boolean;
  /** The index of the slide that is on, rested, and next to the one at `from`; null: there is none. */
  next(from: number, step: 1 | -1, wall: number): number | null;
  /** Whether a slide is on and rested. */
  isPlayable(index: number, wall: number): boolean;
  /** When the schedules change something next. */
  changesAt(wall: number): number;
}

export const createProgramme = (
  slides: readonly Slide[],
  rests: Rests,
  clock: Pick<Clock, 'state'>,
  timeZone: string,
): Programme => {
  let change = { from: Number.POSITIVE_INFINITY, at: 0 };

  /** While nobody knows what time it is, only what is always on can be. */
  const isOnAt = (slide: Slide, wall: number): boolean =>
    clock.state() === 'unset' ? slide.schedule_mode === 'always' : isOn(slide, wall, timeZone);

  const isRested = (index: number): boolean => rests.isOver(slides[index]?.id ?? '');

  const isPlayable = (index: number, wall: number): boolean => {
    const slide = slides[index];
    return slide !== undefined && isRested(index) && isOnAt(slide, wall);
  };

  return {
    isOn: isOnAt,
    endOf: (slide, wall) => endOf(slide, wall, timeZone),
    isRested,
    isPlayable,
    next: (from, step, wall) => following(slides.length, from, step, (index) => isPlayable(index, wall)),
    changesAt: (wall) => {
      // Looked up anew when it has come, or the clock was set back.
      if (wall < change.from || wall >= change.at) change = { from: wall, at: nextChange(slides, wall, timeZone) };
      return change.at;
    },
  };
};
