/** What is published: the entities of boxes and displays in the form of Home Assistant's discovery, and their states. Pure. */
import { createHash } from 'node:crypto';
import type { DeviceState, SiteOverview } from '../contract/console/site.ts';
import { deviceStates } from '../contract/console/site.ts';
import { canonicalDeviceId } from '../contract/readable.ts';

/** Prefix of the topics that Home Assistant reads. */
const DISCOVERY = 'homeassistant';
/** Where Home Assistant says that it has started. */
export const homeAssistantStatus = `${DISCOVERY}/status`;

type Screen = SiteOverview['screens'][number];
type Connection = Screen['connections'][number];

export interface Display {
  deviceId: string;
  name: string;
  nodeId: string | null;
  slug: string;
  state: DeviceState;
  isOff: boolean;
  /** Its newest connection; null: it is not connected. */
  connection: Connection | null;
}

interface Naming {
  /** SIGNAGE_MQTT_PREFIX. */
  prefix: string;
  site: string;
}

export interface Facts extends Naming {
  boxes: SiteOverview['boxes'];
  displays: Iterable<Display>;
  /** Whether displays take orders. */
  isControlled: boolean;
  /** Device ids of the displays of kiosks, canonical: only these have a volume, and can be photographed. */
  kiosks: ReadonlySet<string>;
  /** By node id, as the hardware told. */
  volumes: ReadonlyMap<string, number>;
}

