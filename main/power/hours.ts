/** Decides whether a display is on: a pure function of opening hours and the time, in ms since the epoch. */
import { openSpans } from '../../service/domain/opening-hours.ts';
import type { Hours } from '../../service/public.ts';

/** How far ahead the next change is computed. */
const HORIZON_DAYS = 15;

export interface Plan {
  /** Whether the displays should be on. */
  on: boolean;
  /** When `on` changes next; null: not within two weeks. */
  changesAt: number | null;
}

/**
 * A display is on while its screen is open, a box while any of its screens is.
 * @param leadMs how long before opening they are switched on, because displays take time to show a picture
 */
export const plan = (screens: readonly Hours[], now: number, timeZone: string, leadMs: number): Plan => {
  if (screens.length === 0 || screens.includes(null)) return { on: true, changesAt: null };
  const spans = screens
    .flatMap((hours) => openSpans(hours ?? [], now, timeZone, HORIZON_DAYS - 1))
    .map(({ start, end }) => ({ start: start - leadMs, end }))
    .filter(({ end }) => end > now)
    .toSorted((a, b) => a.start - b.start);
  const [first] = spans;
  if (first === undefined) return { on: false, changesAt: null };
  if (first.start > now) return { on: false, changesAt: first.start };
  let { end } = first;
  for (const span of spans) if (span.start <= end) end = Math.max(end, span.end);
  return { on: true, changesAt: end - now > (HORIZON_DAYS - 2) * 86_400_000 ? null : end };
};
