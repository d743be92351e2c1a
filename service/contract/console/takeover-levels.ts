/** The levels of takeovers, without a schema, for pages and the command line. */

/** Highest level last: of several takeovers of a screen, the page shows the one with the highest level. */
export const takeoverLevels = ['info', 'warning', 'emergency'] as const;
export type TakeoverLevel = (typeof takeoverLevels)[number];
