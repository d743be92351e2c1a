/** The state of a box, in one durable file: its id, and the devices that it knows. */
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { CodedError } from '../contract/errors.ts';
import { type BindingNews, type DeviceBinding, deviceBinding, mostBindings } from '../contract/peers.ts';
import { canonicalDeviceId } from '../contract/readable.ts';
import { canonical } from '../domain/canonical.ts';
import { perObject } from '../domain/collections.ts';
import { createEmitter } from '../domain/emitter.ts';
import { bindingReplaces, compareBindings, isPlausibleTime, laterThan, newsAmong } from '../domain/merge.ts';
import { type Clock, createFollowing, systemClock } from '../domain/time.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { createDurable, type Durable } from '../platform/store/durable.ts';
import { makeFolder } from '../platform/store/file.ts';
import type { Reserve } from '../platform/store/reserve.ts';

// Looser than the schemas of the API on purpose: a rule that is tightened later must not make a stored file unreadable.
// Fields that a newer version added are kept.
const head = z.looseObject({ deviceId: z.string(), updatedAt: z.string() });

type Device = Readonly<DeviceBinding>;

/** Whether this version can read a record; others are stored and passed on alone. */
const isReadable = perObject((record: Device): boolean => deviceBinding.safeParse(record).success);

/** By {@link canonicalDeviceId}. */
type DeviceMap = ReadonlyMap<string, Device>;

/** A list in the file and a map in memory, so that an id like `__proto__` is only data. */
const deviceMap: z.ZodType<DeviceMap> = z.codec(z.array(head), z.map(z.string(), head), {
  decode: (list) => new Map(list.map((each) => [canonicalDeviceId(each.deviceId), each])),
  encode: (map) => [...map.values()],
}) as unknown as z.ZodType<DeviceMap>;

/**
 * The devices that the box knows, at most {@link mostBindings}. A write resolves when it is durable, and rejects as
 * {@link Durable.update} does.
 */
export type StoredDevices = ReturnType<typeof createStoredDevices>;

const MAX_NAME = 64;

const textOf = perObject((record: Device): string => canonical(record));

const digestOf = perObject((devices: DeviceMap): string => {
  const rows = [...devices].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([id, record]) => [id, textOf(record)]);
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex');
});

/**
 * Removes devices above the limit `most`: first those that are forgotten, then those that were never seen, of these first
 * the ones that are not bound, of equals the oldest. A client that fills the box with invented devices must neither keep a
 * new device out nor displace a real one.
 */
export const trim = (devices: DeviceMap, most: number, isSeen: (device: Device) => boolean): DeviceMap => {
  if (devices.size <= most) return devices;
  const rank = (device: Device): number =>
    device.forgotten ? -1 : (isSeen(device) ? 2 : 0) + (device.screenSlug === null ? 0 : 1);
  const ranked = [...devices.values()].toSorted((a, b) => rank(a) - rank(b) || compareBindings(a, b));
  const gone = new Set(ranked.slice(0, -most));
  return new Map([...devices].filter(([, device]) => !gone.has(device)));
};

