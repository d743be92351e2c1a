/** By how much more the media must lag behind the clock, in ms, for the source to have been interrupted. */
const slip = 250;

/** How many seconds are compared with as many before them. */
const span = 2;

const least = (lags: readonly number[]): number => Math.min(...lags);

/**
 * Watches whether a live source keeps pace with the clock. A hitch in the network is made up for at once, and bursts
 * even out over a second or two. A source that stays behind was interrupted: its time stood still meanwhile, or begins
 * again. Servers that keep their viewers through that describe the format of what follows to new viewers only.
 */
export const createPace = () => {
  /** The least lag in each of the last seconds in which there was media. */
  let lags: number[] = [];
  let second: number | undefined;
  let lag = Number.POSITIVE_INFINITY;

  return {
    /** @param now, position of the newest media; both in ms from any beginning. True once, when the source slipped. */
    slipped(now: number, position: number): boolean {
      const current = Math.floor(now / 1000);
      const isNext = second !== undefined && current !== second;
      if (isNext) lags = [...lags, lag].slice(-2 * span);
      lag = isNext ? now - position : Math.min(lag, now - position);
      second = current;
      if (!isNext || lags.length < 2 * span) return false;
      return least(lags.slice(span)) - least(lags.slice(0, span)) > slip;
    },
  };
};
