/** Levels, limits and slide ids of takeovers, without a schema, for pages and the command line. */

/** Longest time from the start of a takeover to its end, days. */
export const mostTakeoverDays = 31;

/** Longest title and body of a takeover, characters. */
export const mostTakeoverTitle = 500;
export const mostTakeoverBody = 2_000;

/** Highest level last: of several takeovers of a screen, the page shows the one with the highest level. */
export const takeoverLevels = ['info', 'warning', 'emergency'] as const;
export type TakeoverLevel = (typeof takeoverLevels)[number];

/** Id of the slide of a takeover in the playlist payload. */
export const takeoverSlideId = (id: string): string => `takeover-${id}`;
