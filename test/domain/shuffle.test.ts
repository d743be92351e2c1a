import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shuffled } from '../../service/domain/collections.ts';

it('a shuffled list holds the same values', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer()),
      fc.array(fc.double({ min: 0, max: 0.999 }), { minLength: 1 }),
      (values, chances) => {
        let at = 0;
        const result = shuffled(values, () => chances[at++ % chances.length] ?? 0);
        expect(result.toSorted()).toEqual(values.toSorted());
      },
    ),
  );
});

it('each order of three values comes about equally often', () => {
  // A generator with a fixed seed, so that the test cannot fail by chance.
  let state = 1;
  const random = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const counts = new Map<string, number>();
  for (let round = 0; round < 6_000; round += 1) {
    const order = shuffled(['a', 'b', 'c'], random).join('');
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  expect(counts.size).toBe(6);
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(120);
});
