/** Counts the frames of films that this page showed and dropped, by the slides that show them. */

interface Frames {
  decoded: number;
  dropped: number;
}

const PERIOD_MS = 10_000;

/** @param isHidden a hidden page drops all of them, which says nothing */
export const createFrameCounter = (isHidden: () => boolean) => {
  const known = new WeakMap<HTMLVideoElement, { total: number; dropped: number }>();
  let sums = new Map<string | null, Frames>();
  return {
    /** Counts the frames of a film since the previous look: now and then, and before it is released, which forgets them. */
    look: (video: HTMLVideoElement): void => {
      const { totalVideoFrames: total, droppedVideoFrames: dropped } = video.getVideoPlaybackQuality();
      const before = known.get(video);
      // A film that starts again counts from 0.
      const from = before === undefined || before.total > total ? { total: 0, dropped: 0 } : before;
      known.set(video, { total, dropped });
      if (isHidden()) return;
      const slideId = video.dataset['slide'] ?? null;
      const sum = sums.get(slideId) ?? { decoded: 0, dropped: 0 };
      sum.dropped += Math.max(0, dropped - from.dropped);
      sum.decoded += Math.max(0, total - from.total - (dropped - from.dropped));
      sums.set(slideId, sum);
    },
    /** The frames since the previous call, of each slide that had some. */
    take: (): ({ slideId: string | null } & Frames)[] => {
      const taken = [...sums].map(([slideId, frames]) => ({ slideId, ...frames }));
      sums = new Map();
      return taken.filter(({ decoded, dropped }) => decoded + dropped > 0);
    },
  };
};

/** Reports the frames of each slide every ten seconds. @returns what counts the frames of a film before it is released */
export const watchFrames = (
  report: (frames: { slideId: string | null } & Frames) => void,
): ((video: HTMLVideoElement) => void) => {
  const { look, take } = createFrameCounter(() => document.hidden);
  setInterval(() => {
    document.querySelectorAll('video').forEach(look);
    take().forEach(report);
  }, PERIOD_MS);
  return look;
};
