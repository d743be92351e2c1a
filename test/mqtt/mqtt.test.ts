/** The site on a real broker. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectAsync } from 'mqtt';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AuditRecord } from '../../service/contract/console/site.ts';
import type { ServiceContext } from '../../service/module.ts';
import { connectBroker } from '../../service/mqtt/broker.ts';
import { displaysOf } from '../../service/mqtt/entities.ts';
import { makeCertificate } from '../https/certificates.ts';
import { startBox, untilTogether } from '../peers/support.ts';
import { startHeadless } from '../platform/options/process.ts';
import { healthOf, patience, payloadOf } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { type OnEnd, startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { testTempo } from '../support/tempo.ts';
import { isSkipped, listen, startBroker, startDeaf, startMiddle, type TestBroker } from './broker.ts';
import { faultsOf, isAvailable } from './home-assistant.ts';

const content = {
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
  playlists: [{ id: 'main', slides: [{ id: 'hello', kind: 'text', title: 'Hello' }] }],
};
const state = { type: 'state', currentSlide: 0, currentSlideId: 'hello', currentSlideTitle: 'Hello' };

/** Of what the tests of a group share. */
const ends: (() => void | Promise<void>)[] = [];
const whenDone: OnEnd = (end) => void ends.unshift(end);
afterAll(async () => {
  for (const end of ends) await end();
});
/** One for all sites, but where it is stopped, or asks who is there. */
let broker: TestBroker;
beforeAll(async () => {
  if (!isSkipped) broker = await startBroker({}, whenDone);
});

/** A display with a name, whose page is open. */
const openDisplay = async (service: TestService, deviceId = 'device-1', name = 'Door', onEnd?: OnEnd) => {
  // A box that has just joined may not have the content yet.
  const bound = { deviceId, screenSlug: 'lobby', clientName: name };
  await vi.waitUntil(async () => (await service.post('/api/onboarding', bound)).ok, patience);
  const hello = { deviceId, clientId: `client-${deviceId}` };
  const page = await joinScreen(service, 'lobby', hello, onEnd && { onEnd });
  page.send(state);
  return page;
};
/** The topics of a site. */
const topicsOf = (site: string, prefix = 'signage') => ({
  base: `${prefix}/${site}`,
  display: (what: string, id = 'device-1') => `${prefix}/${site}/display/${id}/${what}`,
  configOf: (component: string, what: string, id = 'device-1') =>
    `homeassistant/${component}/signage_${site}/${id}_${what}/config`,
});

const itBroker = test.skipIf(isSkipped);

itBroker('displays appear in Home Assistant with what they show, and take no orders unless that is on', async () => {
  const middle = await startMiddle(broker);
  const env = { SIGNAGE_MQTT_URL: middle.url, SIGNAGE_SITE: 'read' };
  const { base, display, configOf } = topicsOf('read');
  const service = await startTestService({ content, env });
  const page = await openDisplay(service);
  const { kept, heard, until, configs, client } = await listen(broker, 'read');
  await until(`${base}/status`, 'online');
  await until(display('slide'), 'Hello');
  expect([kept.get(display('state')), kept.get(display('connected'))]).toEqual(['playing', 'ON']);
  expect(faultsOf(configs())).toEqual([]);
  const box = `${base}/box/${service.nodeId}`;
  expect(Object.keys(configs()).toSorted()).toEqual(
    [
      configOf('binary_sensor', 'connected'),
      `homeassistant/binary_sensor/signage_read/${service.nodeId}_connected/config`,
      configOf('sensor', 'slide'),
      configOf('sensor', 'state'),
    ].toSorted(),
  );
  const slide = configs()[configOf('sensor', 'slide')] ?? {};
  expect(slide).toMatchObject({
    unique_id: 'signage_read_device-1_slide',
    availability_mode: 'all',
    availability: [{ topic: `${base}/status` }, { topic: `${box}/status` }, { topic: display('status') }],
    device: { name: 'Door', via_device: `signage_read_${service.nodeId}` },
  });
  expect(isAvailable(slide, kept)).toBe(true);

  await client.publishAsync(display('next/set'), 'PRESS');
  // Nor from who speaks for the broker; what follows comes after it.
  const told = () => heard.filter(([topic]) => topic === configOf('sensor', 'slide')).length;
  const before = told();
  middle.inject(display('next/set'), 'PRESS');
  middle.inject('homeassistant/status', 'online');
  await expect.poll(told, patience).toBeGreaterThan(before);
  page.socket.close();
  await until(display('status'), 'offline');
  await until(display('connected'), 'OFF');
  expect(isAvailable(slide, kept)).toBe(false);
  expect(page.messages.filter(({ type }) => type === 'command')).toEqual([]);

  // What is removed is removed from Home Assistant too.
  await service.get('/console/api/devices/device-1', { method: 'DELETE' });
  await expect.poll(() => Object.keys(configs()).length, patience).toBe(1);
  expect([...kept.keys()].filter((topic) => topic.includes('device-1'))).toEqual([display('next/set')]);

  await service.close();
  await until(`${base}/status`, 'offline');
});

