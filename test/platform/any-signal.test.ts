/** Work that one of several signals ends. */
import { getEventListeners, setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { withAny } from '../../service/platform/any-signal.ts';
import { createPause } from '../../service/platform/pause.ts';

/** What Node.js keeps in a signal of those that follow it: listeners, and an entry for each AbortSignal.any. */
const tracesIn = (signal: AbortSignal): number => {
  // Their set is none of the realm's.
  const kept = Object.getOwnPropertySymbols(signal).map(
    (key) => Reflect.get(signal, key) as { size?: number } | undefined,
  );
  return kept.reduce((sum, each) => sum + (each?.size ?? 0), getEventListeners(signal, 'abort').length);
};

test('ten thousand pauses leave nothing in the signal that ends them', async () => {
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  for (let round = 0; round < 100; round += 1)
    await Promise.all(Array.from({ length: 100 }, () => createPause().wait(0, signal)));
  expect(tracesIn(signal)).toBe(0);
});

test('a pause ends when its signal is aborted, at once where it is already', async () => {
  const ended = new AbortController();
  const waiting = createPause().wait(60_000, ended.signal);
  ended.abort();
  await waiting;
  await createPause().wait(60_000, ended.signal);
});

test.each([0, 1])(
  'the work has the reason of the signal that ended it, and fails with its own error',
  async (which) => {
    const sources = [new AbortController(), new AbortController()];
    const signals = sources.map(({ signal }) => signal);
    const work = withAny(signals, async (signal) => {
      await delay(60_000, undefined, { signal }).catch(() => undefined);
      throw signal.reason;
    });
    sources[which]?.abort(new Error(`reason ${which}`));
    await expect(work).rejects.toThrow(`reason ${which}`);
    expect(signals.map(tracesIn)).toEqual([0, 0]);
    expect(await withAny(signals, async ({ aborted }) => aborted)).toBe(true);
  },
);
