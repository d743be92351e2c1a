/** How late media may be (ms), compared with what is usual, and for how long (ms) it may be later. */
const slack = 80;
const patience = 1_500;

/** How slow a source may be without being late: its usual delay is taken to grow by so much a millisecond... */
const drift = 0.05;
/** ...for no longer than this (ms) at a time: a source that says nothing is not slow, it is away. */
const longestFrame = 100;

export type Pace = 'steady' | 'late' | 'interrupted';

/**
 * Watches whether a live source keeps pace with the clock. A hitch in the network is made up for at once, and so are
 * bursts. A source that comes late and stays late was interrupted: its time stood still meanwhile, or began again.
 * Servers that keep their viewers through that describe the format of what follows to new viewers only, so that it
 * may not be playable; while media is late one can't tell.
 */
export const createPace = () => {
  let usual = Number.POSITIVE_INFINITY;
  let judgedAt = 0;
  let lateSince: number | null = null;

  return {
    /** @param now, position when a frame came, and which place in time it has; both in ms, each from any beginning */
    judge(now: number, position: number): Pace {
      const delay = now - position;
      if (lateSince === null) usual += drift * Math.min(now - judgedAt, longestFrame);
      judgedAt = now;
      if (delay <= usual + slack) {
        usual = Math.min(usual, delay);
        lateSince = null;
        return 'steady';
      }
      lateSince ??= now;
      return now - lateSince < patience ? 'late' : 'interrupted';
    },
  };
};
