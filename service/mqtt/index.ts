/**
 * Publishes the site to an MQTT broker in the form of Home Assistant's discovery. Of the boxes that have the setting the one
 * with the smallest node id does so. Loaded only where SIGNAGE_MQTT_URL is set.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Console } from '../console/index.ts';
import type { SiteOverview } from '../contract/console/site.ts';
import { remember } from '../domain/collections.ts';
import type { Module, ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import { createPause } from '../platform/pause.ts';
import type { Records } from '../records/index.ts';
import type { Screens } from '../screens/index.ts';
import type { Takeovers } from '../takeovers/index.ts';
import { type Broker, connectBroker, type Message } from './broker.ts';
import { type Display, displaysOf, heldOf, homeAssistantStatus, retainedOf, topicsOf } from './entities.ts';
import { createOrders } from './orders.ts';

interface Dependencies {
  box: Pick<Console, 'overview' | 'kiosks' | 'silent' | 'volumes' | 'screenshot' | 'act'>;
  screens: Pick<Screens, 'command'>;
  takeovers: Pick<Takeovers, 'now' | 'put'>;
  peers: Pick<Peers, 'alive' | 'settled' | 'addState' | 'sendTakeover'>;
  records: Pick<Records, 'audit'>;
}

/** What a box that leaves publishes at the topic of the status, not retained: the one that stays publishes everything again. */
const HANDOVER = 'handover';
/** Topics that the broker keeps from earlier, and that are remembered until they are removed. */
const MAX_STALE = 10_000;

/** The topics of a configuration that end with it. */
const topicsIn = (payload: Buffer | string): string[] => {
  try {
    const { state_topic, image_topic, availability } = JSON.parse(payload.toString()) as Record<string, unknown>;
    const reached = Array.isArray(availability)
      ? availability.map((each: { topic?: unknown } | null) => each?.topic)
      : [];
    return [state_topic, image_topic, ...reached].filter((topic) => typeof topic === 'string');
  } catch {
    return [];
  }
};

