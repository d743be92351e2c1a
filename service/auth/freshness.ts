/** How far a timestamp may be from this machine's clock, in ms, either way. */
export const freshMs = 300_000;

/** Two clocks, each read in whole steps of its own, agree to within this many ms. */
const roundingMs = 1;

/**
 * The oldest timestamp that is fresh, in ms since the epoch: the window's edge, or the moment when the memory of nonces
 * began, whichever is later. It never moves back, so that a nonce may be forgotten once its timestamp lies before it,
 * and a clock that is stepped on after the start takes the start along with it.
 *
 * A clock that is stepped back refuses what is signed by it until it has caught up. Where that would take longer than
 * the window, the step counts as a start instead.
 *
 * @param oldest what this returned before; at the start, the clock at that time
 * @param now the wall clock, ms
 * @param age how long nonces have been remembered, in ms, by a clock that is never stepped
 */
export const oldestFresh = (oldest: number, now: number, age: number): number =>
  oldest - now > freshMs ? now : Math.max(oldest, now - Math.min(age + roundingMs, freshMs));
