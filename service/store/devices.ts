import { z } from 'zod';
import { newsAmong } from '../peers/merge.ts';
import type { DeviceBinding } from '../wire.ts';
import type { Durable } from './durable.ts';

// Looser than the wire's schemas on purpose: a rule that is tightened later must not make a kept file unreadable.
const device = z.object({
  deviceId: z.string(),
  clientName: z.string(),
  screenSlug: z.string().nullable(),
  updatedAt: z.string(),
});

type Device = Readonly<DeviceBinding>;

type DeviceMap = ReadonlyMap<string, Device>;

/** A list in the file and a map in memory: in neither is an id like `__proto__` anything but data. */
export const deviceMap: z.ZodType<DeviceMap> = z.codec(z.array(device), z.map(z.string(), device), {
  decode: (list) => new Map(list.map((each) => [each.deviceId, each])),
  encode: (map) => [...map.values()],
});

/** The devices that the box knows. A write resolves when it is durable, and rejects as {@link Durable.update} does. */
export interface Devices {
  get(deviceId: string): Device | undefined;
  list(): Device[];
  /** Binds a device to a screen, in place of its binding before. */
  bind(deviceId: string, clientName: string, screenSlug: string): Promise<void>;
  /** Names a device, bound or not; a binding stays as it is. */
  rename(deviceId: string, clientName: string): Promise<void>;
  /** Takes those of another box that are newer than what is known here; resolves with them. */
  merge(theirs: readonly Device[]): Promise<Device[]>;
}

/** A site has some hundreds; what goes beyond this is not taken from other boxes. */
const MOST_DEVICES = 10_000;

/** @param now ms since the epoch */
export function createDevices<S extends { readonly devices: DeviceMap }>(
  durable: Durable<S>,
  now: () => number,
): Devices {
  const put = (deviceId: string, change: (before: Device | undefined) => Pick<Device, 'clientName' | 'screenSlug'>) =>
    durable.update((state) => {
      const before = state.devices.get(deviceId);
      const earliest = before === undefined ? 0 : Date.parse(before.updatedAt) + 1;
      const updatedAt = new Date(Math.max(now(), earliest)).toISOString();
      return { ...state, devices: new Map(state.devices).set(deviceId, { deviceId, ...change(before), updatedAt }) };
    });

  return {
    get: (deviceId) => durable.read().devices.get(deviceId),
    list: () => [...durable.read().devices.values()],
    bind: (deviceId, clientName, screenSlug) => put(deviceId, () => ({ clientName, screenSlug })),
    rename: (deviceId, clientName) =>
      put(deviceId, (before) => ({ clientName, screenSlug: before?.screenSlug ?? null })),
    merge: async (theirs) => {
      const newsTo = (devices: DeviceMap) => newsAmong(theirs, (deviceId) => devices.get(deviceId), now());
      let news = newsTo(durable.read().devices);
      if (news.length === 0) return news;
      await durable.update((state) => {
        news = newsTo(state.devices);
        const devices = new Map(state.devices);
        for (const each of news) {
          if (devices.has(each.deviceId) || devices.size < MOST_DEVICES) devices.set(each.deviceId, each);
        }
        return { ...state, devices };
      });
      return news;
    },
  };
}
