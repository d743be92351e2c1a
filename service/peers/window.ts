/**
 * How many boxes that may not be there are probed at a time, for each reason: halved when a box accepts a connection and
 * does not answer in time, and increased by time, after the congestion window of TCP (RFC 5681). A network or a machine that
 * carries less than the site asks of it must not be asked more because answers are late. A box that is off accepts no
 * connection. Times are arguments, in ms by a monotonic clock.
 */
export interface Window {
  /** Below one: a probe is sent only after a pause, of a second divided by the size. */
  size(now: number): number;
  /** Whether the size is below one: what can wait is not sent. */
  isCongested(now: number): boolean;
  /** A box that accepted the connection did not answer in time. */
  late(now: number): void;
}

const MAX_SIZE = 8;
const MIN_SIZE = 1 / 8;
/** Time in which the size grows by one. */
const GROWTH_MS = 5_000;
/** Late answers within this time count once: their requests were sent together. */
const EPISODE_MS = 1_000;

export const createWindow = (): Window => {
  let halved = MAX_SIZE;
  let halvedAt = Number.NEGATIVE_INFINITY;
  const size = (now: number): number => Math.min(MAX_SIZE, halved + (now - halvedAt) / GROWTH_MS);

  return {
    size,
    isCongested: (now) => size(now) < 1,
    late: (now) => {
      if (now - halvedAt < EPISODE_MS) return;
      halved = Math.max(MIN_SIZE, size(now) / 2);
      halvedAt = now;
    },
  };
};
