/** Beyond this the pause has long reached its maximum, and stays a finite number. */
const MAX_DOUBLINGS = 30;

/** A pause that doubles, from `min` at 0 doublings to at most `max`; in the unit of the two. */
export const doubled = (doublings: number, min: number, max: number): number =>
  Math.min(max, min * 2 ** Math.min(doublings, MAX_DOUBLINGS));
