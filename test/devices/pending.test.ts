/** Which devices are still to be moved to the screen that they were bound to. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openPending } from '../../service/devices/pending.ts';
import { temporaryFolder } from '../support/service.ts';

const NOON = Date.UTC(2026, 5, 1, 12);
const MINUTE = 60_000;

test.each([
  ['was not seen since', NOON, -MINUTE, false, true],
  ['was seen by another box long after', NOON, 5 * MINUTE, false, false],
  ['was seen by a clock that was ahead', NOON, 5 * MINUTE, true, true],
  ['was bound by a clock that was behind', 0, 0, true, true],
])('a device that %s', async (_, boundAt, seenAfter, isSeenBefore, isMoved) => {
  let seen: string | undefined;
  const see = (): void => {
    seen = new Date(NOON + seenAfter).toISOString();
  };
  const context = { dirs: { data: temporaryFolder() }, log: pino({ level: 'silent' }), now: () => boundAt };
  const pending = await openPending({ ...context, keep: (resource: unknown) => resource } as never, () => seen);
  if (isSeenBefore) see();
  await pending.add('d1', false);
  see();
  expect(pending.take('d1', false)).toBe(isMoved);
  expect(pending.take('d1', true)).toBe(false);
});

test('one that has to prove itself is moved when it does, whoever was taken for it before', async () => {
  const context = { dirs: { data: temporaryFolder() }, log: pino({ level: 'silent' }), now: () => NOON };
  let seen: string | undefined;
  const pending = await openPending({ ...context, keep: (resource: unknown) => resource } as never, () => seen);
  await pending.add('d1', true);
  seen = new Date(NOON + 5 * MINUTE).toISOString();
  expect([pending.take('d1', false), pending.take('d1', true)]).toEqual([false, true]);
});
