/**
 * How many boxes that may not be there are probed at a time: halved when one accepts the connection and does not answer in
 * time, and increased as boxes answer, after the congestion window of TCP (RFC 5681). A network or a machine that carries less than the site asks
 * of it must not be asked more because answers are late. A box that is off accepts no connection. Times are arguments, in ms by a monotonic clock.
 */
export interface Window {
  /** At least one. */
  size(): number;
  /** Counts how a call ended. */
  count(answer: Ending, now: number): void;
}

/** Of a call; see {@link PeerAnswer}. */
type Ending = { ok: true } | { ok: false; isLate?: true; isBusy?: true };

const MAX_SIZE = 8;
/** Late answers within this time count once: their requests were sent together. */
const EPISODE_MS = 1_000;

export const createWindow = (): Window => {
  let size = MAX_SIZE;
  let halvedAt = Number.NEGATIVE_INFINITY;

  return {
    size: () => Math.floor(size),
    count: (answer, now) => {
      // A refusal is an answer too.
      if (answer.ok || answer.isLate !== true) size = Math.min(MAX_SIZE, size + 1 / size);
      else if (answer.isBusy === true && now - halvedAt >= EPISODE_MS) {
        halvedAt = now;
        size = Math.max(1, size / 2);
      }
    },
  };
};
