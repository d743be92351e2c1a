/** Points in time, and who tells them. Spans are plain numbers whose names end in `Ms` or `Seconds`. */

/** Milliseconds since the epoch, by a wall clock, which may step. */
export type EpochMs = number;

/** Milliseconds of a clock that is never set back; only differences mean anything. */
export type MonotonicMs = number;

/** A time in a signed text: 13 digits, with zeros in front where a clock stands before September 2001. */
export const timestampText = (time: EpochMs): string => String(Math.floor(time)).padStart(13, '0');

/** A time in the name of a file: `20261129T061530000Z`. */
export const fileTime = (time: EpochMs): string => new Date(time).toISOString().replaceAll(/[-:.]/g, '');

export interface Clock {
  now(): EpochMs;
  monotonicNow(): MonotonicMs;
}

/** The clock of the machine. */
export const systemClock: Clock = { now: () => Date.now(), monotonicNow: () => performance.now() };

/** Beyond this the pause has long reached its maximum, and stays a finite number. */
const MAX_DOUBLINGS = 30;

/** A pause that doubles, from `min` at 0 doublings to at most `max`; in the unit of the two. */
export const doubled = (doublings: number, min: number, max: number): number =>
  Math.min(max, min * 2 ** Math.min(doublings, MAX_DOUBLINGS));

/** Release date of the player, ms since the epoch: a clock before it was never set. */
export const RELEASED = Date.UTC(2026, 0, 1);

/** The clock of the site, as the modules below it follow it. */
export interface SiteTime {
  /** ms since the epoch. */
  now(): number;
  /** Whether the time was agreed with other boxes, or none of them was reachable for some seconds after the start. */
  isEstablished(): boolean;
  /**
   * The time that schedules go by, ms since the epoch: of the site if, since the clock of this box was set last, two boxes at
   * least and most of them have agreed on it, or one has told it that follows a time server; else of this box.
   */
  timeOfDay(): EpochMs;
  /** Whether the boxes of the site agree on the time of day, or it is that of a clock which the system calls synchronized. */
  isConfirmed(): boolean;
}

/** The time by the machine, until a module follows the clock of the site. */
export const unconfirmed = (now: () => number): SiteTime => ({
  now,
  isEstablished: () => false,
  timeOfDay: now,
  isConfirmed: () => false,
});

/** The time that schedules go by; until a clock is followed, that of this box. */
export const createFollowing = (now: () => EpochMs) => {
  let site = unconfirmed(now);
  return {
    now: (): EpochMs => site.timeOfDay(),
    follow: (clock: SiteTime): void => {
      site = clock;
    },
  };
};

/** How long a box may be away: what was removed or ended is kept as long, so that a box that is back does not restore it. */
export const longestAbsenceMs = 400 * 86_400_000;

/** Whether a reading of the machine's clock can be right. */
export const isTrusted = (now: number): boolean => now >= RELEASED;

/** Whether something is as old as `age` ms. What was dated by a clock that was never set is of no known age. */
export const isOlder = (date: EpochMs, age: number, now: EpochMs): boolean => isTrusted(date) && date + age <= now;
