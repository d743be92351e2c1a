/**
 * How many boxes that may not be there are tried at a time: halved by each that is late, as the congestion
 * window of TCP is (RFC 5681). A network or a machine that carries less than the site asks of it must not be asked more
 * because answers are late. Pure.
 */

const MAX_SIZE = 8;

export const full = MAX_SIZE;

/** The size after a try that was answered, or refused at once. */
export const grown = (size: number): number => Math.min(MAX_SIZE, size + 1);

/** The size after a try that was late. */
export const halved = (size: number): number => Math.max(1, Math.floor(size / 2));
