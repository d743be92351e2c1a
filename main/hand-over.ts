/**
 * How one page takes the place of another on a display, by what the page that comes reports of itself: pure. It begins
 * under the page that is on. Whether a runtime paints a view that is covered differs between versions and platforms; one
 * that does not paint there is lifted over the page that is on, transparent until it has painted.
 */
import type { Beat } from './service-host.ts';

/** `wait`: leave it where it is. `lift`: put it on top, transparent. `reveal`: it is on from now on. */
export type HandOver = 'wait' | 'lift' | 'reveal';

/** A page that paints but has nothing to show is waited for this long, ms; then it is shown as it is. */
export const READY_MS = 10_000;

/** The page that was on stays underneath this long, ms: the first frame of the next may come a moment later. */
export const LINGER_MS = 500;

/** @param ms since the page that comes was asked for */
export const handOver = (
  { frames, ready }: Pick<Beat, 'frames' | 'ready'>,
  ms: number,
  isLifted: boolean,
): HandOver => {
  if (frames === 0) return isLifted ? 'wait' : 'lift';
  return ready || ms > READY_MS ? 'reveal' : 'wait';
};
