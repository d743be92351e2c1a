/** When each device of the site was last connected, and to which box; kept over restarts. */
import { z } from 'zod';
import { type DeviceSighting, deviceSighting, mostBindings } from '../contract/peers.ts';
import { canonicalDeviceId } from '../contract/readable.ts';
import { remember } from '../domain/collections.ts';
import { type EpochMs, isTrusted } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';
import { openDurable } from '../platform/store/durable.ts';

interface Dependencies {
  /** The ids of all devices that are connected to this box now. */
  connectedHere(): Iterable<string>;
  /** The last answer of each other box: when, and which devices were connected to it. */
  connectedThere(): Iterable<{ nodeId: string; at: EpochMs; deviceIds: readonly string[] }>;
  isBound(deviceId: string): boolean;
}

type Sightings = Map<string, DeviceSighting>;

interface State {
  sightings: readonly DeviceSighting[];
}

const schema: z.ZodType<State> = z.object({ sightings: z.array(deviceSighting) });

/** A date that is further ahead, ms, is of a clock that was wrong: any later sighting replaces it. */
const MAX_AHEAD_MS = 86_400_000;

export const openLastSeen = async (
  context: Pick<ServiceContext, 'dirs' | 'log' | 'keep' | 'now' | 'monotonicNow' | 'ids' | 'tempo'>,
  { connectedHere, connectedThere, isBound }: Dependencies,
) => {
  const { keep, now, monotonicNow } = context;
  const { nodeId } = context.ids;
  const { devices: tempo } = context.tempo;
  const durable = keep(await openDurable(context, 'seen.json', { schema, initial: { sightings: [] } }));
  const sightings: Sightings = new Map(
    durable.read().sightings.map((each) => [canonicalDeviceId(each.deviceId), each]),
  );
  /** Keys of the devices that were connected at the last poll. */
  let present = '';
  let hasChanges = false;
  let storedAt = monotonicNow();
  let timer: NodeJS.Timeout | undefined;

  /** Anybody can open pages with ids of their own: these displace no device that is bound. @returns whether there is room */
  const makeRoom = (newcomer: string): boolean => {
    if (sightings.size < mostBindings || sightings.has(newcomer)) return true;
    let left = sightings.size;
    for (const [key, sighting] of sightings) {
      if (!isBound(key)) return sightings.delete(key);
      if (left-- === 0) break;
      // So that the next newcomer does not look at it again.
      sightings.delete(key);
      sightings.set(key, sighting);
    }
    return isBound(newcomer);
  };

  const learnOne = ({ deviceId, nodeId: seenBy, at }: DeviceSighting): void => {
    const key = canonicalDeviceId(deviceId);
    const known = sightings.get(key);
    const time = now();
    // The clock of the other box may be ahead.
    const latest = new Date(Math.min(Date.parse(at), time)).toISOString();
    const isAhead = known !== undefined && isTrusted(time) && Date.parse(known.at) > time + MAX_AHEAD_MS;
    if (known !== undefined && !isAhead && latest <= known.at) return;
    if (makeRoom(key)) {
      hasChanges ||= known === undefined;
      remember(sightings, key, { deviceId, nodeId: seenBy, at: latest }, mostBindings);
    }
  };

  const store = (): Promise<void> => {
    hasChanges = false;
    storedAt = monotonicNow();
    // The store reports a disk that cannot be written.
    return durable.update(() => ({ sightings: [...sightings.values()] })).catch(() => {});
  };

  const poll = (): void => {
    const keys: string[] = [];
    const see = (deviceId: string, at: string, seenBy: string): void => {
      keys.push(canonicalDeviceId(deviceId));
      learnOne({ deviceId, nodeId: seenBy, at });
    };
    for (const { nodeId: seenBy, at, deviceIds } of connectedThere()) {
      for (const deviceId of deviceIds) see(deviceId, new Date(at).toISOString(), seenBy);
    }
    const time = new Date(now()).toISOString();
    for (const deviceId of connectedHere()) see(deviceId, time, nodeId);
    const latest = keys.sort().join(' ');
    hasChanges ||= latest !== present;
    present = latest;
    const age = monotonicNow() - storedAt;
    if (hasChanges ? age >= tempo.storeChange : keys.length > 0 && age >= tempo.storePresence) void store();
  };

  return {
    /** One a device; at most 10,000. */
    list: (): DeviceSighting[] => [...sightings.values()],
    /** When the device was last connected (ISO 8601). */
    of: (deviceId: string): string | undefined => sightings.get(canonicalDeviceId(deviceId))?.at,
    /** Records that a device has connected to this box. */
    joined: (deviceId: string): void => learnOne({ deviceId, nodeId, at: new Date(now()).toISOString() }),
    /** Merges the sightings of other boxes. */
    learn: (theirs: readonly DeviceSighting[]): void => {
      for (const sighting of theirs) learnOne(sighting);
    },
    forget: (deviceId: string): void => {
      hasChanges = sightings.delete(canonicalDeviceId(deviceId)) || hasChanges;
    },
    start: (): void => {
      timer = setInterval(poll, tempo.poll);
      timer.unref();
    },
    /** Stores pending changes. */
    close: async (): Promise<void> => {
      clearInterval(timer);
      poll();
      await store();
    },
  };
};
