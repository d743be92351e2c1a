/** How much later than usual media may arrive (ms), and for how long (ms) it may be later than that. */
const slack = 1_000;
const patience = 1_500;

/** Tolerated clock drift: the usual delay may grow by this much per millisecond... */
const drift = 0.05;
/** ...but for at most this long (ms) per frame: a source that sends nothing is not slow but disconnected. */
const longestFrame = 100;

/**
 * Checks whether a live source keeps pace with the clock. Network delays and bursts even out quickly. Media that stays
 * late comes from a publisher that restarted behind a server that keeps its viewers connected: its time stamps begin
 * again, and ffmpeg, whose output time never goes back, makes no progress.
 */
export const createPace = () => {
  let usual = Number.POSITIVE_INFINITY;
  let judgedAt = 0;
  let lateSince: number | null = null;

  return {
    /** @param now, position arrival time and media time of a frame, in ms, each with its own origin */
    isLost(now: number, position: number): boolean {
      const delay = now - position;
      if (lateSince === null) usual += drift * Math.min(now - judgedAt, longestFrame);
      judgedAt = now;
      if (delay <= usual + slack) {
        usual = Math.min(usual, delay);
        lateSince = null;
        return false;
      }
      lateSince ??= now;
      return now - lateSince >= patience;
    },
  };
};