export const createStoredDevices = <S extends { readonly devices: DeviceMap }>(
  durable: Durable<S>,
  now: Clock['now'],
) => {
  const changes = createEmitter();
  const following = createFollowing(now);
  const update = async (change: (state: S) => S): Promise<void> => {
    await durable.update(change);
    changes.emit();
  };

  let lastSeen: (deviceId: string) => string | undefined = () => undefined;
  const within = (devices: DeviceMap, kept?: string): DeviceMap =>
    trim(devices, mostBindings, ({ deviceId }) => deviceId === kept || lastSeen(deviceId) !== undefined);

  const dated = (before: string | undefined): string => laterThan(before, following.now());

  const put = async (
    deviceId: string,
    change: (before: Device | undefined) => Pick<Device, 'clientName' | 'screenSlug' | 'forgotten' | 'key'>,
    at?: string,
  ): Promise<Device> => {
    const key = canonicalDeviceId(deviceId);
    const replace = (before: Device | undefined): Device => {
      const updatedAt = at ?? dated(before?.updatedAt);
      const { forgotten: _, key: __, ...kept } = before ?? {};
      const readable = before !== undefined && isReadable(before) ? before : undefined;
      const changed = { deviceId, ...change(readable), updatedAt };
      const whole = { ...kept, ...changed };
      return isReadable(whole) ? whole : changed;
    };
    const isNews = (record: Device, before: Device | undefined): boolean =>
      at === undefined || bindingReplaces(record, before, now());
    if (at !== undefined && !isPlausibleTime(at, now())) {
      throw new CodedError('invalid_field', 'updatedAt is not valid: it is years ahead.', { field: 'updatedAt' });
    }
    const known = durable.read().devices.get(key);
    if (known !== undefined && !isNews(replace(known), known)) return known;
    let stored: Device | undefined;
    await update((state) => {
      const before = state.devices.get(key);
      stored = replace(before);
      if (!isNews(stored, before)) {
        stored = before ?? stored;
        return state;
      }
      return { ...state, devices: within(new Map(state.devices).set(key, stored), deviceId) };
    });
    return stored as Device;
  };

  /** The merged devices, and the accepted ones among `theirs`. */
  const join = (devices: DeviceMap, theirs: readonly Device[]) => {
    const news = newsAmong(theirs, (deviceId) => devices.get(canonicalDeviceId(deviceId)), now());
    const joined = within(
      new Map([...devices, ...news.map((each) => [canonicalDeviceId(each.deviceId), each] as const)]),
    );
    return { joined, accepted: news.filter((each) => joined.get(canonicalDeviceId(each.deviceId)) === each) };
  };

  return {
    get: (deviceId: string): Device | undefined => {
      const found = durable.read().devices.get(canonicalDeviceId(deviceId));
      return found === undefined || found.forgotten || !isReadable(found) ? undefined : found;
    },
    /** All records that this version can read, those of forgotten devices included. */
    list: (): Device[] =>
      [...durable.read().devices.values()]
        .filter(isReadable)
        .map(({ deviceId, clientName, screenSlug, forgotten, key, updatedAt }) => ({
          deviceId,
          clientName,
          screenSlug,
          ...(forgotten && { forgotten }),
          ...(key !== undefined && { key }),
          updatedAt,
        })),
    /** All records, as they are exchanged with other boxes. */
    records: (): Device[] => [...durable.read().devices.values()],
    /** The canonical id and text of each of them. */
    rows: (): [id: string, text: string][] => [...durable.read().devices].map(([id, record]) => [id, textOf(record)]),
    /** How many of them this version cannot read. */
    unread: (): number => [...durable.read().devices.values()].filter((each) => !isReadable(each)).length,
    /**
     * Binds a device to a screen and replaces its previous binding; resolves with the record that is stored.
     * @param at when another box did so (ISO 8601): then a newer record is kept
     * @throws CodedError `invalid_field` if `at` is years ahead
     */
    bind: (deviceId: string, clientName: string, screenSlug: string, at?: string): Promise<Device> =>
      put(deviceId, () => ({ clientName, screenSlug }), at),
    /** Names a device, bound or not; keeps its binding. Otherwise as {@link bind}. */
    rename: (deviceId: string, clientName: string, at?: string): Promise<Device> =>
      put(
        deviceId,
        (before) => ({
          clientName,
          screenSlug: before?.screenSlug ?? null,
          ...(before?.key !== undefined && { key: before.key }),
        }),
        at,
      ),
    /**
     * Keeps the first key that a page of a bound device has proved; without effect if there is one.
     * @returns whether it was kept
     */
    keepKey: async (deviceId: string, key: string): Promise<boolean> => {
      const id = canonicalDeviceId(deviceId);
      let isKept = false;
      await update((state) => {
        const before = state.devices.get(id);
        if (before === undefined || !isReadable(before)) return state;
        if (before.screenSlug === null || before.key !== undefined) return state;
        isKept = true;
        return { ...state, devices: new Map(state.devices).set(id, { ...before, key }) };
      });
      return isKept;
    },
    /** Forgets the name and the binding of a device. A tombstone remains, so that other boxes do not restore them. */
    forget: (deviceId: string): Promise<Device> =>
      put(deviceId, (before) => ({
        clientName: before?.clientName ?? deviceId.slice(0, MAX_NAME),
        screenSlug: null,
        forgotten: true,
      })),
    /** A date later than `before`, by the time that schedules go by, so that what was done later wins at the whole site. */
    dated,
    followClock: following.follow,
    /** Keeps devices that `of` tells a date of, before others. */
    followSightings: (of: typeof lastSeen): void => {
      lastSeen = of;
    },
    /** Stores the newer bindings of another box; resolves with those that changed more than their time. */
    merge: async (theirs: readonly Device[]): Promise<BindingNews[]> => {
      if (join(durable.read().devices, theirs).accepted.length === 0) return [];
      let changed: BindingNews[] = [];
      await update((state) => {
        const { joined, accepted } = join(state.devices, theirs);
        changed = accepted
          .filter(isReadable)
          .map((binding) => ({ binding, before: state.devices.get(canonicalDeviceId(binding.deviceId)) }))
          .filter(
            ({ binding: { clientName, screenSlug, forgotten }, before }) =>
              before?.clientName !== clientName || before.screenSlug !== screenSlug || before.forgotten !== forgotten,
          );
        return { ...state, devices: joined };
      });
      return changed;
    },
    /** SHA-256 (hex) of all bindings; equal on boxes with equal bindings. */
    digest: (): string => digestOf(durable.read().devices),
    /** Calls `listener` when a binding changes, here or by a merge. */
    onChange: changes.on,
  };
};

