/** Displays and browsers that can be bound to a screen: onboarding, landing pages, and which devices are away. */
import type { Content } from '../content/index.ts';
import type { DeviceBinding } from '../contract/peers.ts';
import { canonicalDeviceId } from '../contract/readable.ts';
import { isBound } from '../domain/displays.ts';
import { createEmitter } from '../domain/emitter.ts';
import type { Module, ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import type { SourceLog } from '../platform/source-log.ts';
import type { Screens } from '../screens/index.ts';
import { createClaims } from './claims.ts';
import { createKnownDevices } from './known-devices.ts';
import { createLanding } from './landing.ts';
import { openLastSeen } from './last-seen.ts';
import { createOnboarding } from './onboarding.ts';
import { openPending } from './pending.ts';
import { createPresence } from './presence.ts';
import type { DeviceProofs } from './proofs.ts';
import { createOnboardingRoutes } from './routes.ts';
import type { StoredDevices } from './store.ts';

export { createDeviceProofs, type DeviceProofs } from './proofs.ts';
export { createStore } from './store.ts';

interface Dependencies {
  /** The bindings and names that are stored. */
  stored: StoredDevices;
  proofs: Pick<DeviceProofs, 'verify' | 'mustProve' | 'needs' | 'refusedLately'>;
  content: Pick<Content, 'screens' | 'payload' | 'hours' | 'tags' | 'onChange'>;
  peers: Pick<Peers, 'all' | 'alive' | 'isAlone' | 'broadcast' | 'mediaProgress' | 'onBindings' | 'addState'>;
  screens: Pick<
    Screens,
    'deviceIds' | 'onHello' | 'onJoin' | 'onShowCode' | 'locationsOf' | 'screensOf' | 'rename' | 'send' | 'whenHeard'
  >;
}

export type Devices = Awaited<ReturnType<typeof createDevices>>;

export const createDevices = async (context: ServiceContext, dependencies: Dependencies) => {
  const { logs, now, options } = context;
  const { stored, proofs, content, peers, screens } = dependencies;
  const landing = createLanding(context);
  content.onChange(landing.refresh);
  const presence = createPresence(context, { screens, devices: stored, peers, content });
  peers.addState(presence.state);
  const knownDevices = createKnownDevices(context, { devices: stored, screens, landing, peers });
  const claims = createClaims(context, peers);
  screens.onShowCode(claims.open);
  const lastSeen = await openLastSeen(context, {
    connectedHere: screens.deviceIds,
    connectedThere: () =>
      peers.all().flatMap(({ nodeId, alive, state }) => {
        if (!alive || nodeId === null || state?.devices === undefined) return [];
        // Peer state is at most some seconds old.
        return [{ nodeId, at: now(), deviceIds: state.devices }];
      }),
    isBound: (deviceId) => isBound(stored.get(deviceId)),
  });
  stored.followSightings(lastSeen.of);
  const zones = createEmitter<[timeZone: string]>();
  const pending = await openPending(context, lastSeen.of);
  const onboarding = createOnboarding({
    devices: stored,
    pending,
    proofs,
    content,
    claims,
    // The baseline variant lacks `redirect` and `setclientname`; the kiosk reloads the page instead.
    screens: options.variant === 'baseline' ? { ...screens, send: () => 0 } : screens,
    landing,
    knownDevices,
    peers,
  });
  peers.onBindings(onboarding.follow);
  content.onChange(onboarding.screensChanged);
  // After onboarding, which asks when the device was last connected before.
  screens.onJoin(({ deviceId }) => lastSeen.joined(deviceId));
  const { routes, sockets, formAddress, baseOf } = createOnboardingRoutes(context, {
    onboarding,
    devices: stored,
    screens,
    landing,
    knownDevices,
    proofs,
    claims,
    content,
    peers,
    onTimeZone: zones.emit,
  });
  return {
    routes,
    sockets,
    /** The boot data of the landing page about the address of the onboarding form. */
    formAddress,
    /** The base URL of the service for other machines, with the scheme and port of the request. */
    baseOf,
    status: onboarding.status,
    forget: async (deviceId: string, sourceLog: SourceLog): Promise<void> => {
      await onboarding.forget(deviceId, sourceLog);
      lastSeen.forget(deviceId);
    },
    /** Makes the names and bindings of a backup the newest. @returns how many */
    restore: async (bindings: readonly DeviceBinding[]): Promise<number> => {
      const own = new Map(stored.list().map(({ deviceId, updatedAt }) => [canonicalDeviceId(deviceId), updatedAt]));
      const news = bindings.map((binding) => {
        const before = [own.get(canonicalDeviceId(binding.deviceId)) ?? '', binding.updatedAt].toSorted().at(-1);
        return { ...binding, updatedAt: stored.dated(before) };
      });
      onboarding.follow(await stored.merge(news));
      return news.length;
    },
    /** The devices whose landing page is open on this box and that have no screen, at most 100. */
    waiting: (): string[] => landing.waiting((deviceId) => onboarding.status(deviceId, '').onboarded),
    /** When each device was last connected, and to which box; at most 10,000. */
    sightings: lastSeen.list,
    /** Merges the sightings of other boxes. */
    learn: lastSeen.learn,
    get: stored.get,
    list: stored.list,
    statuses: presence.statuses,
    /** Binds a device of this box to a screen and names it, if it has no name yet, after the screen. */
    bind: async (deviceId: string, screenSlug: string, base: string): Promise<void> => {
      const clientName = stored.get(deviceId)?.clientName ?? content.payload(screenSlug)?.screen.name ?? screenSlug;
      await onboarding.bind({ deviceId, clientName, screenSlug }, base, false, logs('kiosk'));
    },
    /** Calls `listener` with the time zone of a phone, as it is written there, that gave the first display of this box its screen. */
    onTimeZone: zones.on,
    /** Records that a page of the device is connected; invalid device ids are ignored. */
    saw: knownDevices.saw,
    /** Notifies the landing pages of a device that its form has been opened. */
    formOpened: landing.opened,
    health: () => ({
      issues: { devices: presence.issues() },
      notes: (options.variant === 'baseline' ? [] : proofs.refusedLately()).map(
        (deviceId) => `A page with another key than that of the device ${deviceId} presents itself as this device.`,
      ),
    }),
    states: {
      device: (deviceId) => {
        const { clientName, screenSlug } = stored.get(deviceId) ?? {};
        return clientName === undefined ? null : { clientName, screenSlug };
      },
    },
    metrics: () => {
      const { expected, connected } = presence.counts();
      return { signage_devices_expected: expected, signage_devices_connected: connected };
    },
    start: () => {
      landing.start();
      presence.start();
      lastSeen.start();
    },
    close: async () => {
      presence.close();
      await Promise.all([landing.close(), lastSeen.close()]);
    },
  } satisfies Module & Record<string, unknown>;
};
