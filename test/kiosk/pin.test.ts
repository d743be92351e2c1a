import { expect, it } from 'vitest';
import { createLock, hashPin, matchesPin, waitAfter } from '../../main/pin.ts';

it('a PIN is kept so that it can not be read, and differently each time', async () => {
  const [one, two] = [await hashPin('2468'), await hashPin('2468')];
  expect(JSON.stringify(one)).not.toContain('2468');
  expect(one.hash).not.toBe(two.hash);
  expect(await matchesPin('2468', one)).toBe(true);
  expect(await matchesPin('2469', one)).toBe(false);
});

it('four wrong ones are free, each after that doubles the wait, up to a quarter of an hour', () => {
  expect([0, 4, 5, 6, 7, 11, 50].map((failures) => waitAfter(failures) / 1000)).toEqual([0, 0, 15, 30, 60, 900, 900]);
});

it('while it is shut, the right one opens nothing; after that it does, and the count restarts', async () => {
  let now = 0;
  const lock = createLock(() => now);
  const stored = await hashPin('2468');
  for (const _ of [1, 2, 3, 4]) expect(await lock.try('0000', stored)).toEqual({ open: false, waitMs: 0 });
  expect(await lock.try('0000', stored)).toEqual({ open: false, waitMs: 15_000 });
  now = 14_000;
  expect(await lock.try('2468', stored)).toEqual({ open: false, waitMs: 1_000 });
  now = 15_000;
  expect(await lock.try('2468', stored)).toEqual({ open: true });
  expect(await lock.try('0000', stored)).toEqual({ open: false, waitMs: 0 });
});

it('a hundred at a time are no way round the wait', async () => {
  const lock = createLock(() => 0);
  const stored = await hashPin('2468');
  const attempts = await Promise.all(Array.from({ length: 20 }, (_, pin) => lock.try(`00${pin + 10}`, stored)));
  expect(attempts.filter((attempt) => !attempt.open && attempt.waitMs === 0)).toHaveLength(4);
});
