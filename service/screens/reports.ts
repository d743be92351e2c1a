/** Collects the reports of pages: slides they could not show, clock errors, missing glyphs, and gaps between slides. */
import { isDeepStrictEqual } from 'node:util';
import type { Gaps, PageHealth } from '../contract/health.ts';
import type { Slide } from '../contract/playlist.ts';
import type { PageMessage } from '../contract/socket.ts';
import { remember } from '../domain/collections.ts';
import { createEmitter } from '../domain/emitter.ts';
import { withoutPasswords } from '../domain/media-names.ts';
import type { ServiceContext } from '../module.ts';

/** The page that sent a report. */
interface Sender {
  connectionId: string;
  slug: string;
}

/** A report about the slides and clocks of a page. */
export type Report = Exclude<
  PageMessage,
  { type: 'hello' | 'state' | 'time' | 'skew' | 'plays' | 'identified' | 'video' }
>;

export type Reports = ReturnType<typeof createReports>;

/** Number of gaps in the statistics: a few hours of one screen. */
const WINDOW = 1_000;
const MAX_PAGES = 50;

interface Page extends Pick<PageHealth, 'clock' | 'lastFault'> {
  slug: string;
  /** The slide of the last fault, as it was at that time. */
  faultySlide: Slide | undefined;
  /** Characters that the page has no glyphs for, by slide id. */
  missingGlyphs: Map<string, string>;
  gaps: ReturnType<typeof createWindow>;
}

/** Maximum number of slides with missing glyphs per page, and of sentences about all pages. */
const MAX_SLIDES = 50;
const MAX_SENTENCES = 10;

/** The Debian packages with fonts for these characters. */
const fontsFor = (characters: string): string =>
  [
    { letters: /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}/u, name: 'fonts-noto-cjk' },
    { letters: /\p{Extended_Pictographic}|\p{Regional_Indicator}/u, name: 'fonts-noto-color-emoji' },
  ]
    .filter(({ letters }) => letters.test(characters))
    .map(({ name }) => name)
    .join(' and ') || 'fonts-noto-core';

/** Statistics of the last WINDOW values. */
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

/** @param slideOf a slide of the current content */
export const createReports = (
  { logs }: Pick<ServiceContext, 'logs'>,
  slideOf: (slug: string, slideId: string) => Slide | undefined,
) => {
  const all = createWindow();
  const pages = new Map<string, Page>();
  const swaps = createEmitter<[number]>();

  const pageOf = ({ connectionId, slug }: Sender): Page => {
    const page: Page = pages.get(connectionId) ?? {
      slug,
      clock: null,
      gaps: createWindow(),
      lastFault: null,
      faultySlide: undefined,
      missingGlyphs: new Map<string, string>(),
    };
    pages.set(connectionId, page);
    return page;
  };

  const clearFault = (page: Page): void => {
    page.lastFault = null;
    page.faultySlide = undefined;
  };

  return {
    accept: (sender: Sender, report: Report): void => {
      const { slug } = sender;
      const log = logs(`page ${sender.connectionId}`, sender);
      if (report.type === 'fault') {
        const { slideId } = report;
        // It names the address of a redirect as it was given.
        const reason = withoutPasswords(report.reason);
        const page = pageOf(sender);
        page.lastFault = { at: new Date().toISOString(), slideId, reason };
        page.faultySlide = slideId === null ? undefined : slideOf(slug, slideId);
        const message =
          slideId === null
            ? 'a page could not show its playlist or a redirect, or keep its plays'
            : 'a slide was skipped';
        log.warn({ slideId, reason }, message);
      } else if (report.type === 'clock') {
        const { state, stepMs } = report;
        pageOf(sender).clock = state;
        if (state !== 'ok') log.warn({ clock: state }, 'the clocks of a page and of the service differ');
        if (stepMs !== 0) log.warn({ stepMs }, 'the clock of a page was set');
      } else if (report.type === 'glyphs') {
        const { slideId, characters } = report;
        const { missingGlyphs } = pageOf(sender);
        if (characters === '') missingGlyphs.delete(slideId);
        else if (slideOf(slug, slideId) !== undefined) remember(missingGlyphs, slideId, characters, MAX_SLIDES);
      } else {
        all.add(report.gapMs);
        pageOf(sender).gaps.add(report.gapMs);
        swaps.emit(report.gapMs);
      }
    },
    /** A page began to show a slide: clears a fault of that slide. */
    plays: (connectionId: string, slideId: string): void => {
      const page = pages.get(connectionId);
      if (page?.lastFault?.slideId === slideId) clearFault(page);
    },
    /** The content of screens changed: clears faults of slides that were changed or removed. */
    contentChanged: (slugs: readonly string[]): void => {
      for (const page of pages.values()) {
        for (const id of page.missingGlyphs.keys()) {
          if (slideOf(page.slug, id) === undefined) page.missingGlyphs.delete(id);
        }
        const slideId = page.lastFault?.slideId ?? null;
        if (slideId === null || !slugs.includes(page.slug)) continue;
        if (!isDeepStrictEqual(slideOf(page.slug, slideId), page.faultySlide)) clearFault(page);
      }
    },
    /** Calls `listener` with each gap between two slides, ms. */
    onSwap: swaps.on,
    /** Removes the data of a disconnected page. */
    forget: (connectionId: string): void => void pages.delete(connectionId),
    /** The last slide that a page could not show, and has not shown since; null: none. */
    faultOf: (connectionId: string): PageHealth['lastFault'] => pages.get(connectionId)?.lastFault ?? null,
    /** One sentence per slide with characters that a page has no glyphs for. @param isCounted selects the connections to include */
    missingGlyphs: (isCounted: (connectionId: string) => boolean): string[] => {
      const sentences = new Set<string>();
      for (const [connectionId, { slug, missingGlyphs }] of pages) {
        if (missingGlyphs.size === 0 || !isCounted(connectionId)) continue;
        for (const [slideId, characters] of missingGlyphs) {
          if (sentences.size === MAX_SENTENCES) return [...sentences];
          const title = slideOf(slug, slideId)?.title || slideId;
          sentences.add(
            `A page of the screen "${slug}" has no font for ${characters} in the slide ${JSON.stringify(title)}: install ${fontsFor(characters)}.`,
          );
        }
      }
      return [...sentences];
    },
    /** The gap statistics of all pages, and those of the pages with the longest gaps. */
    describe: (): { gaps: Gaps; pages: PageHealth[] } => ({
      gaps: all.describe(),
      pages: [...pages]
        .toSorted(([, a], [, b]) => b.gaps.longest() - a.gaps.longest())
        .slice(0, MAX_PAGES)
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
