/** Files of deleted media are removed, however many they are, and again where the system refuses. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRemoval } from '../../service/media/deletions.ts';
import { defaultTempo } from '../../service/tempo.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const deletionOf = (name: string) => ({ name, deletedAt: '2026-06-01T07:00:00.000Z', sha256: null });

const setUp = (...names: string[]) => {
  const due = new Map(names.map((name) => [name, deletionOf(name)]));
  const busy = new Set<string>();
  const done = vi.fn(async (removed: readonly { name: string }[]) => {
    for (const { name } of removed) due.delete(name);
  });
  const remove = vi.fn(async (name: string) => {
    if (busy.has(name)) throw new Error('EBUSY');
  });
  const deletions = { due: () => [...due.values()], done };
  const context = { log: pino({ level: 'silent' }), tempo: defaultTempo };
  return { due, busy, done, remove, removal: createRemoval(context, deletions, remove) };
};

test('what was removed is recorded in one write', async () => {
  const { removal, due, done } = setUp(...Array.from({ length: 3_000 }, (_, n) => `${n}.jpg`));
  await Promise.all([removal.run(), removal.run()]);
  expect(due.size).toBe(0);
  expect(done).toHaveBeenCalledTimes(1);
});

test('a file that is in use is tried again within a minute, and holds up no other', async () => {
  const { removal, due, busy, remove } = setUp('busy.jpg', 'free.jpg');
  busy.add('busy.jpg');
  await removal.run();
  expect([...due.keys()]).toEqual(['busy.jpg']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(remove.mock.calls.length).toBeLessThan(6);
  busy.clear();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(due.size).toBe(0);
});

test('once it is closed nothing is tried any more', async () => {
  const { removal, busy, remove } = setUp('busy.jpg');
  busy.add('busy.jpg');
  await removal.run();
  await removal.close();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(remove).toHaveBeenCalledTimes(1);
});