export const createMqtt = (
  context: ServiceContext,
  { box, screens, takeovers, peers, records }: Dependencies,
): Module => {
  const { options, ids, tempo, monotonicNow, logs } = context;
  const { mqttUrl, mqttPrefix: prefix, mqttControl: isControlled, site } = options;
  if (mqttUrl === null) return {};
  const url = new URL(mqttUrl);
  const log = logs('mqtt', { broker: url.host });
  const topics = topicsOf({ prefix, site });
  const ownStatus = topics.box(ids.nodeId, 'status');
  const closing = new AbortController();

  let broker: Broker | null = null;
  /** What the broker keeps of this box, by topic: null: what was published apart; undefined: it is published again. */
  let published = new Map<string, string | null | undefined>();
  /** What the broker keeps from earlier, and this box has not published: with the topics that a configuration names. */
  const stale = new Map<string, readonly string[]>();
  /** Configurations of earlier are awaited until then, by the monotonic clock. */
  let collectedAt = Number.POSITIVE_INFINITY;
  let displays = new Map<string, Display>();
  const rest = createPause();
  /** By node id, as boxes told last: one that has just started tells none before its hardware was set. */
  const volumes = new Map<string, number>();
  /** By node id: when a box was heard last since this one publishes, by the monotonic clock. */
  const heardAt = new Map<string, number>();
  /** By device id: when its picture was last asked for. */
  const pictured = new Map<string, number>();
  let picturing: Promise<void> | null = null;
  let running: Promise<void> = Promise.resolve();

  peers.addState(() => ({ mqtt: true }));
  /** Whether this box left the publishing to another one when it looked last. */
  let isFollower = false;
  const isFirst = (): boolean =>
    peers.alive().every(({ nodeId, state }) => state.mqtt !== true || nodeId === null || nodeId > ids.nodeId);

  const soon = rest.wake;
  const orders = createOrders(context, {
    screens,
    takeovers,
    peers,
    records,
    box,
  });

  const publishAgain = (): void => {
    for (const each of published.keys()) published.set(each, undefined);
    soon();
  };
  /** This box with its displays alone: two boxes that each took the other for away would answer each other without end. */
  const publishOwnAgain = (): void => {
    for (const [topic, payload] of published) {
      const named = topics.isConfig(topic) ? topicsIn(payload ?? '') : [];
      if (!named.includes(ownStatus)) continue;
      for (const each of [topic, ...named]) {
        if (each !== topics.status && published.has(each)) published.set(each, undefined);
      }
    }
    soon();
  };
  const noteStale = (topic: string, named: readonly string[] = []): void => {
    if (stale.size < MAX_STALE && !published.has(topic)) stale.set(topic, named);
  };
  const onMessage = (message: Message): void => {
    const { topic, payload, isRetained } = message;
    if (topic === homeAssistantStatus) {
      if (!isRetained && payload.toString() === 'online') publishAgain();
      return;
    }
    if (topic === topics.status) {
      // Another box has published too, and has left now, or its will comes late: what it knew less of must not stay.
      if (payload.toString() !== 'online') publishAgain();
      return;
    }
    if (topic === ownStatus) {
      // Another box publishes too, and does not see this one.
      if (!isRetained && payload.toString() === 'offline') publishOwnAgain();
      return;
    }
    if (topics.isConfig(topic)) {
      const named = topicsIn(payload);
      // Another site of this name may have another prefix.
      const isForeign = named.length > 0 && !named.includes(topics.status);
      if (payload.length === 0 || isForeign) return;
      noteStale(topic, named);
      for (const each of named) if (topics.isOwn(each) && each !== topics.status) noteStale(each);
      return;
    }
    // A broker sends what it likes.
    if (!isControlled || !topics.isOrder(topic)) return;
    void orders
      .take(message, (part) => displays.get(part))
      .catch((error: unknown) => log.error({ err: error }, 'an order over MQTT has failed'))
      .finally(soon);
  };

  const connect = (): Broker =>
    connectBroker(context, {
      url,
      clientId: `signage-${ids.nodeId}`,
      will: { topic: topics.status, payload: 'offline' },
      subscriptions: [
        homeAssistantStatus,
        topics.status,
        ownStatus,
        topics.configs,
        ...(isControlled ? [topics.orders] : []),
      ],
      onConnect: () => {
        published = new Map();
        stale.clear();
        collectedAt = monotonicNow() + tempo.mqtt.collect;
        soon();
      },
      onMessage,
    });

  /** @param unheard the topics of the status of boxes that have not answered yet: what else they have is not known here */
  const publish = (
    wanted: ReadonlyMap<string, string | null>,
    { unheard, to }: { unheard: ReadonlySet<string>; to: Broker },
  ): void => {
    for (const [topic, payload] of wanted) {
      stale.delete(topic);
      if (published.get(topic) === payload) continue;
      if (payload !== null) to.publish(topic, payload);
      published.set(topic, payload);
    }
    // What is announced is no other site's, also where its value is not known yet.
    if (stale.size > 0) {
      const announced = [...wanted].flatMap(([topic, payload]) =>
        topics.isConfig(topic) ? topicsIn(payload ?? '') : [],
      );
      for (const topic of announced) stale.delete(topic);
    }
    const gone = [...published.keys()].filter((topic) => !wanted.has(topic) && topic !== topics.status);
    // An empty configuration deletes the entity, with all that people have set for it.
    const awaited = new Set(
      [...stale].flatMap(([topic, named]) => (named.some((each) => unheard.has(each)) ? [topic, ...named] : [])),
    );
    const over = [...stale.keys()].filter((topic) => !awaited.has(topic));
    for (const topic of monotonicNow() >= collectedAt ? [...gone, ...over] : gone) {
      to.publish(topic, '');
      published.delete(topic);
      stale.delete(topic);
    }
    // Last, so that nothing is available before its topics are there.
    if (published.get(topics.status) === 'online') return;
    to.publish(topics.status, 'online');
    published.set(topics.status, 'online');
  };

  /** Photographs the displays of kiosks, one after another, each at most once in a minute. */
  const picture = async (to: Broker): Promise<void> => {
    const kiosks = box.kiosks();
    for (const { deviceId, connection } of displays.values()) {
      const last = pictured.get(deviceId) ?? Number.NEGATIVE_INFINITY;
      if (connection === null || !kiosks.has(deviceId) || monotonicNow() - last < tempo.mqtt.picture) continue;
      remember(pictured, deviceId, monotonicNow(), MAX_STALE);
      if (closing.signal.aborted || to !== broker) return;
      const shot = await box.screenshot(connection.id).catch(() => null);
      const topic = topics.display(deviceId, 'picture');
      // The display may have been removed meanwhile.
      if (shot !== null && to === broker && to.isReady() && published.has(topic)) to.publish(topic, shot.jpeg);
    }
  };

  const leave = async (isOver: boolean): Promise<void> => {
    const left = broker;
    broker = null;
    // The box that follows says that it is there; its word must stay.
    await left?.close({ topic: topics.status, payload: isOver ? 'offline' : HANDOVER, isRetained: isOver });
  };

  const step = async (): Promise<void> => {
    if (!isFirst()) {
      isFollower = true;
      heardAt.clear();
      return leave(false);
    }
    if (isFollower) {
      // The other one may have answered late once.
      isFollower = false;
      return;
    }
    broker ??= connect();
    if (!broker.isReady()) return;
    const to = broker;
    const overview: SiteOverview = await box.overview();
    const silent = box.silent();
    for (const { nodeId } of overview.boxes) {
      if (nodeId !== null && !silent.has(nodeId)) remember(heardAt, nodeId, monotonicNow(), MAX_STALE);
    }
    const unheard = new Set(
      overview.boxes.flatMap(({ nodeId }) =>
        nodeId === null || heardAt.has(nodeId) ? [] : topics.box(nodeId, 'status'),
      ),
    );
    const isHeld = (nodeId: string): boolean =>
      silent.has(nodeId) && monotonicNow() - (heardAt.get(nodeId) ?? Number.NEGATIVE_INFINITY) < tempo.mqtt.hold;
    const held = heldOf({ boxes: overview.boxes, displays: displaysOf(overview) }, displays, isHeld);
    displays = held.displays;
    if (to !== broker || !to.isReady()) return;
    for (const [nodeId, volume] of box.volumes()) remember(volumes, nodeId, volume, MAX_STALE);
    const kiosks = box.kiosks();
    publish(
      retainedOf({ prefix, site, boxes: held.boxes, displays: displays.values(), isControlled, kiosks, volumes }),
      { unheard, to },
    );
    if (!isControlled) return;
    picturing ??= picture(to).finally(() => {
      picturing = null;
    });
  };

  const run = async (): Promise<void> => {
    // Whom this box knows: another one may have the smaller id.
    await Promise.race([
      peers.settled(),
      pause(tempo.mqtt.settle, undefined, { ref: false, signal: closing.signal }),
    ]).catch(() => undefined);
    while (!closing.signal.aborted) {
      await step().catch((error: unknown) => log.error({ err: error }, 'the site could not be published'));
      // Wakes during the step wait for the next poll.
      rest.clear();
      await rest.wait(tempo.mqtt.poll, closing.signal);
    }
  };

  return {
    health: () => {
      const reason = broker?.reason() ?? null;
      return { issues: { mqtt: reason === null ? [] : [`The MQTT broker at ${url.host} ${reason}.`] } };
    },
    start: () => {
      running = run();
    },
    close: async () => {
      closing.abort();
      await running;
      await leave(true);
      await picturing;
    },
  };
};
