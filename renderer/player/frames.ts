/** Counts the frames of films that this page showed and dropped. */

interface Counted {
  total: number;
  dropped: number;
}

const PERIOD_MS = 10_000;

/** Sums of the frames since the previous call, over the films that are on. */
export const createFrameCounter = (videos: () => Iterable<HTMLVideoElement>) => {
  const known = new WeakMap<HTMLVideoElement, Counted>();
  return (): { decoded: number; dropped: number } => {
    const sum = { decoded: 0, dropped: 0 };
    for (const video of videos()) {
      const { totalVideoFrames: total, droppedVideoFrames: dropped } = video.getVideoPlaybackQuality();
      const before = known.get(video);
      // A film that starts again counts from 0.
      const from = before === undefined || before.total > total ? { total: 0, dropped: 0 } : before;
      known.set(video, { total, dropped });
      sum.dropped += dropped - from.dropped;
      sum.decoded += total - from.total - (dropped - from.dropped);
    }
    return { decoded: Math.max(0, sum.decoded), dropped: Math.max(0, sum.dropped) };
  };
};

/** Reports the frames every ten seconds, while films are on. A hidden page drops all of them, and reports none. */
export const watchFrames = (report: (frames: { decoded: number; dropped: number }) => void): void => {
  const count = createFrameCounter(() => document.querySelectorAll('video'));
  setInterval(() => {
    const frames = count();
    if (!document.hidden && frames.decoded + frames.dropped > 0) report(frames);
  }, PERIOD_MS);
};
