/**
 * Decides when a new page replaces the current one on a display, from the heartbeats of the new page. Pure. The new page
 * loads under the current one. Some runtimes do not paint a covered view; there the new page is lifted above the current
 * one, transparent, until it has painted.
 */
import type { Heartbeat } from '../../service/public.ts';
/** `wait`: change nothing. `lift`: put the new page on top, transparent. `reveal`: show it. */
export type Handover = 'wait' | 'lift' | 'reveal';

/** How long to wait for a page that paints but has no content yet, in ms; then it is shown anyway. */
export const READY_MS = 10_000;

/** How long the old page stays underneath, in ms: the first frame of the new one can be late. */
export const LINGER_MS = 500;

/**
 * @param ms since the new page was requested
 * @param state whether the new page is on top of the current one, and whether another view covers both
 */
export const handover = (
  { frames, ready }: Pick<Heartbeat, 'frames' | 'ready'>,
  ms: number,
  { isLifted, isCovered }: { isLifted: boolean; isCovered: boolean },
): Handover => {
  if (frames === 0 && !isLifted) return 'lift';
  // A page under another view may never be painted, and is not visible yet.
  if (frames === 0 && !isCovered) return 'wait';
  return ready || ms > READY_MS ? 'reveal' : 'wait';
};
