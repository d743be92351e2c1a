import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createDeadline } from '../../service/peers/call.ts';

test('a deadline does not count the time in which the box itself was busy', async () => {
  const { signal } = createDeadline(200);
  const until = performance.now() + 400;
  while (performance.now() < until);
  await new Promise(setImmediate);
  expect(signal.aborted).toBe(false);
  await vi.waitUntil(() => signal.aborted, 2_000);
});

test('a deadline that is cleared never ends', async () => {
  const { signal, clear } = createDeadline(50);
  clear();
  await pause(150);
  expect(signal.aborted).toBe(false);
});
