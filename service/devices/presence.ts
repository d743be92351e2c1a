/** Finds the devices that are away: bound to a screen that is open, but connected to no box of the site. */
import type { Content } from '../content/index.ts';
import { type DeviceBinding, mostAdvertisedDevices, type PeerState } from '../contract/peers.ts';
import { canonicalDeviceId } from '../contract/readable.ts';
import type { Variant } from '../contract/terms.ts';
import { isOpen } from '../domain/opening-hours.ts';
import { limitSentences } from '../domain/wording.ts';
import type { ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import type { Screens } from '../screens/index.ts';
import type { StoredDevices } from './store.ts';

interface Dependencies {
  screens: Pick<Screens, 'deviceIds' | 'onJoin'>;
  devices: Pick<StoredDevices, 'list'>;
  peers: Pick<Peers, 'all' | 'alive'>;
  content: Pick<Content, 'payload' | 'hours'>;
}

/** A bound device whose screen exists. */
export interface DeviceStatus {
  device: DeviceBinding;
  /** `closed`: its screen is closed. `unknown`: not connected here, and a box does not report its connections. */
  status: 'connected' | 'missing' | 'closed' | 'unknown';
}

export const createPresence = (
  {
    options,
    now,
    monotonicNow,
    tempo: { devices: tempo },
  }: Pick<ServiceContext, 'now' | 'monotonicNow' | 'tempo'> & { options: { timeZone: string; variant: Variant } },
  { screens, devices, peers, content }: Dependencies,
) => {
  /** Since when expected devices are not connected, by the monotonic clock, keyed by {@link canonicalDeviceId}. */
  const missing = new Map<string, number>();
  /** Those that were connected here since they were last expected. */
  const seen = new Set<string>();
  let away: readonly DeviceBinding[] = [];
  let counts = { expected: 0, connected: 0 };

  screens.onJoin(({ deviceId }) => seen.add(canonicalDeviceId(deviceId)));

  const connectedHere = (): Set<string> => new Set([...screens.deviceIds()].map(canonicalDeviceId));
  /** None in the baseline variant, in which nobody binds or forgets devices. */
  const bound = (): DeviceBinding[] =>
    options.variant === 'baseline' ? [] : devices.list().filter(({ screenSlug }) => screenSlug !== null);

  const isExpected = ({ screenSlug }: DeviceBinding, time: number): boolean =>
    screenSlug !== null &&
    content.payload(screenSlug) !== undefined &&
    isOpen(content.hours(screenSlug), time, options.timeZone);

  const poll = (): void => {
    const time = now();
    const at = monotonicNow();
    const others = peers.alive();
    const present = connectedHere();
    for (const { state } of others) for (const id of state.devices ?? []) present.add(canonicalDeviceId(id));
    // A device may be connected to a box that does not list its devices.
    const isKnown = others.every(({ state }) => state.devices !== undefined);
    // Pages of a box that is away may be about to move to another one.
    const isAlone = peers.all().every(({ nodeId }) => nodeId === null);
    const list = bound();
    const expected = new Map(
      list.filter((device) => isExpected(device, time)).map((device) => [canonicalDeviceId(device.deviceId), device]),
    );
    counts = { expected: expected.size, connected: [...expected.keys()].filter((key) => present.has(key)).length };
    // Devices that are closed or unbound are not expected, and get the grace period again once they are.
    for (const key of seen) if (!expected.has(key)) seen.delete(key);
    for (const key of missing.keys()) if (!expected.has(key) || present.has(key)) missing.delete(key);
    away = [...expected].flatMap(([key, device]) => {
      if (present.has(key)) return [];
      const since = missing.get(key) ?? at;
      missing.set(key, since);
      if (!seen.has(key)) return isKnown && at - since >= tempo.start ? [device] : [];
      return at - since >= (isAlone ? tempo.reconnect : tempo.move) ? [device] : [];
    });
  };
  let timer: NodeJS.Timeout | undefined;

  const statuses = (): DeviceStatus[] => {
    const time = now();
    const others = peers.alive();
    const present = connectedHere();
    for (const { state } of others) for (const id of state.devices ?? []) present.add(canonicalDeviceId(id));
    const absent = others.every(({ state }) => state.devices !== undefined) ? 'missing' : 'unknown';
    const open = new Map<string, boolean>();
    return bound().flatMap((device): DeviceStatus[] => {
      const slug = device.screenSlug ?? '';
      if (content.payload(slug) === undefined) return [];
      if (!open.has(slug)) open.set(slug, isOpen(content.hours(slug), time, options.timeZone));
      if (open.get(slug) !== true) return [{ device, status: 'closed' }];
      return [{ device, status: present.has(canonicalDeviceId(device.deviceId)) ? 'connected' : absent }];
    });
  };

  return {
    /** By the current knowledge of this box, without any grace period. */
    statuses,
    /** The devices that were away at the last poll, at most 2 s ago. */
    away: (): readonly DeviceBinding[] => away,
    /** A sentence for each of them, at most some. */
    issues: (): string[] =>
      limitSentences(
        away.map(
          ({ clientName, deviceId, screenSlug }) =>
            `The device "${clientName}" (${deviceId}) of the screen "${screenSlug}" is away.`,
        ),
        'devices are away',
      ),
    /** The number of expected devices, and how many of them are connected to any box; at most 2 s ago. */
    counts: (): { expected: number; connected: number } => counts,
    /** Its part of {@link PeerState}. */
    state: (): Pick<PeerState, 'devices'> => {
      const here = connectedHere();
      const connected = bound().filter(({ deviceId }) => here.has(canonicalDeviceId(deviceId)));
      return connected.length > mostAdvertisedDevices ? {} : { devices: connected.map(({ deviceId }) => deviceId) };
    },
    start: (): void => {
      timer = setInterval(poll, tempo.poll);
      timer.unref();
    },
    close: (): void => clearInterval(timer),
  };
};
