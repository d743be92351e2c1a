import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type DeviceBinding, mostBindings } from '../contract/peers.ts';
import { deviceKey } from '../contract/readable.ts';
import { compareBindings, newsAmong } from '../domain/merge.ts';
import { remember } from '../domain/recent.ts';
import type { Durable } from '../platform/store/durable.ts';

// Looser than the wire's schemas on purpose: a rule that is tightened later must not make a kept file unreadable.
// What a newer version added is kept as it is.
const device = z.looseObject({
  deviceId: z.string(),
  clientName: z.string(),
  screenSlug: z.string().nullable(),
  updatedAt: z.string(),
});

type Device = Readonly<DeviceBinding>;

/** By {@link deviceKey}. */
type DeviceMap = ReadonlyMap<string, Device>;

/** A list in the file and a map in memory: in neither is an id like `__proto__` anything but data. */
export const deviceMap: z.ZodType<DeviceMap> = z.codec(z.array(device), z.map(z.string(), device), {
  decode: (list) => new Map(list.map((each) => [deviceKey(each.deviceId), each])),
  encode: (map) => [...map.values()],
});

/** Those of a newer version's devices that this one understands. */
export const readableDevices = (devices: unknown): unknown[] =>
  Array.isArray(devices) ? devices.filter((each) => device.safeParse(each).success) : [];

/**
 * The devices that the box knows, {@link mostBindings} at the most. A write resolves when it is durable, and rejects as
 * {@link Durable.update} does.
 */
export interface Devices {
  get(deviceId: string): Device | undefined;
  list(): Device[];
  /** Binds a device to a screen, in place of its binding before. */
  bind(deviceId: string, clientName: string, screenSlug: string): Promise<void>;
  /** Names a device, bound or not; a binding stays as it is. */
  rename(deviceId: string, clientName: string): Promise<void>;
  /** A page of the device was here: it is a real one. */
  saw(deviceId: string): void;
  /** Takes those of another box that are newer than what is known here; resolves with those that say something else. */
  merge(theirs: readonly Device[]): Promise<Device[]>;
  /** SHA-256 (hex) of all that is known: boxes of which it is the same know the same. */
  digest(): string;
  /** Calls back when something is known that was not, from here or from another box. */
  onChange(listener: () => void): void;
}

/** A map that was made is never changed, so each is gone through once. */
const digests = new WeakMap<DeviceMap, string>();
const digestOf = (devices: DeviceMap): string => {
  const before = digests.get(devices);
  if (before !== undefined) return before;
  const rows = [...devices]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { clientName, screenSlug, updatedAt }]) => [key, clientName, screenSlug, updatedAt]);
  const digest = createHash('sha256').update(JSON.stringify(rows)).digest('hex');
  digests.set(devices, digest);
  return digest;
};

/**
 * As many devices as there may be. Those go first that were never seen, and among them those that were never bound: a
 * stranger who fills the box with devices that are none must neither keep a new one out nor push one out that is there.
 * Of equals the oldest goes.
 */
export const trim = (devices: DeviceMap, most: number, isSeen: (device: Device) => boolean): DeviceMap => {
  if (devices.size <= most) return devices;
  const rank = (device: Device): number => (isSeen(device) ? 2 : 0) + (device.screenSlug === null ? 0 : 1);
  const ranked = [...devices.values()].toSorted((a, b) => rank(a) - rank(b) || compareBindings(a, b));
  const gone = new Set(ranked.slice(0, -most));
  return new Map([...devices].filter(([, device]) => !gone.has(device)));
};

/** @param now ms since the epoch */
export function createDevices<S extends { readonly devices: DeviceMap }>(
  durable: Durable<S>,
  now: () => number,
): Devices {
  const listeners: (() => void)[] = [];
  const update = async (change: (state: S) => S): Promise<void> => {
    await durable.update(change);
    for (const listener of listeners) listener();
  };

  const seen = new Map<string, true>();
  const within = (devices: DeviceMap, kept?: string): DeviceMap =>
    trim(devices, mostBindings, ({ deviceId }) => deviceId === kept || seen.has(deviceKey(deviceId)));

  const put = (deviceId: string, change: (before: Device | undefined) => Pick<Device, 'clientName' | 'screenSlug'>) =>
    update((state) => {
      const key = deviceKey(deviceId);
      const before = state.devices.get(key);
      const earliest = before === undefined ? 0 : Date.parse(before.updatedAt) + 1;
      const updatedAt = new Date(Math.max(now(), earliest)).toISOString();
      const devices = new Map(state.devices).set(key, { ...before, deviceId, ...change(before), updatedAt });
      return { ...state, devices: within(devices, deviceId) };
    });

  /** What is known with theirs, and those among theirs that are taken. */
  const join = (devices: DeviceMap, theirs: readonly Device[]) => {
    const news = newsAmong(theirs, (deviceId) => devices.get(deviceKey(deviceId)), now());
    const merged = news.map((each) => ({ ...devices.get(deviceKey(each.deviceId)), ...each }));
    const joined = within(new Map([...devices, ...merged.map((each) => [deviceKey(each.deviceId), each] as const)]));
    return { joined, taken: merged.filter((each) => joined.get(deviceKey(each.deviceId)) === each) };
  };

  return {
    get: (deviceId) => durable.read().devices.get(deviceKey(deviceId)),
    list: () =>
      [...durable.read().devices.values()].map(({ deviceId, clientName, screenSlug, updatedAt }) => ({
        deviceId,
        clientName,
        screenSlug,
        updatedAt,
      })),
    bind: (deviceId, clientName, screenSlug) => put(deviceId, () => ({ clientName, screenSlug })),
    rename: (deviceId, clientName) =>
      put(deviceId, (before) => ({ clientName, screenSlug: before?.screenSlug ?? null })),
    saw: (deviceId) => remember(seen, deviceKey(deviceId), true, mostBindings),
    merge: async (theirs) => {
      if (join(durable.read().devices, theirs).taken.length === 0) return [];
      let changed: Device[] = [];
      await update((state) => {
        const { joined, taken } = join(state.devices, theirs);
        changed = taken.filter(({ deviceId, clientName, screenSlug }) => {
          const before = state.devices.get(deviceKey(deviceId));
          return before?.clientName !== clientName || before.screenSlug !== screenSlug;
        });
        return { ...state, devices: joined };
      });
      return changed;
    },
    digest: () => digestOf(durable.read().devices),
    onChange: (listener) => {
      listeners.push(listener);
    },
  };
}
