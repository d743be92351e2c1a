/** How many frames of films the pages of this box showed and dropped, as their players count them. */
import type { VideoFrames } from '../contract/health.ts';
import type { VideoReport } from '../contract/socket.ts';

interface Page {
  slug: string;
  /** What the page reported within {@link WINDOW_MS}, oldest first. */
  reports: { at: number; slideId: string | null; decoded: number; dropped: number }[];
}

const WINDOW_MS = 60_000;
/** Pages report every ten seconds, each slide by itself. */
const MOST_REPORTS = 120;
/** Of fewer frames a share says nothing: not even a second of a film. */
const LEAST_FRAMES = 20;
const MOST_SHARE = 0.05;
const MOST_SENTENCES = 10;

const sumOf = (reports: Page['reports']): VideoFrames =>
  reports.reduce((sum, { decoded, dropped }) => ({ decoded: sum.decoded + decoded, dropped: sum.dropped + dropped }), {
    decoded: 0,
    dropped: 0,
  });

/** The slide in which most frames were dropped. */
const worstOf = (reports: Page['reports']): string | null => {
  const dropped = new Map<string | null, number>();
  for (const each of reports) dropped.set(each.slideId, (dropped.get(each.slideId) ?? 0) + each.dropped);
  return [...dropped].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? null;
};

/** @param now ms of a monotonic clock */
export const createVideoFrames = (now: () => number) => {
  const pages = new Map<string, Page>();
  const total: VideoFrames = { decoded: 0, dropped: 0 };

  const recent = (connectionId: string): Page['reports'] => {
    const page = pages.get(connectionId);
    if (page === undefined) return [];
    page.reports = page.reports.filter(({ at }) => now() - at < WINDOW_MS).slice(-MOST_REPORTS);
    return page.reports;
  };

  return {
    accept: (
      { connectionId, slug }: { connectionId: string; slug: string },
      { slideId, decoded, dropped }: VideoReport,
    ): void => {
      total.decoded += decoded;
      total.dropped += dropped;
      const page: Page = pages.get(connectionId) ?? { slug, reports: [] };
      page.reports.push({ at: now(), slideId, decoded, dropped });
      pages.set(connectionId, page);
      recent(connectionId);
    },
    forget: (connectionId: string): void => void pages.delete(connectionId),
    /** Since the start. */
    total: (): VideoFrames => ({ ...total }),
    /** Of the last minute; null: the page showed no film. */
    of: (connectionId: string): VideoFrames | null => {
      const reports = recent(connectionId);
      return reports.length === 0 ? null : sumOf(reports);
    },
    /**
     * One sentence for each display that drops more than a twentieth of its frames.
     * @param names of the pages that are connected, by connection id
     * @param titleOf the title of a slide, or its id
     */
    issues: (names: ReadonlyMap<string, string>, titleOf: (slug: string, slideId: string) => string): string[] =>
      [...pages]
        .flatMap(([connectionId, { slug }]) => {
          const reports = recent(connectionId);
          const { decoded, dropped } = sumOf(reports);
          const name = names.get(connectionId);
          const share = dropped / (decoded + dropped);
          if (name === undefined || decoded + dropped < LEAST_FRAMES || share <= MOST_SHARE) return [];
          const slideId = worstOf(reports);
          const slide = slideId === null ? '' : ` of the slide ${JSON.stringify(titleOf(slug, slideId))}`;
          return [
            `The display ${JSON.stringify(name)} dropped ${Math.round(share * 100)} % of the frames${slide} in the last minute.`,
          ];
        })
        .slice(0, MOST_SENTENCES),
  };
};
