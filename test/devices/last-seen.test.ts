/** When devices were last connected. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { mostBindings } from '../../service/contract/peers.ts';
import { openLastSeen } from '../../service/devices/last-seen.ts';
import { temporaryFolder } from '../support/service.ts';

test('ids that are bound to nothing displace no device that is bound, however many there are', async () => {
  const context = { dirs: { data: temporaryFolder() }, log: pino({ level: 'silent' }), ids: { nodeId: 'box' } };
  const clocks = { now: Date.now, monotonicNow: () => 0, tempo: { devices: {} } };
  const seen = await openLastSeen({ ...context, ...clocks, keep: (resource: unknown) => resource } as never, {
    connectedHere: () => [],
    connectedThere: () => [],
    isBound: (deviceId) => deviceId.startsWith('bound'),
  });
  seen.joined('bound-door');
  for (let count = 0; count < mostBindings + 10; count += 1) seen.joined(`stranger-${count}`);
  expect([seen.list().length, seen.of('stranger-10')]).toEqual([mostBindings, undefined]);
  expect(seen.of('bound-door')).toBeDefined();
  for (let count = 1; count < mostBindings; count += 1) seen.joined(`bound-${count}`);
  seen.joined('stranger');
  expect([seen.list().length, seen.of('stranger')]).toEqual([mostBindings, undefined]);
  expect(seen.of('bound-door')).toBeDefined();
});
