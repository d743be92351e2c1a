import fc from 'fast-check';
import { expect, it } from 'vitest';
import { columnsOf, rowsOf } from '../../../renderer/player/slides/timetable.ts';

const page = [fc.double({ min: 20, max: 400, noNaN: true }), fc.integer({ min: 0, max: 100 }), fc.boolean()] as const;

it('rows fill their page, but for what is left on the last of several', () => {
  fc.assert(
    fc.property(...page, (available, entries, isPortrait) => {
      const { perPage, height } = rowsOf(available, entries, isPortrait);
      expect(height * Math.min(perPage, Math.max(entries, 1))).toBeCloseTo(available);
    }),
  );
});

it('letters can be read from afar, and fit into their row', () => {
  fc.assert(
    fc.property(...page, (available, entries, isPortrait) => {
      const { height, type, isStacked } = rowsOf(available, entries, isPortrait);
      expect(type.smallest).toBeGreaterThanOrEqual(4.5);
      expect(type.usual).toBeGreaterThanOrEqual(type.smallest);
      expect(type.largest).toBeGreaterThanOrEqual(type.usual);
      // One line of letters and one of details; the time above them where it stands there.
      expect(type.largest * (isStacked ? 3.1 : 1.9)).toBeLessThanOrEqual(height);
    }),
  );
});

it.each([
  [73, 1, false, 1],
  [73, 40, false, 6],
  [150, 40, true, 13],
])('of %d with %d entries (portrait: %s) there are %d to a page', (available, entries, isPortrait, count) => {
  expect(Math.min(entries, rowsOf(available, entries, isPortrait).perPage)).toBe(count);
});

it.each([
  [16 / 9, 40, 1],
  [3.2, 40, 1],
  [4, 40, 2],
  [6.4, 40, 3],
  [6.4, 2, 2],
  [20, 40, 3],
  [0.5, 40, 1],
  [6.4, 0, 1],
])('at an aspect of %d rows of %d entries stand in %d columns', (aspect, entries, columns) => {
  expect(columnsOf(aspect, entries)).toBe(columns);
});
