/** Records which devices exist: an id is known once a page has connected with it, but not because of a status request. */
import { mostAskedDevices, mostBindings } from '../contract/peers.ts';
import { canonicalDeviceId } from '../contract/readable.ts';
import { deviceId as deviceIdSchema } from '../contract/terms.ts';
import { remember } from '../domain/collections.ts';
import type { ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import { createBatcher } from '../platform/batcher.ts';
import type { Screens } from '../screens/index.ts';
import type { Landing } from './landing.ts';
import type { StoredDevices } from './store.ts';

interface Dependencies {
  devices: Pick<StoredDevices, 'get'>;
  screens: Pick<Screens, 'locationsOf'>;
  landing: Pick<Landing, 'has'>;
  peers: Pick<Peers, 'isAlone' | 'broadcast'>;
}

export type KnownDevices = ReturnType<typeof createKnownDevices>;

export const createKnownDevices = (
  { tempo }: Pick<ServiceContext, 'tempo'>,
  { devices, screens, landing, peers }: Dependencies,
) => {
  const seen = new Map<string, true>();

  const isKnownThere = createBatcher<boolean>({
    // The status is public, and each round costs every peer a signed request.
    intervalMs: tempo.devices.round,
    ask: async (keys) => {
      const { answers } = await peers.broadcast('devices.known', keys.slice(0, mostAskedDevices));
      return new Map(answers.flatMap(({ known }) => known.map((deviceId) => [deviceId, true])));
    },
  });

  const isKnownHere = (deviceId: string): boolean =>
    seen.has(canonicalDeviceId(deviceId)) ||
    devices.get(deviceId) !== undefined ||
    landing.has(deviceId) ||
    screens.locationsOf(deviceId).length > 0;

  return {
    /** Records that a page of the device is connected; invalid device ids are ignored. */
    saw: (deviceId: string): void => {
      if (deviceIdSchema.safeParse(deviceId).success) remember(seen, canonicalDeviceId(deviceId), true, mostBindings);
    },
    /** Whether this box has seen the device, or has a record of it. */
    isKnownHere,
    /** Whether any box of the site knows the device; false if the boxes that know it do not answer. */
    isKnown: async (deviceId: string): Promise<boolean> => {
      if (isKnownHere(deviceId)) return true;
      return !peers.isAlone() && ((await isKnownThere(canonicalDeviceId(deviceId))) ?? false);
    },
  };
};
