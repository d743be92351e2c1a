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

/** A slide that a page could not show. */
export interface FailingSlide {
  slug: string;
  slide: Slide;
  /** A clause, as the page gave it. */
  reason: string;
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

type Fault = NonNullable<PageHealth['lastFault']>;

interface Page extends Pick<PageHealth, 'clock'> {
  slug: string;
  /** By slide id, the last one last, with the slide as it was at that time; null: a redirect, the playlist or the plays. */
  faults: Map<string | null, { fault: Fault; slide: Slide | undefined }>;
  /** Characters that the page has no glyphs for, by slide id. */
  missingGlyphs: Map<string, string>;
  gaps: ReturnType<typeof createWindow>;
}

/** Maximum number of slides with faults and with missing glyphs per page, and of sentences about all pages. */
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
      faults: new Map(),
      missingGlyphs: new Map<string, string>(),
    };
    pages.set(connectionId, page);
    return page;
  };

  const lastFaultOf = (page: Page | undefined): Fault | null =>
    [...(page?.faults.values() ?? [])].at(-1)?.fault ?? null;

  return {
    accept: (sender: Sender, report: Report): void => {
      const { slug } = sender;
      const log = logs(`page ${sender.connectionId}`, sender);
      if (report.type === 'fault') {
        const { slideId } = report;
        // It names the address of a redirect as it was given.
        const reason = withoutPasswords(report.reason);
        const { faults } = pageOf(sender);
        // What nothing clears ends with the next one.
        faults.delete(null);
        const slide = slideId === null ? undefined : slideOf(slug, slideId);
        remember(faults, slideId, { fault: { at: new Date().toISOString(), slideId, reason }, slide }, MAX_SLIDES);
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
      pages.get(connectionId)?.faults.delete(slideId);
    },
    /** The content of screens changed: clears faults of slides that were changed or removed. */
    contentChanged: (slugs: readonly string[]): void => {
      for (const page of pages.values()) {
        for (const id of page.missingGlyphs.keys()) {
          if (slideOf(page.slug, id) === undefined) page.missingGlyphs.delete(id);
        }
        if (!slugs.includes(page.slug)) continue;
        for (const [id, { slide }] of page.faults) {
          if (id !== null && !isDeepStrictEqual(slideOf(page.slug, id), slide)) page.faults.delete(id);
        }
      }
    },
    /** Calls `listener` with each gap between two slides, ms. */
    onSwap: swaps.on,
    /** Removes the data of a disconnected page. */
    forget: (connectionId: string): void => void pages.delete(connectionId),
    /** The last slide that a page could not show, and has not shown since; null: none. */
    faultOf: (connectionId: string): PageHealth['lastFault'] => lastFaultOf(pages.get(connectionId)),
    /** The slides that pages could not show, and have not shown since. @param isCounted selects the connections to include */
    failing: (isCounted: (connectionId: string) => boolean): FailingSlide[] =>
      [...pages].flatMap(([connectionId, { slug, faults }]) =>
        isCounted(connectionId)
          ? [...faults.values()].flatMap(({ fault: { reason }, slide }) => (slide ? [{ slug, slide, reason }] : []))
          : [],
      ),
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
        .map(([connectionId, page]) => ({
          connectionId,
          screenSlug: page.slug,
          clock: page.clock,
          lastFault: lastFaultOf(page),
          gaps: page.gaps.describe(),
        })),
    }),
  };
};
