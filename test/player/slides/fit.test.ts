import fc from 'fast-check';
import { expect, it } from 'vitest';
import { largestFit } from '../../../renderer/player/slides/fit.ts';

it('finds the largest value that fits, to within half a percent and never above it', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (limit) => {
      const found = largestFit((t) => t <= limit);
      expect(found).toBeLessThanOrEqual(limit);
      expect(limit - found).toBeLessThan(0.005);
    }),
  );
});

it('is 1 where all fits, and 0 where nothing does', () => {
  expect(largestFit(() => true)).toBe(1);
  expect(largestFit(() => false)).toBe(0);
});
