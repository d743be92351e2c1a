/** What can be asked of a box; apart from the schemas, which the console does not load. */
export const boxActions = ['identify', 'display-on', 'display-off', 'volume', 'reboot', 'power-off', 'reset'] as const;
export type BoxAction = (typeof boxActions)[number];

/** Actions that end the player: without a secret they are taken from the box itself alone. */
export const endingActions = ['reboot', 'power-off', 'reset'] as const satisfies readonly BoxAction[];
export type EndingAction = (typeof endingActions)[number];

/** For how long `identify` is shown, seconds. */
export const identifySeconds = 15;