/** Text as a part of a topic and of an id; what has to be changed gets a part of its hash, so that ids stay apart. */
export const topicPart = (text: string): string => {
  const plain = text.replace(/[^A-Za-z0-9_-]/g, '_');
  return plain === text ? text : `${plain.slice(0, 64)}_${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
};

export const topicsOf = ({ prefix, site }: Naming) => {
  // One level of a topic (MQTT 5.0, 4.7); ids of Home Assistant allow less.
  const base = `${prefix}/${/[/+#\0]/.test(site) ? topicPart(site) : site}`;
  const group = `signage_${topicPart(site)}`;
  return {
    /** The last will. */
    status: `${base}/status`,
    box: (nodeId: string, what: string) => `${base}/box/${topicPart(nodeId)}/${what}`,
    display: (deviceId: string, what: string) => `${base}/display/${topicPart(deviceId)}/${what}`,
    orders: `${base}/display/+/+/set`,
    config: (component: string, id: string) => `${DISCOVERY}/${component}/${group}/${id}/config`,
    /** All configurations of this site. */
    configs: `${DISCOVERY}/+/${group}/+/config`,
    isConfig: (topic: string) => topic.startsWith(`${DISCOVERY}/`) && topic.split('/')[2] === group,
    uniqueId: (id: string) => `${group}_${id}`,
    isOwn: (topic: string) => topic.startsWith(`${base}/`),
    isOrder: (topic: string) => topic.startsWith(`${base}/display/`) && topic.endsWith('/set'),
  };
};

/** The displays that are expected: bound ones, and those of kiosks. */
export const displaysOf = ({ screens }: Pick<SiteOverview, 'screens'>): Display[] => {
  const displays = new Map<string, Display>();
  // By a redirect a page can show another screen than the one that its display is bound to.
  const pages = new Map(
    screens.flatMap(({ screen: { slug }, connections }) =>
      connections.flatMap((connection) =>
        connection.deviceId === null ? [] : [[canonicalDeviceId(connection.deviceId), { slug, connection }] as const],
      ),
    ),
  );
  for (const { screen, devices } of screens) {
    for (const { deviceId, clientName, nodeId, state, off: isOff = false } of devices) {
      const key = canonicalDeviceId(deviceId);
      if (displays.has(key)) continue;
      const { slug, connection } = pages.get(key) ?? { slug: screen.slug, connection: null };
      const name = clientName ?? `${screen.name} (${deviceId})`;
      displays.set(key, { deviceId: key, name, nodeId, slug, state, isOff, connection });
    }
  }
  return [...displays.values()];
};

/**
 * The boxes and displays as they were last, where they are of a box that has only just given no answer.
 * @param before by {@link topicPart} of their device id
 */
export const heldOf = (
  { boxes, displays }: Pick<Facts, 'boxes' | 'displays'>,
  before: ReadonlyMap<string, Display>,
  isHeld: (nodeId: string) => boolean,
) => ({
  boxes: boxes.map((box) => (isHeld(box.nodeId ?? '') ? { ...box, status: 'alive' as const } : box)),
  displays: new Map(
    [...displays].map((display) => {
      const part = topicPart(display.deviceId);
      const known = display.connection === null && isHeld(display.nodeId ?? '') ? before.get(part) : undefined;
      return [part, known ?? display];
    }),
  ),
});

export const displayStates = [...deviceStates, 'black', 'paused', 'redirected'] as const;
const stateOf = ({ state, isOff, connection }: Display): (typeof displayStates)[number] => {
  if (connection === null) return state;
  if (connection.blackout || (isOff && state !== 'closed')) return 'black';
  if (!connection.page.startsWith('/screen/')) return 'redirected';
  return connection.paused ? 'paused' : state;
};

const MAX_STATE = 255;
/** Home Assistant takes states of up to 255 characters. */
const slideOf = ({ connection }: Display): string =>
  (connection?.currentSlideTitle || connection?.currentSlideId || 'None').slice(0, MAX_STATE);

const onOff = (isOn: boolean): string => (isOn ? 'ON' : 'OFF');
const reach = (isReached: boolean): string => (isReached ? 'online' : 'offline');

type Config = Readonly<Record<string, unknown>>;

/** The orders that displays take, as the last part but one of their topics. */
export const orderNames = ['screen', 'next', 'previous', 'notify', 'volume'] as const;
export type OrderName = (typeof orderNames)[number];

/** Everything that the broker should keep, by topic; null: whatever is there, such as the last picture of a display. */
export const retainedOf = (facts: Facts): Map<string, string | null> => {
  const topics = topicsOf(facts);
  const { displays, isControlled, kiosks, volumes } = facts;
  const kept = new Map<string, string | null>();
  const boxes = new Map(facts.boxes.flatMap((box) => (box.nodeId === null ? [] : [[box.nodeId, box] as const])));

  const add = (component: string, id: string, config: Config, available: readonly string[]): void => {
    const availability = [topics.status, ...available].map((topic) => ({ topic }));
    const common = {
      unique_id: topics.uniqueId(id),
      availability,
      availability_mode: 'all',
      origin: { name: 'signage-player' },
    };
    kept.set(topics.config(component, id), JSON.stringify({ ...config, ...common }));
  };

  for (const [nodeId, { name, url, version, status }] of boxes) {
    const id = topicPart(nodeId);
    const reached = topics.box(nodeId, 'status');
    kept.set(topics.box(nodeId, 'connected'), onOff(status !== 'away'));
    const device = {
      identifiers: [topics.uniqueId(id)],
      name,
      manufacturer: 'Signage Player',
      model: 'Box',
      ...(version !== null && { sw_version: version }),
      configuration_url: new URL('/console', url).href,
    };
    add(
      'binary_sensor',
      `${id}_connected`,
      {
        name: 'Connected',
        device,
        device_class: 'connectivity',
        entity_category: 'diagnostic',
        state_topic: topics.box(nodeId, 'connected'),
      },
      [reached],
    );
  }

  for (const display of displays) {
    const { deviceId, name, nodeId, connection } = display;
    const id = topicPart(deviceId);
    const topic = (what: string): string => topics.display(deviceId, what);
    const available = [
      ...(nodeId !== null && boxes.has(nodeId) ? [topics.box(nodeId, 'status')] : []),
      topic('status'),
    ];
    const device = {
      identifiers: [topics.uniqueId(id)],
      name,
      manufacturer: 'Signage Player',
      model: 'Display',
      ...(nodeId !== null && boxes.has(nodeId) && { via_device: topics.uniqueId(topicPart(nodeId)) }),
    };
    const entity = (component: string, what: string, config: Config): void =>
      add(component, `${id}_${what}`, { device, ...config }, available);
    const order = (what: OrderName): string => topic(`${what}/set`);

    kept.set(topic('status'), reach(connection !== null));
    kept.set(topic('connected'), onOff(connection !== null));
    kept.set(topic('state'), stateOf(display));
    kept.set(topic('slide'), slideOf(display));
    entity('binary_sensor', 'connected', {
      name: 'Connected',
      device_class: 'connectivity',
      entity_category: 'diagnostic',
      state_topic: topic('connected'),
    });
    entity('sensor', 'state', {
      name: 'State',
      device_class: 'enum',
      options: [...displayStates],
      state_topic: topic('state'),
    });
    entity('sensor', 'slide', { name: 'Slide', icon: 'mdi:presentation', state_topic: topic('slide') });
    if (!isControlled) continue;
    kept.set(topic('screen'), onOff(connection !== null && !connection.blackout && !display.isOff));
    entity('switch', 'screen', {
      name: 'Display',
      icon: 'mdi:monitor',
      state_topic: topic('screen'),
      command_topic: order('screen'),
    });
    entity('button', 'next', { name: 'Next', icon: 'mdi:skip-next', command_topic: order('next') });
    entity('button', 'previous', { name: 'Previous', icon: 'mdi:skip-previous', command_topic: order('previous') });
    entity('notify', 'notify', { name: 'Message', command_topic: order('notify') });
    if (!kiosks.has(deviceId)) continue;
    const volume = nodeId === null ? undefined : volumes.get(nodeId);
    if (volume !== undefined) kept.set(topic('volume'), String(volume));
    entity('number', 'volume', {
      name: 'Volume',
      icon: 'mdi:volume-high',
      min: 0,
      max: 100,
      step: 1,
      unit_of_measurement: '%',
      state_topic: topic('volume'),
      command_topic: order('volume'),
    });
    kept.set(topic('picture'), null);
    entity('image', 'picture', { name: 'Picture', content_type: 'image/jpeg', image_topic: topic('picture') });
  }
  // Last: a box that is away only for this one hears it, and then puts right all that was said before.
  for (const [nodeId, { status }] of boxes) kept.set(topics.box(nodeId, 'status'), reach(status !== 'away'));
  return kept;
};
