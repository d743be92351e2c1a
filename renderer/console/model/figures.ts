/** What plays add up to: by slide, by screen and over time, and why there was none in between; pure. */
import type { Play } from '../../../service/contract/plays.ts';
import type { Span } from '../../../service/domain/wall-time.ts';

/** @throws SyntaxError if the answer is cut off */
export const readPlays = async (
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  onPlay: (play: CountedPlay) => void,
  onProgress: (count: number) => void,
): Promise<void> => {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>, { signal })
    .getReader();
  let rest = '';
  let count = 0;
  let isComplete = false;
  const take = (line: string): void => {
    const text = line
      .replace(/^\[(?=.)/, '')
      .replace(/,$/, '')
      .trim();
    if (text === ']' || text === '[]' || text === ']]') isComplete = true;
    if (!text.startsWith('{')) return;
    onPlay(JSON.parse(text) as CountedPlay);
    count += 1;
  };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
    onProgress(count);
  }
  take(rest);
  if (!isComplete) throw new SyntaxError('the answer was cut off');
};

/** Why a display that plays at other times showed no slide of its playlist. */
export const gapReasons = ['closed', 'takeover', 'blackout', 'redirect', 'failed', 'silent'] as const;
export type GapReason = (typeof gapReasons)[number];

export interface SlideFigures {
  id: string;
  title: string;
  plays: number;
  seenMs: number;
  failures: number;
  /** The newest reason of a failure. */
  reason: string | null;
}

export interface ScreenFigures {
  slug: string;
  plays: number;
  seenMs: number;
}

export interface Figures {
  /** Like all figures except those by slide, of the main zone and takeovers alone. */
  plays: number;
  seenMs: number;
  failures: number;
  /** Plays whose time is not certain. */
  untrusted: number;
  slides: SlideFigures[];
  screens: ScreenFigures[];
  /** One for each part of the range: ms that were seen. */
  seen: number[];
  /** Likewise, by reason. */
  gaps: Record<GapReason, number[]>;
}

export type CountedPlay = Pick<
  Play,
  | 'node_id'
  | 'device_id'
  | 'screen'
  | 'slide_id'
  | 'slide_title'
  | 'media_url'
  | 'started_at'
  | 'ended_at'
  | 'duration_ms'
  | 'result'
  | 'reason'
  | 'clock'
> &
  Partial<Pick<Play, 'zone'>>;

interface Range {
  /** Bounds of the parts, ms since the epoch: one more than there are parts. */
  bounds: readonly number[];
  /** The end of what can be known, ms since the epoch. */
  now: number;
  /** When a screen is open; null: always. */
  openSpans(slug: string): readonly Span[] | null;
}

/** Between slides a display is allowed so much, ms: a page loads, a stream begins. */
const GAP_MS = 60_000;
const MAX_SLIDES = 2_000;

const overlap = (one: Span, other: Span): number =>
  Math.max(0, Math.min(one.end, other.end) - Math.max(one.start, other.start));

const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);

const reasonOf = ({ result, reason }: Pick<CountedPlay, 'result' | 'reason'>): GapReason => {
  if (reason === 'takeover' || reason === 'blackout' || reason === 'redirect') return reason;
  return result === 'failed' || result === 'skipped' ? 'failed' : 'silent';
};

export const isTakeover = ({ slide_id }: Pick<CountedPlay, 'slide_id'>): boolean => slide_id.startsWith('takeover-');

export const createFigures = ({ bounds, now, openSpans }: Range) => {
  const parts = bounds.slice(0, -1).map((start, index): Span => ({ start, end: bounds[index + 1] ?? start }));
  const slides = new Map<string, SlideFigures>();
  const screens = new Map<string, ScreenFigures>();
  const totals = { plays: 0, seenMs: 0, failures: 0, untrusted: 0 };
  const seen = zeros(parts.length);
  const gaps = Object.fromEntries(gapReasons.map((reason) => [reason, zeros(parts.length)])) as Figures['gaps'];
  /** The end of the last play of each display. */
  const last = new Map<string, { screen: string; end: number; reason: GapReason }>();

  const spread = (into: number[], span: Span): void => {
    for (const [index, part] of parts.entries()) into[index] = (into[index] ?? 0) + overlap(part, span);
  };
  const addGap = (gap: Span, screen: string, reason: GapReason): void => {
    if (gap.end - gap.start <= GAP_MS) return;
    const open = openSpans(screen);
    if (open === null) return spread(gaps[reason], gap);
    let at = gap.start;
    for (const span of open) {
      if (span.end <= at || span.start >= gap.end) continue;
      if (span.start > at) spread(gaps.closed, { start: at, end: span.start });
      const end = Math.min(span.end, gap.end);
      spread(gaps[reason], { start: Math.max(at, span.start), end });
      at = end;
    }
    if (at < gap.end) spread(gaps.closed, { start: at, end: gap.end });
  };

  return {
    /** Adds a play; plays are added in the order of their start. */
    add: (play: CountedPlay): void => {
      const { screen, slide_id, slide_title, media_url, started_at, ended_at, duration_ms, result, clock } = play;
      const [start, end] = [Date.parse(started_at), Date.parse(ended_at)];
      const isFailure = result === 'failed' || result === 'skipped';

      const slide = slides.get(slide_id) ?? { id: slide_id, title: '', plays: 0, seenMs: 0, failures: 0, reason: null };
      slide.title = slide_title ?? media_url ?? slide_id;
      slide.plays += isFailure ? 0 : 1;
      slide.seenMs += duration_ms;
      slide.failures += isFailure ? 1 : 0;
      if (isFailure) slide.reason = play.reason;
      if (slides.has(slide_id) || slides.size < MAX_SLIDES) slides.set(slide_id, slide);
      // A sidebar and each text of a ticker play beside the main zone, which has the time of the display.
      if ((play.zone ?? 'main') !== 'main') return;

      const display = play.device_id ?? `${play.node_id} ${screen}`;
      const before = last.get(display);
      if (before !== undefined && start > before.end) {
        addGap({ start: before.end, end: start }, before.screen, isTakeover(play) ? 'takeover' : before.reason);
      }
      if (end >= (before?.end ?? 0)) {
        last.set(display, { screen, end, reason: isTakeover(play) ? 'silent' : reasonOf(play) });
      }
      totals.plays += isFailure ? 0 : 1;
      totals.failures += isFailure ? 1 : 0;
      totals.seenMs += duration_ms;
      totals.untrusted += clock === 'untrusted' ? 1 : 0;
      spread(seen, { start, end: start + duration_ms });

      const shown = screens.get(screen) ?? { slug: screen, plays: 0, seenMs: 0 };
      shown.plays += isFailure ? 0 : 1;
      shown.seenMs += duration_ms;
      screens.set(screen, shown);
    },
    /** The totals, with the time since the last play of each display. */
    sum: (): Figures => {
      const end = Math.min(now, bounds.at(-1) ?? now);
      for (const each of last.values()) addGap({ start: each.end, end }, each.screen, each.reason);
      const bySeen = (one: { seenMs: number }, other: { seenMs: number }): number => other.seenMs - one.seenMs;
      return {
        ...totals,
        slides: [...slides.values()].toSorted(bySeen),
        screens: [...screens.values()].toSorted(bySeen),
        seen,
        gaps,
      };
    },
  };
};
