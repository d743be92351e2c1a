/** The displays of a screen and how they are; pure. */
import { canonicalDeviceId } from '../../../service/contract/readable.ts';
import { perObject } from '../../../service/domain/collections.ts';
import type { Connection, Device, Fault, SiteScreen } from './wire.ts';

export type DisplayState =
  | 'playing'
  | 'takeover'
  | 'black'
  | 'paused'
  | 'redirected'
  | 'idle'
  | 'closed'
  | 'stuck'
  | 'away'
  | 'never';

export type Tone = 'good' | 'quiet' | 'warning' | 'bad';

/** One expected device, one connected page, or both in one. */
export interface Display {
  /** Unique within the screen. */
  key: string;
  /** Null: it has no name yet. */
  name: string | null;
  state: DisplayState;
  device: Device | null;
  connection: Connection | null;
  /** The last slide that its page could not show; null: none. */
  fault: Fault | null;
}

export const toneOf: Record<DisplayState, Tone> = {
  playing: 'good',
  takeover: 'good',
  black: 'warning',
  paused: 'quiet',
  redirected: 'quiet',
  idle: 'quiet',
  closed: 'quiet',
  stuck: 'warning',
  away: 'bad',
  never: 'warning',
};

/** Most urgent first. */
const urgency: readonly DisplayState[] = [
  'away',
  'stuck',
  'black',
  'never',
  'takeover',
  'redirected',
  'paused',
  'idle',
  'playing',
  'closed',
];

export const takeoverIdOf = (slideId: string | null): string | null =>
  slideId?.startsWith('takeover-') ? slideId.slice('takeover-'.length) : null;

const isRedirected = ({ page }: Connection): boolean => !/^\/screen\/[^/]+$/.test(page.split('?')[0] ?? '');

const stateOfConnection = (connection: Connection): DisplayState => {
  if (takeoverIdOf(connection.currentSlideId) !== null) return 'takeover';
  if (connection.blackout) return 'black';
  if (isRedirected(connection)) return 'redirected';
  if (connection.paused) return 'paused';
  return connection.currentSlide === null ? 'idle' : 'playing';
};

const stateOf = (device: Device | null, connection: Connection | null): DisplayState => {
  // Its page keeps playing while the display is switched off.
  if (device?.off && (device.state === 'playing' || device.state === 'stuck')) return 'black';
  if (device !== null && device.state !== 'playing') {
    // A closed display that has a takeover is lit.
    return device.state === 'closed' && takeoverIdOf(connection?.currentSlideId ?? null) !== null
      ? 'takeover'
      : device.state;
  }
  return connection === null ? 'away' : stateOfConnection(connection);
};

/** Expected devices first, then unexpected pages. */
export const displaysOf = perObject(({ devices, connections, faults = [] }: SiteScreen): readonly Display[] => {
  const faultOf = (id: string | undefined) => faults.find(({ connectionId }) => connectionId === id) ?? null;
  const rest = new Set(connections);
  // The newest page of a device, which is the last one, is the visible one.
  const newest = new Map(
    connections.flatMap((each) => (each.deviceId === null ? [] : [[canonicalDeviceId(each.deviceId), each] as const])),
  );
  const expected = devices.map((device) => {
    const connection = newest.get(canonicalDeviceId(device.deviceId)) ?? null;
    if (connection !== null) rest.delete(connection);
    return {
      key: device.deviceId,
      name: device.clientName ?? connection?.label ?? null,
      state: stateOf(device, connection),
      device,
      connection,
      fault: faultOf(connection?.id),
    };
  });
  const others = [...rest].map((connection) => ({
    key: connection.id,
    name: connection.label,
    state: stateOf(null, connection),
    device: null,
    connection,
    fault: faultOf(connection.id),
  }));
  return [...expected, ...others];
});

/** The device that a display is, bound or not; null: it has not said. */
export const deviceIdOf = ({ device, connection }: Pick<Display, 'device' | 'connection'>): string | null =>
  device?.deviceId ?? connection?.deviceId ?? null;

/**
 * The display that was chosen, as it is now. An unbound page is a new connection after each reload, of the same device. Where
 * that is not there, or has several pages, the chosen one is offline, so that what is meant for it reaches no other.
 */
export const chosenDisplay = (displays: readonly Display[], chosen: Display): Display => {
  const found = displays.find(({ key }) => key === chosen.key);
  if (found !== undefined) return found;
  const id = deviceIdOf(chosen);
  const isSame = (other: string | null): boolean =>
    id !== null && other !== null && canonicalDeviceId(other) === canonicalDeviceId(id);
  const [same, ...others] = displays.filter((display) => isSame(deviceIdOf(display)));
  if (same !== undefined && others.length === 0) return same;
  return { ...chosen, state: 'away', device: null, connection: null, fault: null };
};

/** The most urgent state of the screen's displays; null: it has no display yet. */
export const stateOfScreen = (displays: readonly Pick<Display, 'state'>[]): DisplayState | null =>
  urgency.find((state) => displays.some((display) => display.state === state)) ?? null;

export const byUrgency = (one: Display, other: Display): number =>
  urgency.indexOf(one.state) - urgency.indexOf(other.state);
