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
  /** The box of the display; null: it knows of none. */
  at: 'a' | 'b' | null;
  /** How often it was asked for. */
  asked: number;
}

const overviewOf = ({ isThere, at }: View) => {
  const connection = { id: 'c', deviceId: 'door', page: '/screen/lobby', currentSlideTitle: 'Hello' };
  const device = { deviceId: 'door', clientName: 'Door', nodeId: at, state: at && isThere[at] ? 'playing' : 'away' };
  const boxOf = (nodeId: 'a' | 'b') => ({
    ...{ nodeId, name: nodeId, url: `http://${nodeId}`, version: '1' },
    status: isThere[nodeId] ? 'alive' : 'away',
  });
  return {
    boxes: [boxOf('a'), boxOf('b')],
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
      options: { mqttUrl, mqttPrefix: 'signage', mqttControl: false, site: 'two' },
      ...{ ids: { nodeId }, tempo: testTempo, monotonicNow, outbound: { roots: null } },
      logs: () => pino({ level: 'silent' }),
    } as unknown as ServiceContext,
    {
      box: {
        overview: () => {
          view.asked += 1;
          return Promise.resolve(overviewOf(view));
        },
        kiosks: () => new Set(),
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
  onTestFinished(async () => void (await mqtt.close?.()));
  void mqtt.start?.({} as never);
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
    lost.isThere = { a: false, b: true };
    await until('signage/two/box/a/status', 'offline');
    await expect.poll(() => kept.has(config), patience).toBe(false);
    lost.isThere = both;
    await until('signage/two/box/a/status', 'online');
    await until(display('slide'), 'Hello');
    await until(display('status'), 'online');
    await expect.poll(() => kept.get(config), patience).toContain('Door');
    await until('signage/two/status', 'online');
    // Not even for a moment: all entities would be unavailable.
    expect(heard).not.toContainEqual(['signage/two/status', 'offline']);
  },
);

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
