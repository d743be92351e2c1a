/** What the broker keeps when boxes do not see each other, or answer late. */
import { setTimeout } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { SiteOverview } from '../../service/contract/console/site.ts';
import type { ServiceContext } from '../../service/module.ts';
import { createMqtt } from '../../service/mqtt/index.ts';
import { patience } from '../support/observe.ts';
import { startTestService } from '../support/service.ts';
import { testTempo } from '../support/tempo.ts';
import { isSkipped, listen, startBroker } from './broker.ts';

type Dependencies = Parameters<typeof createMqtt>[1];

/** How one box sees a site of two. */
interface View {
  isThere: Record<'a' | 'b', boolean>;
  /** Whether it does not know of the other one. */
  isAlone?: boolean;
  /** The box of the display; null: it knows of none. */
  at: 'a' | 'b' | null;
  /** Whether it knows that the display is one of a kiosk. */
  isKiosk?: boolean;
  /** How often it was asked for. */
  asked: number;
}

const overviewOf = ({ isThere, isAlone, at }: View, nodeId: string) => {
  const connection = { id: 'c', deviceId: 'door', page: '/screen/lobby', currentSlideTitle: 'Hello' };
  const device = { deviceId: 'door', clientName: 'Door', nodeId: at, state: at && isThere[at] ? 'playing' : 'away' };
  const boxOf = (each: 'a' | 'b') => ({
    ...{ nodeId: each, name: each, url: `http://${each}`, version: '1' },
    status: isThere[each] ? 'alive' : 'away',
  });
  return {
    boxes: [boxOf('a'), boxOf('b')].filter((box) => !isAlone || box.nodeId === nodeId),
    screens: [
      {
        screen: { slug: 'lobby', name: 'Lobby' },
        devices: at === null ? [] : [device],
        connections: at !== null && isThere[at] ? [connection] : [],
      },
    ],
  } as unknown as SiteOverview;
};

const startBox = (nodeId: 'a' | 'b', mqttUrl: string, view: View, monotonicNow = () => performance.now()) => {
  const other = nodeId === 'a' ? 'b' : 'a';
  const mqtt = createMqtt(
    {
      options: { mqttUrl, mqttPrefix: 'signage', mqttControl: true, site: 'two' },
      ...{ ids: { nodeId }, tempo: testTempo, monotonicNow, outbound: { roots: null } },
      logs: () => pino({ level: 'silent' }),
    } as unknown as ServiceContext,
    {
      box: {
        overview: () => {
          view.asked += 1;
          return Promise.resolve(overviewOf(view, nodeId));
        },
        kiosks: () => new Set(view.isKiosk ? ['door'] : []),
        screenshot: () => Promise.reject(new Error('no picture')),
        silent: () => new Set((['a', 'b'] as const).filter((each) => !view.isThere[each])),
        volumes: () => new Map(),
      },
      peers: {
        addState: () => undefined,
        settled: () => Promise.resolve(),
        alive: () => (view.isThere[other] ? [{ nodeId: other, state: { mqtt: true } }] : []),
      },
    } as unknown as Dependencies,
  );
  const close = async (): Promise<void> => void (await mqtt.close?.());
  onTestFinished(close);
  void mqtt.start?.({} as never);
  return close;
};

const both = { a: true, b: true };
const display = (what: string): string => `signage/two/display/door/${what}`;
const config = 'homeassistant/sensor/signage_two/door_slide/config';

test.skipIf(isSkipped)(
  'what a box publishes that lost the others for a while is put right once it is back',
  async () => {
    const broker = await startBroker();
    const { kept, heard, until } = await listen(broker, 'two');
    startBox('a', broker.url, { isThere: both, at: 'a', asked: 0 });
    await until(display('slide'), 'Hello');
    const lost: View = { isThere: both, at: null, asked: 0 };
    startBox('b', broker.url, lost);
    Object.assign(lost, { isThere: { a: false, b: true }, isAlone: true });
    await expect.poll(() => kept.has(config), patience).toBe(false);
    Object.assign(lost, { isThere: both, isAlone: false });
    await until('signage/two/box/a/status', 'online');
    await until(display('slide'), 'Hello');
    await until(display('status'), 'online');
    await expect.poll(() => kept.get(config), patience).toContain('Door');
    await until('signage/two/status', 'online');
    // Not even for a moment: all entities would be unavailable.
    expect(heard).not.toContainEqual(['signage/two/status', 'offline']);
  },
);

const entity = (component: string, what: string): string =>
  `homeassistant/${component}/signage_two/door_${what}/config`;
/** The entities of a display of a kiosk, and what one of them reads. */
const ofKiosk = [entity('sensor', 'slide'), entity('number', 'volume'), entity('image', 'picture'), display('slide')];
/** Once a box has looked at the site a few times, of which the first ones await what the broker has. */
const untilSettled = async (view: View): Promise<void> => {
  const wanted = view.asked + 3 + Math.ceil(testTempo.mqtt.collect / testTempo.mqtt.poll);
  await expect.poll(() => view.asked, patience).toBeGreaterThan(wanted);
};

