/** Release date of the player, ms since the epoch: a clock before it was never set. */
export const RELEASED = Date.UTC(2026, 0, 1);

/** Whether a reading of the machine's clock can be right. */
export const isTrusted = (now: number): boolean => now >= RELEASED;
