import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createBatcher } from '../../service/platform/batcher.ts';

const setUp = (ask?: (keys: readonly string[]) => Promise<ReadonlyMap<string, number>>) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const starts: { at: number; keys: readonly string[] }[] = [];
  const read = createBatcher<number>({
    intervalMs: 250,
    ask: async (keys) => {
      starts.push({ at: performance.now(), keys });
      return ask === undefined ? new Map(keys.map((key) => [key, starts.length])) : ask(keys);
    },
  });
  return { starts, read };
};

test('concurrent readers share a round that requests each of their keys once', async () => {
  const { starts, read } = setUp();
  const answers = Promise.all(['a', 'b', 'a', 'c'].map(read));
  await vi.advanceTimersByTimeAsync(1);
  expect(await answers).toEqual([1, 1, 1, 1]);
  expect(starts.map(({ keys }) => keys)).toEqual([['a', 'b', 'c']]);
});

test('a reader that arrives during a round gets the answer of the next one', async () => {
  const { starts, read } = setUp(async (keys) => {
    const nth = starts.length;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return new Map(keys.map((key) => [key, nth]));
  });
  const first = read('a');
  await vi.advanceTimersByTimeAsync(50);
  const second = read('a');
  await vi.advanceTimersByTimeAsync(500);
  expect([await first, await second]).toEqual([1, 2]);
});

test('a round that hangs does not block the next one', async () => {
  let count = 0;
  const { read } = setUp((keys) =>
    ++count === 1 ? new Promise(() => {}) : Promise.resolve(new Map(keys.map((key) => [key, count]))),
  );
  void read('a');
  await vi.advanceTimersByTimeAsync(10);
  const second = read('a');
  await vi.advanceTimersByTimeAsync(300);
  expect(await second).toBe(2);
});

test('rounds start at least 250 ms apart, and no reader waits longer than that', async () => {
  const pauses = fc.array(fc.nat(400), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(pauses, async (list) => {
      const { starts, read } = setUp();
      const waits: number[] = [];
      for (const pause of list) {
        const askedAt = performance.now();
        void read('a').then(() => waits.push(performance.now() - askedAt));
        await vi.advanceTimersByTimeAsync(pause);
      }
      await vi.advanceTimersByTimeAsync(300);
      const gaps = starts.slice(1).map(({ at }, index) => at - (starts[index]?.at ?? 0));
      expect(Math.min(250, ...gaps)).toBeGreaterThanOrEqual(250);
      expect(waits).toHaveLength(list.length);
      expect(Math.max(...waits)).toBeLessThanOrEqual(251);
    }),
    { numRuns: 30 },
  );
});

test('many readers are answered over several turns of the event loop, so that other work runs in between', async () => {
  const read = createBatcher({ intervalMs: 250, ask: async (keys) => new Map(keys.map((key) => [key, 1])) });
  let answered = 0;
  let before = 0;
  let most = 0;
  let isOver = false;
  const watch = (): void => {
    most = Math.max(most, answered - before);
    before = answered;
    if (!isOver) setImmediate(watch);
  };
  watch();
  await Promise.all(Array.from({ length: 1_000 }, () => read('a').then(() => (answered += 1))));
  isOver = true;
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(32);
});

test('a round that fails rejects only its own readers', async () => {
  let count = 0;
  const { read } = setUp(async (keys) => {
    count += 1;
    if (count === 1) throw new Error('away');
    return new Map(keys.map((key) => [key, count]));
  });
  const failing = [read('a'), read('b')].map((answer) => expect(answer).rejects.toThrow('away'));
  await vi.advanceTimersByTimeAsync(10);
  await Promise.all(failing);
  const after = read('a');
  await vi.advanceTimersByTimeAsync(300);
  expect(await after).toBe(2);
});
