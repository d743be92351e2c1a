/** Media that follow the document that names them. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createAwaitedMedia } from '../../service/peers/media-transfers.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Media `a` and `b` are to come; tells which requests have gone on. */
const start = () => {
  const media = createAwaitedMedia((name) => ['a', 'b'].includes(name));
  const gone: string[] = [];
  const ask = (name: string) => void media.arrival(name).then(() => gone.push(name));
  return { media, gone, ask };
};

test('who asks for a medium right after a change of the content waits until it has arrived, and no longer than 1.5 s', async () => {
  const { media, gone, ask } = start();
  media.expect();
  for (const name of ['a', 'a', 'b', 'of no other box']) ask(name);
  await vi.advanceTimersByTimeAsync(500);
  expect(gone).toEqual(['of no other box']);
  media.arrived('a');
  await vi.advanceTimersByTimeAsync(0);
  expect(gone).toEqual(['of no other box', 'a', 'a']);
  await vi.advanceTimersByTimeAsync(999);
  expect(gone).not.toContain('b');
  await vi.advanceTimersByTimeAsync(1);
  expect(gone).toContain('b');
  expect(vi.getTimerCount()).toBe(0);
});

test('a medium that is missing for longer is not waited for', async () => {
  const { media, gone, ask } = start();
  ask('a');
  await vi.advanceTimersByTimeAsync(0);
  media.expect();
  await vi.advanceTimersByTimeAsync(1_500);
  ask('b');
  await vi.advanceTimersByTimeAsync(0);
  expect(gone).toEqual(['a', 'b']);
});
