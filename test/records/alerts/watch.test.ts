/** What a box sees of devices, and what its alerts make of it. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { DeviceStatus } from '../../../service/devices/presence.ts';
import type { ServiceContext } from '../../../service/module.ts';
import { noOutages, reduce, typeOf } from '../../../service/records/alerts/outages.ts';
import { createWatch } from '../../../service/records/alerts/watch.ts';

const GRACE_MS = 300_000;
const WEEK = 7 * 86_400_000;
const start = Date.parse('2026-01-31T08:00:00.000Z');

test('a device that was unbound while it was missing is watched from the start once it is bound again', () => {
  const device = { deviceId: 'wall 1', clientName: 'Wall', screenSlug: 'lobby', updatedAt: '2026-01-01T00:00:00.000Z' };
  let statuses: DeviceStatus[] = [];
  const watch = createWatch(
    {
      ...{ options: { timeZone: 'UTC' }, now: () => start, ids: { nodeId: 'a' }, dirs: {}, machineName: 'a' },
      log: pino({ level: 'silent' }),
    } as unknown as ServiceContext,
    {
      content: {
        screens: () => [],
        hours: () => null,
        sessionPages: () => [],
        status: () => ({ status: 'ok' }) as never,
      },
      streams: { list: () => [] },
      peers: { all: () => [], alive: () => [] },
      devices: { statuses: () => statuses, sightings: () => [] },
    },
  );
  let outages = noOutages;
  const alertsAt = (at: number, ...observed: DeviceStatus['status'][]): string[] => {
    statuses = observed.map((status) => ({ device, status }));
    const [next, due] = reduce(outages, watch.conditions(outages), { now: start + at, monotonicNow: at }, GRACE_MS);
    outages = next;
    return due.map((alert) => `${typeOf(alert)} ${Date.parse(alert.at) - start}`);
  };

  expect(alertsAt(0, 'missing')).toEqual([]);
  // Not known to be better or worse.
  expect(alertsAt(1_000, 'unknown')).toEqual([]);
  expect(outages.watched.size).toBe(1);
  expect(alertsAt(2_000)).toEqual([]);
  expect(alertsAt(WEEK, 'missing')).toEqual([]);
  expect(alertsAt(WEEK + GRACE_MS, 'missing')).toEqual([`device.away ${WEEK}`]);
});
