/** Release date of the player, ms since the epoch: a clock before it was never set. */
export const RELEASED = Date.UTC(2026, 0, 1);

/** The clock of the site, as the modules below it follow it. */
export interface SiteTime {
  /** ms since the epoch. */
  now(): number;
  /** Whether the time was agreed with other boxes, or none of them was reachable for some seconds after the start. */
  isEstablished(): boolean;
  /** Whether the boxes of the site agree on the time of day, or the system calls its clock synchronized. */
  isConfirmed(): boolean;
}

/** The time by the machine, until a module follows the clock of the site. */
export const unconfirmed = (now: () => number): SiteTime => ({
  now,
  isEstablished: () => false,
  isConfirmed: () => false,
});

/** Whether a reading of the machine's clock can be right. */
export const isTrusted = (now: number): boolean => now >= RELEASED;