test.skipIf(isSkipped)('a box that takes over keeps what it never heard of the one that is away', async () => {
  const broker = await startBroker();
  const { kept, until } = await listen(broker, 'two');
  const stop = startBox('a', broker.url, { isThere: both, at: 'a', isKiosk: true, asked: 0 });
  await until(display('slide'), 'Hello');
  await until('signage/two/status', 'online');
  // Of a display without a binding it knows nothing.
  const view: View = { isThere: both, at: null, asked: 0 };
  startBox('b', broker.url, view);
  await stop();
  view.isThere = { a: false, b: true };
  await until('signage/two/box/a/status', 'offline');
  await untilSettled(view);
  expect(ofKiosk.filter((topic) => !kept.has(topic))).toEqual([]);
});

test.skipIf(isSkipped).each<[string, Partial<View>]>([
  ['answers without them', { isThere: both }],
  ['is removed', { isAlone: true }],
])('a box that starts again keeps the entities of one that is away, until that %s', async (_, next) => {
  const broker = await startBroker();
  const { kept, until } = await listen(broker, 'two');
  const stop = startBox('a', broker.url, { isThere: both, at: 'b', isKiosk: true, asked: 0 });
  await until(display('slide'), 'Hello');
  await until('signage/two/status', 'online');
  await stop();
  const view: View = { isThere: { a: true, b: false }, at: null, asked: 0 };
  startBox('a', broker.url, view);
  await until('signage/two/box/b/status', 'offline');
  await untilSettled(view);
  expect(ofKiosk.filter((topic) => !kept.has(topic))).toEqual([]);
  Object.assign(view, next);
  await expect.poll(() => ofKiosk.filter((topic) => kept.has(topic)), patience).toEqual([]);
});

test.skipIf(isSkipped)('two boxes that reach the broker alone are both there, and so are their displays', async () => {
  const broker = await startBroker();
  const { heard, until } = await listen(broker, 'two');
  const [a, b]: [View, View] = [
    { isThere: { a: true, b: false }, at: 'a', isKiosk: true, asked: 0 },
    { isThere: { a: false, b: true }, at: 'a', asked: 0 },
  ];
  startBox('a', broker.url, a);
  await until('signage/two/box/b/status', 'offline');
  await until(display('status'), 'online');
  startBox('b', broker.url, b);
  await expect.poll(() => heard, patience).toContainEqual(['signage/two/box/a/status', 'offline']);
  for (const each of ['box/a/status', 'box/b/status', 'display/door/status'])
    await until(`signage/two/${each}`, 'online');
  await until(display('slide'), 'Hello');
  // Neither of them answers what the other one puts right.
  for (const view of [a, b]) await untilSettled(view);
  const before = heard.length;
  for (const view of [a, b]) await untilSettled(view);
  expect(heard.slice(before)).toEqual([]);
  expect(heard.filter(([, payload]) => payload === '')).toEqual([]);
});

test.skipIf(isSkipped)('a box that misses the one that publishes once does not take its place', async () => {
  const broker = await startBroker();
  const { heard, until } = await listen(broker, 'two');
  startBox('a', broker.url, { isThere: both, at: 'a', asked: 0 });
  await until('signage/two/status', 'online');
  let looks = 0;
  const view = {
    ...{ at: null, asked: 0 },
    get isThere() {
      looks += 1;
      return { a: looks !== 3, b: true };
    },
  };
  startBox('b', broker.url, view);
  await expect.poll(() => looks, patience).toBeGreaterThan(6);
  expect([view.asked, heard.filter(([, payload]) => payload === 'handover')]).toEqual([0, []]);
});

test.skipIf(isSkipped)('a box that answers late once stays, and so do its displays', async () => {
  const broker = await startBroker();
  const { heard, until } = await listen(broker, 'two');
  const view: View = { isThere: both, at: 'b', asked: 0 };
  let now = 0;
  startBox('a', broker.url, view, () => now);
  await until(display('slide'), 'Hello');
  await until('signage/two/status', 'online');
  const heardBefore = heard.length;
  view.isThere = { a: true, b: false };
  now = testTempo.mqtt.hold - 1;
  const askedBefore = view.asked;
  await expect.poll(() => view.asked, patience).toBeGreaterThan(askedBefore + 2);
  expect(heard.slice(heardBefore)).toEqual([]);
  now += 1;
  await until(display('status'), 'offline');
  await until('signage/two/box/b/status', 'offline');
  await until(display('state'), 'away');
});

test.skipIf(isSkipped)('sites of one name with prefixes of their own leave each other alone', async () => {
  const broker = await startBroker();
  const { configs, until } = await listen(broker, 'twins');
  const boxes: string[] = [];
  for (const prefix of ['north', 'south']) {
    const env = { SIGNAGE_MQTT_URL: broker.url, SIGNAGE_MQTT_PREFIX: prefix, SIGNAGE_SITE: 'twins' };
    const { nodeId } = await startTestService({ env });
    boxes.push(`homeassistant/binary_sensor/signage_twins/${nodeId}_connected/config`);
    await until(`${prefix}/twins/status`, 'online');
  }
  // By then a box has removed what it takes for left of earlier.
  await setTimeout(testTempo.mqtt.collect + 3 * testTempo.mqtt.poll);
  expect(Object.keys(configs()).toSorted()).toEqual(boxes.toSorted());
});
