/** The devices that have not learned their newest binding yet; kept over restarts. */
import { z } from 'zod';
import { mostBindings } from '../contract/peers.ts';
import { canonicalDeviceId, isProvableId } from '../contract/readable.ts';
import { remember } from '../domain/collections.ts';
import type { ServiceContext } from '../module.ts';
import { openDurable } from '../platform/store/durable.ts';

const schema = z.object({
  devices: z.array(
    z.object({
      deviceId: z.string().describe('canonical'),
      at: z.iso.datetime().describe('when it was bound, or last seen if that was later by the clock of then'),
      isProofNeeded: z.boolean().describe('whether only a page that has proved to be the device learns it'),
    }),
  ),
});

/** A device that was seen so long after its binding, ms, has learned it from another box. */
const LEARNED_MS = 60_000;

export type PendingDevices = Awaited<ReturnType<typeof openPending>>;

/** @param lastSeen when a device was last connected to any box (ISO 8601) */
export const openPending = async (
  context: Pick<ServiceContext, 'dirs' | 'log' | 'keep' | 'now'>,
  lastSeen: (deviceId: string) => string | undefined,
) => {
  const { keep, now } = context;
  const durable = keep(
    await openDurable(context, 'pending.json', { schema, initial: { devices: [] }, isInitialKept: false }),
  );
  const pending = new Map(durable.read().devices.map((each) => [each.deviceId, each]));

  /** The store reports a disk that cannot be written. */
  const save = (): Promise<void> => durable.update(() => ({ devices: [...pending.values()] })).catch(() => {});

  const remove = (deviceId: string): void => {
    if (pending.delete(canonicalDeviceId(deviceId))) void save();
  };

  return {
    has: (deviceId: string): boolean => pending.has(canonicalDeviceId(deviceId)),
    /** Whether only a page that has proved to be the device learns its binding. */
    needsProof: (deviceId: string): boolean => pending.get(canonicalDeviceId(deviceId))?.isProofNeeded === true,
    /** Resolves when it is on the disk, or the disk has failed. */
    add: (deviceId: string, isProofNeeded: boolean): Promise<void> => {
      const id = canonicalDeviceId(deviceId);
      // A clock that was ahead when the device was seen, or is behind now, must not make that the later of the two.
      const at = new Date(Math.max(now(), Date.parse(lastSeen(deviceId) ?? '') || 0)).toISOString();
      remember(pending, id, { deviceId: id, at, isProofNeeded }, mostBindings);
      return save();
    },
    /** The device has learned its binding, or has none. */
    remove,
    /** A page says that it is the device. @returns whether it is to be moved */
    take: (deviceId: string, isProven: boolean): boolean => {
      const found = pending.get(canonicalDeviceId(deviceId));
      if (found === undefined || (found.isProofNeeded && !isProven)) return false;
      // A new binding drops the key of an id that is derived from none: then a page that proves nothing can count as a sighting.
      const seenAt = found.isProofNeeded && !isProvableId(deviceId) ? undefined : lastSeen(deviceId);
      remove(deviceId);
      return seenAt === undefined || Date.parse(seenAt) - Date.parse(found.at) < LEARNED_MS;
    },
  };
};
