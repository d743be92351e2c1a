/** How late media may be (ms), compared with what is usual, and for how long (ms) it may be later. */
const slack = 1_000;
const patience = 1_500;

/** How slow a source may be without being late: its usual delay is taken to grow by so much a millisecond... */
const drift = 0.05;
/** ...for no longer than this (ms) at a time: a source that says nothing is not slow, it is away. */
const longestFrame = 100;

/**
 * Watches whether a live source keeps pace with the clock. A hitch in the network is made up for soon, and so are
 * bursts. Media that comes late and stays late comes from a source that was started anew behind a server that keeps
 * its viewers: its time begins again, and to ffmpeg, which lets no time go back, it stands still.
 */
export const createPace = () => {
  let usual = Number.POSITIVE_INFINITY;
  let judgedAt = 0;
  let lateSince: number | null = null;

  return {
    /** @param now, position when a frame came, and which place in time it has; both in ms, each from any beginning */
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
