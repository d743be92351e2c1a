/** Matches displays with outputs of the compositor. Pure. */
import type { Display } from './displays.ts';

interface Position {
  x: number;
  y: number;
}

const byPosition = (a: Position, b: Position): number => a.x - b.x || a.y - b.y;

/**
 * The output of each display. The compositor and Chromium name displays differently, so they are matched by position. The
 * rest, for example at a scale that the two apply differently, is matched from left to right.
 */
export const matchOutputs = <Shown extends { bounds: Display['bounds'] }, Output extends { rect: Position }>(
  displays: readonly Shown[],
  outputs: readonly Output[],
): Map<Shown, Output> => {
  const matched = new Map<Shown, Output>();
  for (const display of displays) {
    const output = outputs.find(({ rect }) => byPosition(rect, display.bounds) === 0);
    if (output !== undefined) matched.set(display, output);
  }
  const taken = new Set(matched.values());
  const free = outputs.filter((output) => !taken.has(output)).toSorted((a, b) => byPosition(a.rect, b.rect));
  const left = displays.filter((display) => !matched.has(display)).toSorted((a, b) => byPosition(a.bounds, b.bounds));
  for (const [index, display] of left.entries()) {
    const output = free[index];
    if (output !== undefined) matched.set(display, output);
  }
  return matched;
};