/** The state of a box, in one durable file. */
export type Store = Awaited<ReturnType<typeof createStore>>;

interface Options {
  /** Created if it does not exist. */
  dataDir: string;
  log: Pick<Logger, 'warn' | 'error'>;
  reserve: Pick<Reserve, 'release'>;
  now?: Clock['now'];
}

// Fields that a newer version added are kept.
const schema = z.looseObject({
  nodeId: z.uuid(),
  timeZone: z.string().optional().catch(undefined),
  devices: deviceMap,
});

/** Reads what it can of a newer version's state: at least the node id, so that the box keeps its identity. */
const salvage = (body: unknown): z.output<typeof schema> | null => {
  const { nodeId, devices, ...rest } = (body ?? {}) as Record<string, unknown>;
  const id = z.uuid().safeParse(nodeId).data ?? randomUUID();
  const readable = Array.isArray(devices) ? devices.filter((each) => head.safeParse(each).success) : [];
  return schema.safeParse({ ...rest, nodeId: id, devices: readable }).data ?? null;
};

/**
 * Opens the store in `dataDir`: `state.json`, with `.prev` and `.corrupt-*`.
 *
 * @throws the system's error if the folder can't be created or read
 */
export async function createStore({ dataDir, log, reserve, now = systemClock.now }: Options) {
  await makeFolder(dataDir);
  const durable = await createDurable({
    path: join(dataDir, 'state.json'),
    schema,
    salvage,
    initial: { nodeId: randomUUID(), devices: new Map() },
    reserve,
    log,
    disk: systemDisk,
    now,
  });

  const crowding = (): string[] =>
    [...durable.read().devices.values()].filter(({ forgotten }) => !forgotten).length < mostBindings
      ? []
      : [`${mostBindings} devices are known, which is the limit: each new device replaces one that was never seen`];

  return {
    /** Generated at the first start and kept, unless another box turns out to have it. */
    nodeId: durable.read().nodeId,
    devices: createStoredDevices(durable, now),
    /** Gives the box a new id, which it has from the next start on; resolves when that is durable. */
    renewId: async (): Promise<void> => void (await durable.update((state) => ({ ...state, nodeId: randomUUID() }))),
    /** The time zone that the box has learned; null: none. */
    timeZone: durable.read().timeZone ?? null,
    /** Keeps a time zone for the next start; resolves when that is durable. */
    keepTimeZone: async (timeZone: string): Promise<void> => {
      await durable.update((state) => ({ ...state, timeZone }));
    },
    /** One sentence per issue that needs attention; for `/healthz`. */
    faults: (): string[] => [...durable.faults(), ...crowding()],
    writes: durable.writes,
    /** Resolves when every write in progress is settled. */
    close: durable.close,
  };
}