// The first case is about what the broker had before all orders of the others.
describe.skipIf(isSkipped)('with control on', { shuffle: false }, () => {
  const { base, display, configOf } = topicsOf('house', 'a/b');
  let service: TestService;
  let page: Awaited<ReturnType<typeof openDisplay>>;
  /** Levels that the hardware was set to; it has a step of its own. */
  const levels: unknown[] = [];
  const photographed: string[] = [];
  const gone = 'gone';
  beforeAll(async () => {
    const client = await connectAsync(broker.url);
    whenDone(() => client.endAsync(true));
    const left = {
      state_topic: display('state', gone),
      image_topic: display('picture', gone),
      availability: [{ topic: `${base}/status` }, { topic: display('status', gone) }],
    };
    for (const [topic, payload] of [
      [display('screen/set'), 'OFF'],
      [display('notify/set'), 'x'.repeat(2 * 1024 ** 2)],
      [configOf('switch', 'screen', gone), JSON.stringify(left)],
      [display('state', gone), 'ON'],
      [display('picture', gone), 'a picture of earlier'],
      [configOf('sensor', 'rubbish'), '{"state_topic": 7, "availability": [null'],
      ['homeassistant/status', 'online'],
      [`${base}/status`, 'offline'],
      ['homeassistant/switch/others/house/thing/config', '{}'],
    ] as const) {
      await client.publishAsync(topic, payload, { retain: true });
    }
    service = await startTestService(
      {
        content,
        env: {
          SIGNAGE_MQTT_URL: broker.url,
          SIGNAGE_MQTT_CONTROL: 'on',
          SIGNAGE_MQTT_PREFIX: 'a/b',
          SIGNAGE_SITE: 'house',
        },
        host: {
          kiosk: () => ({ screens: [{ deviceId: 'device-1' }, { deviceId: 'device-2' }] }) as never,
          capture: (deviceId) => {
            photographed.push(deviceId);
            return Promise.resolve(Buffer.from(`picture of ${deviceId}`));
          },
          operate: ({ value }) => {
            levels.push(value);
            return Promise.resolve({ result: 'done', state: Number(value) - 2, message: 'The volume is set.' });
          },
        },
      },
      whenDone,
    );
    page = await openDisplay(service, 'device-1', 'Door', whenDone);
  });
  const commands = () =>
    page.messages.flatMap(({ type, command, blackout }) => (type === 'command' ? [[command, blackout]] : []));
  const auditOf = async (action: string) => {
    const { records } = (await (await service.get('/console/api/audit')).json()) as { records: AuditRecord[] };
    return records.filter((each) => each.operator === 'mqtt' && each.action === action).map(({ target }) => target);
  };

  test('retained orders and rubbish do nothing, and what is left of earlier is removed', async () => {
    const { kept, until, configs } = await listen(broker, 'house');
    await until(display('slide'), 'Hello');
    await until(`${base}/status`, 'online');
    const rubbish = [configOf('switch', 'screen', gone), display('state', gone), display('picture', gone)];
    await expect
      .poll(() => [...rubbish, configOf('sensor', 'rubbish')].filter((topic) => kept.has(topic)), patience)
      .toEqual([]);
    expect(kept.has('homeassistant/switch/others/house/thing/config')).toBe(true);
    expect(kept.get(`${base}/status`)).toBe('online');
    expect(commands()).toEqual([]);
    const own = Object.entries(configs()).filter(([topic]) => topic.includes('signage_house'));
    expect(faultsOf(Object.fromEntries(own))).toEqual([]);
    expect(own.filter(([, { command_topic }]) => command_topic !== undefined)).toHaveLength(5);
  });

  test('displays are switched, stepped and given messages, as mqtt in the audit', async () => {
    const { kept, until, client } = await listen(broker, 'house');
    await until(display('screen'), 'ON');
    await client.publishAsync(display('screen/set'), 'OFF');
    await expect.poll(commands, patience).toEqual([['blackout', true]]);
    // The state is what the page tells.
    expect(kept.get(display('screen'))).toBe('ON');
    page.send({ ...state, blackout: true });
    await until(display('screen'), 'OFF');
    await until(display('state'), 'black');
    await client.publishAsync(display('screen/set'), 'ON');
    await client.publishAsync(display('next/set'), 'PRESS');
    await client.publishAsync(display('previous/set'), 'PRESS');
    await expect.poll(commands, patience).toEqual([
      ['blackout', true],
      ['blackout', false],
      ['next', undefined],
      ['previous', undefined],
    ]);
    page.send(state);

    await client.publishAsync(display('notify/set'), 'The bell rings\nDinner is ready.');
    await expect
      .poll(async () => (await payloadOf(service)).slides[0], patience)
      .toMatchObject({
        title: 'The bell rings',
        body: 'Dinner is ready.',
        content: { takeover: { level: 'info' } },
      });
    await expect.poll(() => auditOf('takeover.start'), patience).toEqual([expect.stringMatching(/^mqtt-/)]);
    expect(await auditOf('screen.command')).toEqual(Array.from({ length: 4 }, () => 'lobby'));
  });

  test('the volume is what the hardware told', async () => {
    const [volume, order] = [display('volume', 'device-2'), display('volume/set', 'device-2')];
    const { kept, until, client } = await listen(broker, 'house');
    await openDisplay(service, 'device-2', 'Window');
    await until(display('connected', 'device-2'), 'ON');
    expect(kept.has(volume)).toBe(false);
    await client.publishAsync(order, '40');
    await until(volume, '38');
    for (const refused of ['', 'loud', '-1', '101']) await client.publishAsync(order, refused);
    await expect.poll(() => service.log().match(/an order over MQTT was refused/g)?.length ?? 0, patience).toBe(4);
    expect(levels).toEqual([40]);
    expect(await auditOf('box.action')).toContain(service.nodeId);
    expect(kept.get(volume)).toBe('38');
    // Whoever sets it.
    await service.get(`/console/api/boxes/${service.nodeId}/actions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ action: 'volume', value: 60 }),
    });
    await until(volume, '58');
  });

  test('a display is photographed once in a minute, and its picture stays while Home Assistant starts again', async () => {
    const { heard, kept, until, client } = await listen(broker, 'house');
    await until(display('picture'), 'picture of device-1');
    const told = (topic: string) => heard.filter(([each]) => each === topic).length;
    const config = configOf('image', 'picture');
    const before = told(config);
    await client.publishAsync('homeassistant/status', 'online');
    await expect.poll(() => told(config), patience).toBe(before + 1);
    await until(`${base}/status`, 'online');
    // What follows on a change comes after everything that the restart led to.
    page.send({ ...state, currentSlideTitle: 'Later' });
    await until(display('slide'), 'Later');
    expect([told(display('picture')), kept.get(display('picture'))]).toEqual([1, 'picture of device-1']);
    expect(photographed.filter((each) => each === 'device-1')).toHaveLength(1);
  });

  test('other orders, large messages and too many of them do nothing', async () => {
    const { client, until } = await listen(broker, 'house');
    const { messages } = await openDisplay(service, 'device-3', 'Yard');
    const sent = () => messages.filter(({ type }) => type === 'command').length;
    const [next, screen] = [display('next/set', 'device-3'), display('screen/set', 'device-3')];
    await until(display('connected', 'device-3'), 'ON');
    await client.publishAsync(screen, 'MAYBE');
    await client.publishAsync(next, 'x'.repeat(5_000));
    await client.publishAsync(display('dance/set', 'device-3'), 'PRESS');
    await client.publishAsync(display('next/set', 'device-9'), 'PRESS');
    await client.publishAsync(next, 'x'.repeat(3 * 1024 ** 2));
    for (let count = 0; count < 30; count++) await client.publishAsync(next, 'PRESS');
    await expect.poll(sent, patience).toBeGreaterThan(2);
    expect(sent()).toBeLessThanOrEqual(5);
    expect(service.log()).not.toContain('an order over MQTT has failed');
    // Of the three MiB nothing but the size is kept.
    expect(service.log()).toMatch(/"bytes":31457\d\d.*a message of the broker is too large/);
  });

  test('a display that is removed takes its picture with it', async () => {
    const { kept, until, configs } = await listen(broker, 'house');
    await until(display('picture'), 'picture of device-1');
    expect(configs()[configOf('image', 'picture', 'device-3')]).toBeUndefined();
    page.socket.close();
    await until(display('status'), 'offline');
    await service.get('/console/api/devices/device-1', { method: 'DELETE' });
    const own = () => [...kept.keys()].filter((topic) => topic.includes('device-1') && !topic.endsWith('/set'));
    await expect.poll(own, patience).toEqual([]);
  });
});

itBroker('a broker that wants TLS and a password is verified, and its password stands nowhere', async () => {
  const folder = temporaryFolder();
  const root = await makeCertificate('root');
  const leaf = await makeCertificate('broker', root);
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const roots = join(folder, 'roots.pem');
  for (const [path, pem] of [
    [files.cert, leaf.cert],
    [files.key, leaf.key],
    [roots, root.cert],
  ] as const)
    writeFileSync(path, pem);
  const user = { name: 'signage', password: 'a-marker/of a password' };
  const own = await startBroker({ user, tls: files });
  const trusting = await startTestService({
    content,
    env: { SIGNAGE_MQTT_URL: own.url, SIGNAGE_CA_FILE: roots, SIGNAGE_SITE: 'Hall 2.Ost' },
  });
  const { until } = await listen(own, 'Hall 2.Ost', { rejectUnauthorized: false });
  await until('signage/Hall 2.Ost/status', 'online');

  const doubting = await startTestService({ content, env: { SIGNAGE_MQTT_URL: own.url, SIGNAGE_SITE: 'other' } });
  await expect
    .poll(async () => (await healthOf(doubting)).warnings.join(), patience)
    .toMatch(/The MQTT broker at 127\.0\.0\.1:\d+ does not answer \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)\./);
  const stranger = await startTestService({
    content,
    env: {
      SIGNAGE_MQTT_URL: own.url.replace(/:[^:@]+@/, ':wrong@'),
      SIGNAGE_CA_FILE: roots,
      SIGNAGE_SITE: 'third',
    },
  });
  await expect
    .poll(async () => (await healthOf(stranger)).warnings.join(), patience)
    .toContain('refuses user or password');
  const everything =
    [trusting, doubting].map((service) => service.log()).join() + JSON.stringify(await healthOf(doubting));
  for (const marker of [user.password, encodeURIComponent(user.password)]) expect(everything).not.toContain(marker);
});

itBroker('after an hour without the broker the site is published as it is then', async () => {
  let offset = 0;
  const own = await startBroker();
  const { base, display } = topicsOf('default');
  const service = await startTestService({
    content,
    env: { SIGNAGE_MQTT_URL: own.url },
    wall: () => Date.now() + offset,
  });
  const page = await openDisplay(service);
  const { until } = await listen(own);
  await until(display('slide'), 'Hello');
  await own.stop();
  await expect.poll(async () => (await healthOf(service)).warnings.join(), patience).toContain('The MQTT broker');
  for (let minute = 0; minute < 60; minute++) {
    offset += 60_000;
    page.send({ ...state, currentSlideTitle: `Minute ${minute}` });
    if (minute % 20 === 19) await service.get('/healthz');
  }
  await own.start();
  const after = await listen(own);
  await after.until(display('slide'), 'Minute 59');
  await after.until(`${base}/status`, 'online');
  expect(after.heard.filter(([topic]) => topic === display('slide')).map(([, payload]) => payload)).not.toContain(
    'Minute 30',
  );
  expect((await healthOf(service)).warnings.join()).not.toContain('MQTT');
});

itBroker('of two boxes the one with the smaller id publishes, and the other follows', async () => {
  const env = { SIGNAGE_MQTT_URL: broker.url, SIGNAGE_SITE: 'two' };
  const { base, display, configOf } = topicsOf('two');
  const first = await startBox([], { content, env });
  const second = await startBox([first], { content: undefined, env });
  await untilTogether([first, second]);
  const [small, great] = first.nodeId < second.nodeId ? [first, second] : [second, first];
  await openDisplay(great);
  const { kept, until, configs } = await listen(broker, 'two');
  await until(`${base}/box/${great.nodeId}/status`, 'online');
  await until(`${base}/box/${small.nodeId}/status`, 'online');
  const connected = (box: TestService) => box.log().match(/connected to the broker/g)?.length ?? 0;
  await until(display('slide'), 'Hello');
  const published = connected(small);
  expect(published).toBeGreaterThan(0);
  await small.close();
  await until(`${base}/box/${small.nodeId}/status`, 'offline');
  await until(`${base}/status`, 'online');
  expect(connected(great)).toBeGreaterThan(0);
  expect(isAvailable(configs()[configOf('sensor', 'slide')] ?? {}, kept)).toBe(true);
});

itBroker('the volume of a box that starts again stays', async () => {
  const env = { SIGNAGE_MQTT_URL: broker.url, SIGNAGE_MQTT_CONTROL: 'on', SIGNAGE_SITE: 'again' };
  const host: NonNullable<Parameters<typeof startTestService>[0]>['host'] = {
    kiosk: () => ({ screens: [{ deviceId: 'device-1' }] }) as never,
    operate: () => Promise.resolve({ result: 'done', state: 58, message: 'The volume is set.' }),
  };
  const { base, display } = topicsOf('again');
  const first = await startBox([], { content, env });
  const dataDir = temporaryFolder();
  // It leaves the broker to the first one.
  const other = { dataDir, content: undefined, env: { ...env, SIGNAGE_MQTT_URL: '' }, host };
  const second = await startBox([first], other);
  const { heard, kept, until } = await listen(broker, 'again');
  await until(`${base}/box/${second.nodeId}/status`, 'online');
  await openDisplay(second);
  await until(display('connected'), 'ON');
  const setting = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ action: 'volume', value: 60 }),
  };
  await second.get(`/console/api/boxes/${second.nodeId}/actions`, setting);
  await until(display('volume'), '58');
  await second.close();
  await until(`${base}/box/${second.nodeId}/status`, 'offline');
  await openDisplay(await startBox([first], other), 'device-1', 'Gate');
  await until(`${base}/box/${second.nodeId}/status`, 'online');
  await until(display('connected'), 'ON');
  expect(kept.get(display('volume'))).toBe('58');
  expect(heard.filter(([topic]) => topic === display('volume')).map(([, payload]) => payload)).toEqual(['58']);
});

itBroker('a box that is killed is offline at the broker, by its last will', async () => {
  const dataDir = temporaryFolder();
  const env = { SIGNAGE_DATA_DIR: dataDir, SIGNAGE_DISCOVERY: 'off', SIGNAGE_MQTT_URL: broker.url };
  const { child, ended } = startHeadless({ ...env, SIGNAGE_SITE: 'killed' });
  const { base } = topicsOf('killed');
  const { until } = await listen(broker, 'killed');
  await until(`${base}/status`, 'online');
  child.kill('SIGKILL');
  expect(await ended).toBe('SIGKILL');
  await until(`${base}/status`, 'offline');
});

itBroker('a hundred displays are published, and each change alone after that', async () => {
  const { display } = topicsOf('hundred');
  const service = await startTestService({
    content,
    env: { SIGNAGE_MQTT_URL: broker.url, SIGNAGE_MQTT_CONTROL: 'on', SIGNAGE_SITE: 'hundred' },
  });
  for (let number = 0; number < 100; number++) {
    await service.post('/api/onboarding', {
      deviceId: `device-${number}`,
      screenSlug: 'lobby',
      clientName: `Display ${number}`,
    });
  }
  const { heard, until, configs } = await listen(broker, 'hundred');
  await expect.poll(() => Object.keys(configs()).length, patience).toBe(1 + 100 * 7);
  expect(faultsOf(configs())).toEqual([]);
  expect(new Set(Object.values(configs()).map(({ unique_id }) => unique_id)).size).toBe(701);
  const before = heard.length;
  await openDisplay(service, 'device-7', 'Display 7');
  await until(display('slide', 'device-7'), 'Hello');
  expect(heard.length - before).toBeLessThan(30);
});

const connectTo = (url: string) => {
  const line = connectBroker(
    {
      tempo: testTempo,
      outbound: { roots: null } as ServiceContext['outbound'],
      logs: () => pino({ level: 'silent' }),
    },
    {
      ...{ url: new URL(url), clientId: 'box', will: { topic: 'status', payload: 'offline' } },
      ...{ subscriptions: [], onMessage: () => undefined, onConnect: () => undefined },
    },
  );
  onTestFinished(() => line.close());
  return line;
};

test('a display whose page was led to another screen is connected, and gets its orders there', () => {
  const page = { id: 'c1', deviceId: 'd1', page: '/screen/cafe', blackout: false };
  const [lobby, cafe] = ['lobby', 'cafe'].map((slug) => ({
    screen: { slug, name: slug },
    devices: [],
    connections: [],
  }));
  const device = { deviceId: 'd1', clientName: 'Door', nodeId: 'n', state: 'playing' };
  const screens = [
    { ...lobby, devices: [device] },
    { ...cafe, connections: [page] },
  ];
  expect(displaysOf({ screens } as never)).toMatchObject([{ name: 'Door', slug: 'cafe', connection: page }]);
});

test('a broker that does not read is not ready, until it does', async () => {
  const deaf = await startDeaf();
  const line = connectTo(deaf.url);
  await expect.poll(line.isReady, patience).toBe(true);
  // More than the system takes for a reader to come.
  for (let count = 0; count < 16; count += 1) line.publish('a', Buffer.alloc(1024 ** 2));
  expect([line.isReady(), line.reason()]).toEqual([false, null]);
  deaf.read();
  await expect.poll(line.isReady, patience).toBe(true);
});

test('a broker that does not read does not hold up the end', async () => {
  const line = connectTo((await startDeaf()).url);
  await expect.poll(line.isReady, patience).toBe(true);
  line.publish('a', Buffer.alloc(16 * 1024 ** 2));
  await line.close({ topic: 'status', payload: 'offline', isRetained: true });
});

test('a bad address stops the start', async () => {
  await expect(
    startTestService({ content, env: { SIGNAGE_MQTT_URL: 'http://user:secret-word@broker' } }),
  ).rejects.toThrow('SIGNAGE_MQTT_URL: the value given is not valid; expected an mqtt or mqtts URL');
  await expect(startTestService({ content, env: { SIGNAGE_MQTT_PREFIX: 'a/#' } })).rejects.toThrow(
    'SIGNAGE_MQTT_PREFIX',
  );
  await expect(startTestService({ content, env: { SIGNAGE_MQTT_CONTROL: 'yes' } })).rejects.toThrow('on or off');
});
