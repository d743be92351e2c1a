/** What pages tell of themselves beyond what they show: what they could not show, their clocks, and how clean swaps are. */
import type { Logger } from 'pino';
import type { Gaps, PageHealth } from '../wire/health.ts';
import type { PageMessage } from '../wire/socket.ts';

/** Who is speaking. */
interface Speaker {
  connectionId: string;
  slug: string;
}

type Report = Exclude<PageMessage, { type: 'hello' | 'state' | 'time' | 'skew' }>;

export interface Reports {
  take(speaker: Speaker, report: Report): void;
  /** The page has left. */
  forget(connectionId: string): void;
  /** The gaps of all swaps since the start, and the pages whose gaps are the longest. */
  describe(): { gaps: Gaps; pages: PageHealth[] };
}

/** Swaps that figures are made of: a few hours of one screen. */
const WINDOW = 1_000;
const MOST_PAGES = 50;

interface Page extends Pick<PageHealth, 'clock' | 'lastFault'> {
  slug: string;
  gaps: ReturnType<typeof createWindow>;
}

/** The last so many values, and what they come to. */
const createWindow = () => {
  const values: number[] = [];
  let count = 0;
  return {
    add: (value: number): void => {
      values[count % WINDOW] = value;
      count += 1;
    },
    longest: (): number => Math.max(0, ...values),
    describe: (): Gaps => {
      const sorted = values.toSorted((a, b) => a - b);
      const rank = (share: number): number | null => sorted[Math.ceil(share * sorted.length) - 1] ?? null;
      return { count, p50: rank(0.5), p99: rank(0.99), max: sorted.at(-1) ?? null };
    },
  };
};

export const createReports = (log: Logger): Reports => {
  const all = createWindow();
  const pages = new Map<string, Page>();

  const pageOf = ({ connectionId, slug }: Speaker) => {
    const page = pages.get(connectionId) ?? { slug, clock: null, gaps: createWindow(), lastFault: null };
    pages.set(connectionId, page);
    return page;
  };

  return {
    take: (speaker, report) => {
      const { slug } = speaker;
      if (report.type === 'fault') {
        const { slideId, reason } = report;
        pageOf(speaker).lastFault = { at: new Date().toISOString(), slideId, reason };
        const message = slideId === null ? 'a page could not show what it was told to' : 'a slide was skipped';
        log.warn({ slug, slideId, reason }, message);
      } else if (report.type === 'clock') {
        const { state, stepMs } = report;
        pageOf(speaker).clock = state;
        if (state !== 'ok') log.warn({ ...speaker, clock: state }, 'the clocks of a page and of this service differ');
        if (stepMs !== 0) log.warn({ ...speaker, stepMs }, 'the time of a page was set');
      } else {
        all.add(report.gapMs);
        pageOf(speaker).gaps.add(report.gapMs);
      }
    },
    forget: (connectionId) => void pages.delete(connectionId),
    describe: () => ({
      gaps: all.describe(),
      pages: [...pages]
        .toSorted(([, a], [, b]) => b.gaps.longest() - a.gaps.longest())
        .slice(0, MOST_PAGES)
        .map(([connectionId, { slug, gaps, ...page }]) => ({
          connectionId,
          screenSlug: slug,
          ...page,
          gaps: gaps.describe(),
        })),
    }),
  };
};
