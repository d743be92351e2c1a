/** What pages tell of themselves beyond what they show: what they could not show, their clocks, and how clean swaps are. */
import { isDeepStrictEqual } from 'node:util';
import type { Gaps, PageHealth } from '../contract/health.ts';
import type { Slide } from '../contract/playlist.ts';
import type { PageMessage } from '../contract/socket.ts';
import { remember } from '../domain/recent.ts';
import type { SourceLogs } from '../platform/source-log.ts';

/** Who is speaking. */
interface Speaker {
  connectionId: string;
  slug: string;
}

type Report = Exclude<PageMessage, { type: 'hello' | 'state' | 'time' | 'skew' }>;

interface Dependencies {
  logs: SourceLogs;
  /** A slide as it is in the content now. */
  slideOf(slug: string, slideId: string): Slide | undefined;
}

export interface Reports {
  take(speaker: Speaker, report: Report): void;
  /** A page shows a slide that it did not show before: a fault of that slide is over. */
  plays(connectionId: string, slideId: string): void;
  /** The content of screens has changed: faults of slides that are different now, or gone, are over. */
  contentChanged(slugs: readonly string[]): void;
  /** The page has left. */
  forget(connectionId: string): void;
  /** What pages have no glyphs for, in sentences. */
  missingGlyphs(): string[];
  /** The gaps of all swaps since the start, and the pages whose gaps are the longest. */
  describe(): { gaps: Gaps; pages: PageHealth[] };
}

/** Swaps that figures are made of: a few hours of one screen. */
const WINDOW = 1_000;
const MOST_PAGES = 50;

interface Page extends Pick<PageHealth, 'clock' | 'lastFault'> {
  slug: string;
  /** What the last fault names, as it was then. */
  faultySlide: Slide | undefined;
  /** Characters that the page has no glyphs for, by the id of the slide. */
  missingGlyphs: Map<string, string>;
  gaps: ReturnType<typeof createWindow>;
}

/** Slides whose characters are remembered for one page, and sentences about all of them. */
const MOST_SLIDES = 50;
const MOST_SENTENCES = 10;

/** Debian's packages that have them. */
const fontsFor = (characters: string): string =>
  [
    { letters: /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}/u, name: 'fonts-noto-cjk' },
    { letters: /\p{Extended_Pictographic}|\p{Regional_Indicator}/u, name: 'fonts-noto-color-emoji' },
  ]
    .filter(({ letters }) => letters.test(characters))
    .map(({ name }) => name)
    .join(' and ') || 'fonts-noto-core';

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

export const createReports = ({ logs, slideOf }: Dependencies): Reports => {
  const all = createWindow();
  const pages = new Map<string, Page>();

  const pageOf = ({ connectionId, slug }: Speaker) => {
    const page = pages.get(connectionId) ?? {
      ...{ slug, clock: null, gaps: createWindow() },
      ...{ lastFault: null, faultySlide: undefined, missingGlyphs: new Map<string, string>() },
    };
    pages.set(connectionId, page);
    return page;
  };

  const clearFault = (page: Page): void => {
    page.lastFault = null;
    page.faultySlide = undefined;
  };

  return {
    take: (speaker, report) => {
      const { slug } = speaker;
      const log = logs(`page ${speaker.connectionId}`, speaker);
      if (report.type === 'fault') {
        const { slideId, reason } = report;
        const page = pageOf(speaker);
        page.lastFault = { at: new Date().toISOString(), slideId, reason };
        page.faultySlide = slideId === null ? undefined : slideOf(slug, slideId);
        const message = slideId === null ? 'a page could not show what it was told to' : 'a slide was skipped';
        log.warn({ slideId, reason }, message);
      } else if (report.type === 'clock') {
        const { state, stepMs } = report;
        pageOf(speaker).clock = state;
        if (state !== 'ok') log.warn({ clock: state }, 'the clocks of a page and of this service differ');
        if (stepMs !== 0) log.warn({ stepMs }, 'the time of a page was set');
      } else if (report.type === 'glyphs') {
        const { slideId, characters } = report;
        const { missingGlyphs } = pageOf(speaker);
        if (characters === '') missingGlyphs.delete(slideId);
        else if (slideOf(slug, slideId) !== undefined) remember(missingGlyphs, slideId, characters, MOST_SLIDES);
      } else {
        all.add(report.gapMs);
        pageOf(speaker).gaps.add(report.gapMs);
      }
    },
    plays: (connectionId, slideId) => {
      const page = pages.get(connectionId);
      if (page?.lastFault?.slideId === slideId) clearFault(page);
    },
    contentChanged: (slugs) => {
      for (const page of pages.values()) {
        for (const id of page.missingGlyphs.keys()) {
          if (slideOf(page.slug, id) === undefined) page.missingGlyphs.delete(id);
        }
        const slideId = page.lastFault?.slideId ?? null;
        if (slideId === null || !slugs.includes(page.slug)) continue;
        if (!isDeepStrictEqual(slideOf(page.slug, slideId), page.faultySlide)) clearFault(page);
      }
    },
    forget: (connectionId) => void pages.delete(connectionId),
    missingGlyphs: () => {
      const sentences = new Set<string>();
      for (const { slug, missingGlyphs } of pages.values()) {
        for (const [slideId, characters] of missingGlyphs) {
          if (sentences.size === MOST_SENTENCES) return [...sentences];
          const title = slideOf(slug, slideId)?.title || slideId;
          sentences.add(
            `A page of the screen "${slug}" has no font for ${characters} in the slide ${JSON.stringify(title)}: install ${fontsFor(characters)}.`,
          );
        }
      }
      return [...sentences];
    },
    describe: () => ({
      gaps: all.describe(),
      pages: [...pages]
        .toSorted(([, a], [, b]) => b.gaps.longest() - a.gaps.longest())
        .slice(0, MOST_PAGES)
        .map(([connectionId, { slug, gaps, clock, lastFault }]) => ({
          connectionId,
          screenSlug: slug,
          clock,
          lastFault,
          gaps: gaps.describe(),
        })),
    }),
  };
};
