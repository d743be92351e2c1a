/** Changes reach all boxes with one request each, whichever boxes do not answer. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRecipients, sharesOf, spreadTo } from '../../service/peers/news.ts';

const boxes = (count: number): string[] => Array.from({ length: count }, (_, index) => `box-${index}`);

/** Spreads a change among boxes of which some do not answer. */
const spreadAmong = async (targets: readonly string[], isDead: (target: string) => boolean) => {
  const sent: string[] = [];
  const taken: string[] = [];
  const missed: string[] = [];
  let hops = 0;
  const pass = async (share: readonly string[], hop: number): Promise<void> => {
    const under: Promise<void>[] = [];
    const lost = await spreadTo(share, async (target, rest) => {
      sent.push(target);
      hops = Math.max(hops, hop);
      if (isDead(target)) return false;
      taken.push(target);
      under.push(pass(rest, hop + 1));
      return true;
    });
    missed.push(...lost);
    await Promise.all(under);
  };
  await pass(targets, 1);
  return { sent, taken, missed, hops };
};

test.each([
  [1, 1],
  [9, 2],
  [29, 3],
  [99, 4],
  [299, 5],
])('%s boxes get one request each, in at most %s hops', async (count, most) => {
  const { sent, taken, missed, hops } = await spreadAmong(boxes(count), () => false);
  expect(sent.toSorted()).toEqual(boxes(count).toSorted());
  expect(taken).toHaveLength(count);
  expect(missed).toEqual([]);
  expect(hops).toBeLessThanOrEqual(most);
});

test('every box that answers gets the change, however many others do not', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 60 }), async (alive) => {
      const targets = boxes(alive.length);
      const isDead = (target: string): boolean => !alive[targets.indexOf(target)];
      const { sent, taken, missed } = await spreadAmong(targets, isDead);
      expect(sent).toHaveLength(targets.length);
      expect(taken.toSorted()).toEqual(targets.filter((target) => !isDead(target)).toSorted());
      expect(missed.toSorted()).toEqual(targets.filter(isDead).toSorted());
    }),
  );
});

test('shares are of one size, and name each target once', () => {
  fc.assert(
    fc.property(fc.nat(300), fc.integer({ min: 1, max: 8 }), (count, fanOut) => {
      const sizes = sharesOf(boxes(count), fanOut).map((share) => share.length);
      expect(Math.max(0, ...sizes) - Math.min(...sizes, Number.POSITIVE_INFINITY)).toBeLessThanOrEqual(1);
      expect(sharesOf(boxes(count), fanOut).flat().toSorted()).toEqual(boxes(count).toSorted());
    }),
  );
});

test('a box is sent a change once, however often others ask for it', () => {
  const recipients = createRecipients();
  expect(recipients.take('edit 1', ['a', 'b', 'a'])).toEqual(['a', 'b']);
  expect(recipients.take('edit 1', ['b', 'c'])).toEqual(['c']);
  expect(recipients.take('edit 2', ['b'])).toEqual(['b']);
});
