/**
 * Decides which timestamps a box accepts, across clock steps and restarts. Pure; times in ms since the epoch.
 *
 * A run is a period in which the clock advances evenly, or is stepped by less than the window. The nonces of a run are
 * remembered until they leave the window. When a run ends, its whole period is spent: no timestamp in it is accepted again,
 * so its nonces can be forgotten. The time between two runs is not spent, so a clock that was in the wrong year for a while
 * locks out no client once it is corrected.
 */

/** The window: maximum difference between a timestamp and the clock, in ms, in either direction. */
export const freshMs = 300_000;

/** Maximum difference between two clocks caused by rounding, ms. */
const roundingMs = 1;

/** A clock that moves by more than this against a monotonic one was stepped, ms; less is the scheduling of a process. */
export const stepMs = 5;

/** Maximum number of spans; beyond it, the two nearest are merged. */
const MAX_SPANS = 16;

/** A half-open interval: `from` is included, `to` is not. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Fence {
  /** Sorted and disjoint. */
  readonly spent: readonly Span[];
  readonly start: number;
  /** The oldest timestamp accepted in this run; it never decreases. */
  readonly oldest: number;
  /** The highest reading of the clock in this run. */
  readonly highest: number;
  readonly reading: number;
}

/** The part of the fence that is saved. */
export interface SavedFence extends Pick<Fence, 'spent' | 'start' | 'highest'> {
  /** For how long the clock may have been read after `highest`, ms. */
  readonly unsavedMs: number;
  /** The latest accepted timestamp. */
  readonly latest: number;
  /** Whether the clock was stepped back since `highest` was saved, or may have been. */
  readonly isSteppedBack: boolean;
}

const isSpent = (spent: readonly Span[], time: number): boolean =>
  spent.some(({ from, to }) => time >= from && time < to);

/** Adds a span and merges overlapping ones. */
const spend = (spent: readonly Span[], span: Span): readonly Span[] => {
  if (span.to <= span.from) return spent;
  const joined: Span[] = [];
  for (const each of [...spent, span].toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last === undefined || each.from > last.to) joined.push(each);
    else joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, each.to) };
  }
  while (joined.length > MAX_SPANS) {
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
 * The fence at the start of the program: it begins at the clock, or at the highest saved reading where that is later. If
 * the two differ by more than the window, a new run begins at the clock and the saved run is spent.
 */
export const fenceAtStart = (saved: SavedFence, now: number): Fence => {
  const { spent, start, highest, unsavedMs, latest, isSteppedBack } = saved;
  const end = highest + unsavedMs;
  if (Math.abs(now - end) > freshMs && Math.abs(now - highest) > freshMs) {
    return runFrom(spend(spent, { from: start, to: Math.max(end, latest) + 1 }), now, now);
  }
  // Before a step back the clock may have been read until the end, with nonces that nobody knows any more.
  const past = isSteppedBack ? Math.max(now, end) : now + (unsavedMs > 0 ? 2 * stepMs : 0);
  return runFrom(spend(spent, { from: start, to: now < highest ? end : past }), Math.max(now, highest), now);
};

interface Reading {
  now: number;
  /** Time since the previous reading, ms, by the monotonic clock. */
  elapsed: number;
  /** Time since the start of the program, ms, by the monotonic clock. */
  age: number;
  /** The latest timestamp accepted in this run. */
  latest: number;
}

/** The fence after a reading of the clock. If {@link Fence.start} differs, a new run has begun. */
export const advance = (fence: Fence, { now, elapsed, age, latest }: Reading): Fence => {
  const { spent, start, oldest, highest, reading } = fence;
  const window = Math.floor(Math.min(age + roundingMs, freshMs));
  const isSteppedBack = highest - now > freshMs;
  if (isSteppedBack || now - reading - elapsed > freshMs) {
    const past = spend(spent, { from: start, to: Math.max(highest, latest) + 1 });
    return runFrom(past, isSteppedBack ? now : now - window, now);
  }
  const top = Math.max(highest, now);
  return { spent, start, oldest: Math.max(oldest, top - window), highest: top, reading: now };
};

/** Whether this timestamp is not accepted any more, now or later: its nonces can be forgotten. */
export const isPast = ({ spent, oldest }: Fence, timestamp: number): boolean =>
  timestamp < oldest || isSpent(spent, timestamp);

/** Whether a request with this timestamp may be accepted now. */
export const isFresh = (fence: Fence, timestamp: number): boolean =>
  !isPast(fence, timestamp) && timestamp <= fence.reading + freshMs;

/** The earliest accepted timestamp at or after the last reading; it is later where the clock was set back. */
export const nextFresh = ({ spent, oldest, reading }: Fence): number => {
  const first = Math.max(oldest, reading);
  return spent.reduce((time, { from, to }) => (time >= from && time < to ? to : time), first);
};
