/** The plays of a ticker, which shows all its slides at once: one play for each, from when it comes in until it goes. */
import type { Slide } from '../../../service/contract/playlist.ts';
import type { PagePlay } from '../../../service/contract/plays.ts';
import type { PlayRecorder } from './recorder.ts';

/** Slides of one ticker that are recorded; the page keeps a note of each that is under way. */
const MOST = 100;

/** A slide of the ticker, and the playlist that it stands in. */
export interface TickerSlide {
  slide: Slide;
  playlistId: string | null;
}

export type TickerPlays = ReturnType<typeof createTickerPlays>;

/** @param create makes a recorder for one slide */
export const createTickerPlays = (create: () => PlayRecorder) => {
  const recorders = new Map<string, PlayRecorder>();
  let covered: string | null = null;
  return {
    /** What the ticker shows from now on. Those that it showed before go on. */
    show: (shown: readonly TickerSlide[]): void => {
      const wanted = new Map(shown.slice(0, MOST).map((each) => [JSON.stringify([each.playlistId, each.slide]), each]));
      for (const [key, recorder] of recorders) {
        if (wanted.has(key)) continue;
        recorders.delete(key);
        recorder.end(null);
      }
      for (const [key, { slide, playlistId }] of wanted) {
        if (recorders.has(key)) continue;
        const recorder = create();
        recorders.set(key, recorder);
        recorder.cover(covered);
        // It has no time of its own: it is shown for as long as it is there.
        recorder.begin(slide, 0, { playlist_id: playlistId, programme_id: null });
      }
    },
    cover: (reason: string | null): void => {
      covered = reason;
      for (const recorder of recorders.values()) recorder.cover(reason);
    },
    underWay: (): PagePlay[] => [...recorders.values()].flatMap((recorder) => recorder.underWay() ?? []),
  };
};
