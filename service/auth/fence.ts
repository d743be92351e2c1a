/**
 * Which timestamps a box accepts, over steps of its clock and over restarts. Pure; times in ms since the epoch.
 *
 * A run is a stretch of time in which the clock goes on evenly, or is set by less than the window. The nonces of a run are
 * remembered until they leave the window. When a run ends, all of it is spent: nothing dated in it is accepted again, so its
 * nonces can be forgotten. The time between two runs was never lived through, and is not spent: a clock that was in the
 * wrong year for a while locks nobody out once it is right.
 */

/** How far a timestamp may be from the clock, in ms, either way. */
export const freshMs = 300_000;

/** Two clocks, each read in whole steps of its own, agree to within this many ms. */
const roundingMs = 1;

/** Spans beyond this number are joined, the nearest first. */
const MOST_SPANS = 16;

/** From the first ms to before the last. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Fence {
  /** In order, apart from each other. */
  readonly spent: readonly Span[];
  /** Where the run began. */
  readonly start: number;
  /** Nothing older is accepted in this run. It never moves back. */
  readonly oldest: number;
  /** The highest reading of the clock in this run. */
  readonly highest: number;
  /** The last reading. */
  readonly reading: number;
}

/** What a box keeps of its fence on the disk. */
export interface SavedFence extends Pick<Fence, 'spent' | 'start' | 'highest'> {
  /** The clock may have been read for this long after `highest`. */
  readonly unsavedMs: number;
  /** The latest timestamp that was accepted. */
  readonly latest: number;
}

const isSpent = (spent: readonly Span[], time: number): boolean =>
  spent.some(({ from, to }) => time >= from && time < to);

/** Adds a span; spans that overlap become one. */
const spend = (spent: readonly Span[], span: Span): readonly Span[] => {
  if (span.to <= span.from) return spent;
  const joined: Span[] = [];
  for (const each of [...spent, span].toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last === undefined || each.from > last.to) joined.push(each);
    else joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, each.to) };
  }
  while (joined.length > MOST_SPANS) {
    const gaps = joined.slice(1).map(({ from }, index) => from - (joined[index]?.to ?? 0));
    const nearest = gaps.indexOf(Math.min(...gaps));
    const [one, other] = joined.slice(nearest, nearest + 2) as [Span, Span];
    joined.splice(nearest, 2, { from: one.from, to: other.to });
  }
  return joined;
};

const runFrom = (spent: readonly Span[], start: number, now: number): Fence => ({
  spent,
  start,
  oldest: start,
  highest: Math.max(start, now),
  reading: now,
});

/**
 * The fence at the start of the program: the clock, or the highest reading that was saved where that is later. A reading
 * that is later by more than the window only spends what was lived through.
 */
export const fenceAtStart = ({ spent, start, highest, unsavedMs, latest }: SavedFence, now: number): Fence => {
  const end = highest + unsavedMs;
  if (Math.abs(now - end) > freshMs && Math.abs(now - highest) > freshMs) {
    return runFrom(spend(spent, { from: start, to: Math.max(end, latest) + 1 }), now, now);
  }
  // After a short absence the clock may have been set just before it: all of that time counts as lived through.
  return runFrom(spend(spent, { from: start, to: now < highest ? end : now }), Math.max(now, highest), now);
};

interface Reading {
  now: number;
  /** Since the reading before, ms, by a clock that is never stepped. */
  elapsed: number;
  /** Since the start of the program, ms, by the same clock. */
  age: number;
  /** The latest timestamp that was accepted in this run. */
  latest: number;
}

/** The fence after a reading of the clock. Where {@link Fence.start} is another, a new run has begun. */
export const advance = (fence: Fence, { now, elapsed, age, latest }: Reading): Fence => {
  const { spent, start, oldest, highest, reading } = fence;
  const window = Math.min(age + roundingMs, freshMs);
  const isBack = highest - now > freshMs;
  if (isBack || now - reading - elapsed > freshMs) {
    const past = spend(spent, { from: start, to: Math.max(highest, latest) + 1 });
    return runFrom(past, isBack ? now : now - window, now);
  }
  const top = Math.max(highest, now);
  return { spent, start, oldest: Math.max(oldest, top - window), highest: top, reading: now };
};

/** Whether no timestamp as old as this is accepted, now or later: its nonces can be forgotten. */
export const isPast = ({ spent, oldest }: Fence, timestamp: number): boolean =>
  timestamp < oldest || isSpent(spent, timestamp);

/** Whether a request with this timestamp may be accepted now. */
export const isFresh = (fence: Fence, timestamp: number): boolean =>
  !isPast(fence, timestamp) && timestamp <= fence.reading + freshMs;

/** The earliest time from the last reading on that is accepted: where the clock was set back, it is later. */
export const nextFresh = ({ spent, oldest, reading }: Fence): number => {
  const first = Math.max(oldest, reading);
  return spent.reduce((time, { from, to }) => (time >= from && time < to ? to : time), first);
};
