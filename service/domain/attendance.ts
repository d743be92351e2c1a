/**
 * When a box was there, and which of its media may have been deleted at its site while it was away for longer than
 * deletions are known. Pure; times are in ms since the epoch.
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
export type KeptAttendance = Record<keyof Attendance, KeptSpan>;

const isGap = (left: number | null, now: number): left is number => left !== null && now - left > KEEP_DELETIONS_MS;

/** Whether the time since `left` has not been looked at yet. */
const isOpen = ({ since, left }: Span): boolean => left !== null && since <= left;

/** Since when a box knows all deletions. */
const reachOf = (span: Span, now: number): number => (isOpen(span) && isGap(span.left, now) ? now : span.since);

const earlier = (...times: number[]): number => Math.min(...times.filter(isTrusted));

/** The time by which two boxes judge a gap: if one clock is far ahead, no box was away. 0: neither clock is trusted. */
export const agreedTime = (own: number, theirs: number): number =>
  isTrusted(own) || isTrusted(theirs) ? earlier(own, theirs) : 0;

/** The span of a box that has just started: what was since its end is not known yet. */
const reopened = (span: KeptSpan): KeptSpan => ({ ...span, left: span.left ?? span.until });

/** Continues a span up to `now`, or begins a new one after a gap. */
const continued = (span: KeptSpan, now: number): KeptSpan => {
  const { since, left } = span;
  if (!isTrusted(now)) return span;
  // It was judged by a clock that was ahead.
  if (left !== null && !isGap(left, now)) return { since: Math.min(since, left), until: now, left: null };
  return isOpen(span) ? { since: now, until: now, left } : { since: Math.min(since, now), until: now, left };
};

/** The attendance of a box at its start. @param kept null: it never had a clock that was set */
export const started = (kept: KeptAttendance | null, now: number): KeptAttendance | null => {
  if (kept !== null) return { ran: continued(reopened(kept.ran), now), met: reopened(kept.met) };
  const span = { since: now, until: now, left: null };
  return isTrusted(now) ? { ran: span, met: span } : null;
};

/** The attendance of a box that runs on. @param isAlone whether it reaches no other box */
export const running = (kept: KeptAttendance | null, now: number, isAlone: boolean): KeptAttendance | null => {
  if (kept === null) return started(null, now);
  return { ran: continued(kept.ran, now), met: isAlone ? reopened(kept.met) : continued(kept.met, now) };
};

/** The attendance of a box whose media agree with those of another one. @param now {@link agreedTime} of both */
export const met = (kept: KeptAttendance, theirs: Attendance, now: number): KeptAttendance => {
  if (!isTrusted(now)) return kept;
  const join = (own: KeptSpan, other: Span): KeptSpan => {
    const next = continued(own, now);
    const reach = reachOf(other, now);
    if (next.left === null) return { ...next, since: Math.min(next.since, reach) };
    return reach <= next.left ? { since: reach, until: now, left: null } : next;
  };
  return { ran: join(kept.ran, theirs.ran), met: join(kept.met, theirs.met) };
};

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
  return Math.max(missed(box.ran, other.ran), missed(box.met, other.met));
};
