/**
 * Presence history of a box, and which of its media may have been deleted at its site while it was away for longer than
 * deletions are kept. Pure; times are in ms since the epoch.
 */
import type { Attendance, Span } from '../contract/peer-media.ts';
import { isTrusted } from './clock-trust.ts';
import { KEEP_DELETIONS_MS } from './deletions.ts';

/** A span as a box keeps it. */
interface KeptSpan extends Span {
  /** The last time that is known to be part of it. */
  until: number;
}

/** The attendance of a box as it keeps it. */
export interface KeptAttendance {
  ran: KeptSpan;
  met: KeptSpan | null;
}

const isGap = (left: number | null, now: number): left is number => left !== null && now - left > KEEP_DELETIONS_MS;

/** Whether the gap after `left` is unresolved. */
const isOpen = ({ since, left }: Span): boolean => left !== null && since <= left;

/** The time since which a box knows all deletions. */
const reachOf = (span: Span, now: number): number => (isOpen(span) && isGap(span.left, now) ? now : span.since);

const earlier = (...times: number[]): number => Math.min(...times.filter(isTrusted));

/** The time by which two boxes judge a gap: if one clock is far ahead, no box was away. 0: neither clock is trusted. */
export const agreedTime = (own: number, theirs: number): number =>
  isTrusted(own) || isTrusted(theirs) ? earlier(own, theirs) : 0;

/** The span of a box that has just started: the time since its end is not known yet. */
const reopened = (span: KeptSpan): KeptSpan => ({ ...span, left: span.left ?? span.until });

/**
 * Continues a span up to `now`, or begins a new one after a gap. A clock that is behind does not shorten it: a gap that
 * never was would cost media, one that is overlooked costs nothing.
 * @param judged the time by which a gap is judged, where another box has a clock too
 */
const continued = (span: KeptSpan, now: number, judged = now): KeptSpan => {
  if (!isTrusted(now)) return span;
  const until = Math.max(span.until, now);
  // The clock of a box without a battery is set only after its start.
  const left = span.left ?? (isGap(span.until, now) ? span.until : null);
  // It was judged by a clock that was ahead.
  if (left !== null && !isGap(left, judged)) return { since: Math.min(span.since, left), until, left: null };
  return { since: isOpen({ ...span, left }) ? now : Math.min(span.since, now), until, left };
};

/**
 * The attendance of a box at its start, when its clock may be wrong yet: the gap is judged once it runs.
 * @param kept null: it never had a clock that was set
 */
export const started = (kept: KeptAttendance | null, now: number): KeptAttendance | null => {
  if (kept !== null) return { ran: reopened(kept.ran), met: kept.met && reopened(kept.met) };
  return isTrusted(now) ? { ran: { since: now, until: now, left: null }, met: null } : null;
};

/** The attendance of a box that runs on, and whose clock is right. @param isAlone whether it reaches no other box */
export const running = (kept: KeptAttendance | null, now: number, isAlone: boolean): KeptAttendance | null => {
  if (kept === null) return started(null, now);
  const { ran, met: other } = kept;
  return { ran: continued(ran, now), met: other && (isAlone ? reopened(other) : continued(other, now)) };
};

/**
 * The attendance of a box whose media agree with those of another one.
 * @param now the time of this box
 * @param judged {@link agreedTime} of both
 */
export const met = (kept: KeptAttendance, theirs: Attendance, now: number, judged = now): KeptAttendance => {
  if (!isTrusted(now)) return kept;
  const reach = { ran: reachOf(theirs.ran, judged), met: reachOf(theirs.met ?? theirs.ran, judged) };
  const begun = (since: number): KeptSpan => ({ since: Math.min(since, now), until: now, left: null });
  // Its history before it joined a site is irrelevant.
  if (kept.met === null) return { ran: begun(reach.ran), met: begun(reach.met) };
  const join = (own: KeptSpan, since: number): KeptSpan => {
    const next = continued(own, now, judged);
    // A gap that is found only now has to be judged first.
    if (own.left === null && next.left !== null) return next;
    if (next.left === null) return { ...next, since: Math.min(next.since, since) };
    return since <= next.left ? { ...next, since, left: null } : next;
  };
  return { ran: join(kept.ran, reach.ran), met: join(kept.met, reach.met) };
};

/**
 * The time up to which media of a box with the time `theirs` may have been deleted without its knowledge: a clock that
 * stood still while the box was off hides its absence. 0: its clock is not that far behind.
 */
export const hiddenUntil = (theirs: number, now: number): number =>
  isTrusted(theirs) && isGap(theirs, now) ? theirs : 0;

/**
 * The time up to which media of `box` may have been deleted without its knowledge, where `other` knows all deletions since
 * it left: media that are as old count only if they are elsewhere too. 0: they are merged, as neither box was away for
 * longer than deletions are known, or neither knows more than the other.
 * @param now {@link agreedTime} of both
 */
export const missedUntil = (box: Attendance, other: Attendance, now: number): number => {
  const missed = (own: Span, theirs: Span): number => {
    if (!isGap(own.left, now) || reachOf(theirs, now) > own.left) return 0;
    return Math.min(now - KEEP_DELETIONS_MS, isOpen(own) ? now : own.since);
  };
  if (box.met === null || other.met === null) return 0;
  return Math.max(missed(box.ran, other.ran), missed(box.met, other.met));
};
