/** When devices were last connected. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { mostBindings } from '../../service/contract/peers.ts';
import { openLastSeen } from '../../service/devices/last-seen.ts';
import { temporaryFolder } from '../support/service.ts';

const openWith = (now: () => number, isBound: (deviceId: string) => boolean) => {
  const context = { dirs: { data: temporaryFolder() }, log: pino({ level: 'silent' }), ids: { nodeId: 'box' } };
  const clocks = { now, monotonicNow: () => 0, tempo: { devices: {} } };
  return openLastSeen({ ...context, ...clocks, keep: (resource: unknown) => resource } as never, {
    connectedHere: () => [],
    connectedThere: () => [],
    isBound,
  });
};

test('ids that are bound to nothing displace no device that is bound, however many there are', async () => {
  const seen = await openWith(Date.now, (deviceId) => deviceId.startsWith('bound'));
  seen.joined('bound-door');
  for (let count = 0; count < mostBindings + 10; count += 1) seen.joined(`stranger-${count}`);
  expect([seen.list().length, seen.of('stranger-10')]).toEqual([mostBindings, undefined]);
  expect(seen.of('bound-door')).toBeDefined();
  for (let count = 1; count < mostBindings; count += 1) seen.joined(`bound-${count}`);
  seen.joined('stranger');
  expect([seen.list().length, seen.of('stranger')]).toEqual([mostBindings, undefined]);
  expect(seen.of('bound-door')).toBeDefined();
});

test.each([
  ['replaces one by a clock that was years ahead', '2036-01-01', '2026-07-01', '2026-07-01'],
  ['replaces an earlier one', '2026-07-01', '2026-07-02', '2026-07-02'],
  [
    'of a minute before, as after a clock was set, replaces nothing',
    '2026-07-01T00:01Z',
    '2026-07-01',
    '2026-07-01T00:01Z',
  ],
  ['by a clock that was never set replaces nothing', '2026-07-01', '1970-01-01', '2026-07-01'],
])('a sighting %s', async (_, first, second, expected) => {
  let now = Date.parse(first);
  const seen = await openWith(
    () => now,
    () => true,
  );
  seen.joined('door');
  now = Date.parse(second);
  seen.joined('door');
  expect(Date.parse(seen.of('door') ?? '')).toBe(Date.parse(expected));
});
