/** The site on a real broker. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AuditRecord } from '../../service/contract/console/site.ts';
import { makeCertificate } from '../https/certificates.ts';
import { startBox, untilTogether } from '../peers/support.ts';
import { healthOf, patience, payloadOf } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { isSkipped, listen, startBroker } from './broker.ts';
import { faultsOf, isAvailable } from './home-assistant.ts';

const content = {
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
  playlists: [{ id: 'main', slides: [{ id: 'hello', kind: 'text', title: 'Hello' }] }],
};
const state = { type: 'state', currentSlide: 0, currentSlideId: 'hello', currentSlideTitle: 'Hello' };

/** A display with a name, whose page is open. */
const openDisplay = async (service: TestService, deviceId = 'device-1', name = 'Door') => {
  await service.post('/api/onboarding', { deviceId, screenSlug: 'lobby', clientName: name });
  const page = await joinScreen(service, 'lobby', { deviceId, clientId: `client-${deviceId}` });
  page.send(state);
  return page;
};
const base = 'signage/default';
const display = (what: string, id = 'device-1') => `${base}/display/${id}/${what}`;
const configOf = (component: string, what: string) =>
  `homeassistant/${component}/signage_default/device-1_${what}/config`;

const itBroker = test.skipIf(isSkipped);

itBroker('displays appear in Home Assistant with what they show, and take no orders unless that is on', async () => {
  const broker = await startBroker();
  const service = await startTestService({ content, env: { SIGNAGE_MQTT_URL: broker.url } });
  const page = await openDisplay(service);
  const { kept, until, configs, client } = await listen(broker);
  await until(`${base}/status`, 'online');
  await until(display('slide'), 'Hello');
  expect([kept.get(display('state')), kept.get(display('connected'))]).toEqual(['playing', 'ON']);
  expect(faultsOf(configs())).toEqual([]);
  const box = `${base}/box/${service.nodeId}`;
  expect(Object.keys(configs()).toSorted()).toEqual(
    [
      configOf('binary_sensor', 'connected'),
      `homeassistant/binary_sensor/signage_default/${service.nodeId}_connected/config`,
      configOf('sensor', 'slide'),
      configOf('sensor', 'state'),
    ].toSorted(),
  );
  const slide = configs()[configOf('sensor', 'slide')] ?? {};
  expect(slide).toMatchObject({
    unique_id: 'signage_default_device-1_slide',
    availability_mode: 'all',
    availability: [{ topic: `${base}/status` }, { topic: `${box}/status` }, { topic: display('status') }],
    device: { name: 'Door', via_device: `signage_default_${service.nodeId}` },
  });
  expect(isAvailable(slide, kept)).toBe(true);

  await client.publishAsync(display('next/set'), 'PRESS');
  page.socket.close();
  await until(display('status'), 'offline');
  await until(display('connected'), 'OFF');
  expect(isAvailable(slide, kept)).toBe(false);
  expect(page.messages.filter(({ type }) => type === 'command')).toEqual([]);

  // What is removed is removed from Home Assistant too.
  await service.get('/console/api/devices/device-1', { method: 'DELETE' });
  await expect.poll(() => Object.keys(configs()).length, patience).toBe(1);
  expect([...kept.keys()].filter((topic) => topic.includes('device-1'))).toEqual(
    ['signage/default/display/device-1/next/set'].filter(() => kept.has('signage/default/display/device-1/next/set')),
  );

  await service.close();
  await until(`${base}/status`, 'offline');
});

itBroker('with control on, displays are switched, stepped and given messages, as mqtt in the audit', async () => {
  const broker = await startBroker();
  const env = { SIGNAGE_MQTT_URL: broker.url, SIGNAGE_MQTT_CONTROL: 'on', SIGNAGE_MQTT_PREFIX: 'house/signs' };
  const service = await startTestService({ content, env });
  const page = await openDisplay(service);
  const { kept, until, configs, client } = await listen(broker);
  const own = (what: string) => `house/signs/default/display/device-1/${what}`;
  await until(own('screen'), 'ON');
  expect(faultsOf(configs())).toEqual([]);
  expect(Object.values(configs()).filter(({ command_topic }) => command_topic !== undefined)).toHaveLength(4);
  const commands = () =>
    page.messages.flatMap(({ type, command, blackout }) => (type === 'command' ? [[command, blackout]] : []));

  await client.publishAsync(own('screen/set'), 'OFF');
  await expect.poll(commands, patience).toEqual([['blackout', true]]);
  // The state is what the page tells.
  expect(kept.get(own('screen'))).toBe('ON');
  page.send({ ...state, blackout: true });
  await until(own('screen'), 'OFF');
  expect(kept.get(own('state'))).toBe('black');
  await client.publishAsync(own('screen/set'), 'ON');
  await client.publishAsync(own('next/set'), 'PRESS');
  await client.publishAsync(own('previous/set'), 'PRESS');
  await expect.poll(commands, patience).toEqual([
    ['blackout', true],
    ['blackout', false],
    ['next', undefined],
    ['previous', undefined],
  ]);

  await client.publishAsync(own('notify/set'), 'The bell rings\nDinner is ready.');
  await expect
    .poll(async () => (await payloadOf(service)).slides[0], patience)
    .toMatchObject({
      title: 'The bell rings',
      body: 'Dinner is ready.',
      content: { takeover: { level: 'info' } },
    });
  const audit = async () => {
    const { records } = (await (await service.get('/console/api/audit')).json()) as { records: AuditRecord[] };
    return records.filter(({ operator }) => operator === 'mqtt').map(({ action, target }) => [action, target]);
  };
  await expect
    .poll(audit, patience)
    .toEqual([
      ['takeover.start', expect.stringMatching(/^mqtt-/)],
      ...Array.from({ length: 4 }, () => ['screen.command', 'lobby']),
    ]);
});

itBroker('retained orders, rubbish, large messages and too many of them do nothing', async () => {
  const broker = await startBroker();
  const rubbish = await listen(broker);
  const { client } = rubbish;
  const stale = configOf('switch', 'gone');
  const left = {
    state_topic: display('gone'),
    availability: [{ topic: `${base}/status` }, { topic: display('status', 'gone') }],
  };
  for (const [topic, payload] of [
    [display('screen/set'), 'OFF'],
    [display('notify/set'), 'x'.repeat(2 * 1024 ** 2)],
    [stale, JSON.stringify(left)],
    [display('gone'), 'ON'],
    [configOf('sensor', 'rubbish'), '{"state_topic": 7, "availability": [null'],
    ['homeassistant/status', 'online'],
    [`${base}/status`, 'offline'],
    ['homeassistant/switch/others/thing/config', '{}'],
  ] as const) {
    await client.publishAsync(topic, payload, { retain: true });
  }
  const env = { SIGNAGE_MQTT_URL: broker.url, SIGNAGE_MQTT_CONTROL: 'on' };
  const service = await startTestService({ content, env });
  const page = await openDisplay(service);
  await rubbish.until(display('slide'), 'Hello');
  await rubbish.until(`${base}/status`, 'online');
  await expect
    .poll(
      () => [stale, display('gone'), configOf('sensor', 'rubbish')].filter((topic) => rubbish.kept.has(topic)),
      patience,
    )
    .toEqual([]);
  expect(rubbish.kept.has('homeassistant/switch/others/thing/config')).toBe(true);
  expect(rubbish.kept.get(`${base}/status`)).toBe('online');

  const commands = () => page.messages.filter(({ type }) => type === 'command');
  expect(commands()).toEqual([]);
  await client.publishAsync(display('screen/set'), 'MAYBE');
  await client.publishAsync(display('next/set'), 'x'.repeat(5_000));
  await client.publishAsync(display('dance/set'), 'PRESS');
  await client.publishAsync(display('next/set', 'device-2'), 'PRESS');
  await client.publishAsync(display('next/set'), 'x'.repeat(3 * 1024 ** 2));
  for (let count = 0; count < 30; count++) await client.publishAsync(display('next/set'), 'PRESS');
  await expect.poll(() => commands().length, patience).toBeGreaterThan(2);
  expect(commands().length).toBeLessThanOrEqual(5);
  expect((await healthOf(service)).status).toBe('ok');

  // Home Assistant was restarted.
  const before = rubbish.heard.filter(([topic]) => topic === configOf('sensor', 'slide')).length;
  await client.publishAsync('homeassistant/status', 'online');
  await expect
    .poll(() => rubbish.heard.filter(([topic]) => topic === configOf('sensor', 'slide')).length, patience)
    .toBe(before + 1);
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
  const broker = await startBroker({ user, tls: files });
  const trusting = await startTestService({
    content,
    env: { SIGNAGE_MQTT_URL: broker.url, SIGNAGE_CA_FILE: roots },
  });
  const { until } = await listen(broker, { rejectUnauthorized: false });
  await until(`${base}/status`, 'online');

  const doubting = await startTestService({ content, env: { SIGNAGE_MQTT_URL: broker.url, SIGNAGE_SITE: 'other' } });
  await expect
    .poll(async () => (await healthOf(doubting)).warnings.join(), patience)
    .toMatch(/The MQTT broker at 127\.0\.0\.1:\d+ does not answer \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)\./);
  const stranger = await startTestService({
    content,
    env: {
      SIGNAGE_MQTT_URL: broker.url.replace(/:[^:@]+@/, ':wrong@'),
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
  const broker = await startBroker();
  const service = await startTestService({
    content,
    env: { SIGNAGE_MQTT_URL: broker.url },
    wall: () => Date.now() + offset,
  });
  const page = await openDisplay(service);
  const { until } = await listen(broker);
  await until(display('slide'), 'Hello');
  await broker.stop();
  await expect.poll(async () => (await healthOf(service)).warnings.join(), patience).toContain('The MQTT broker');
  for (let minute = 0; minute < 60; minute++) {
    offset += 60_000;
    page.send({ ...state, currentSlideTitle: `Minute ${minute}` });
    if (minute % 20 === 19) await service.get('/healthz');
  }
  await broker.start();
  const after = await listen(broker);
  await after.until(display('slide'), 'Minute 59');
  await after.until(`${base}/status`, 'online');
  expect(after.heard.filter(([topic]) => topic === display('slide')).map(([, payload]) => payload)).not.toContain(
    'Minute 30',
  );
  expect((await healthOf(service)).warnings.join()).not.toContain('MQTT');
});

itBroker('of two boxes the one with the smaller id publishes, and the other follows', async () => {
  const broker = await startBroker();
  const env = { SIGNAGE_MQTT_URL: broker.url };
  const first = await startBox([], { content, env });
  const second = await startBox([first], { content: undefined, env });
  await untilTogether([first, second]);
  const [small, great] = first.nodeId < second.nodeId ? [first, second] : [second, first];
  await openDisplay(great);
  const { kept, until, configs } = await listen(broker);
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

itBroker('a hundred displays are published, and each change alone after that', async () => {
  const broker = await startBroker();
  const service = await startTestService({
    content,
    env: { SIGNAGE_MQTT_URL: broker.url, SIGNAGE_MQTT_CONTROL: 'on' },
  });
  for (let number = 0; number < 100; number++) {
    await service.post('/api/onboarding', {
      deviceId: `device-${number}`,
      screenSlug: 'lobby',
      clientName: `Display ${number}`,
    });
  }
  const { heard, until, configs } = await listen(broker);
  await expect.poll(() => Object.keys(configs()).length, patience).toBe(1 + 100 * 7);
  expect(faultsOf(configs())).toEqual([]);
  expect(new Set(Object.values(configs()).map(({ unique_id }) => unique_id)).size).toBe(701);
  const before = heard.length;
  await openDisplay(service, 'device-7', 'Display 7');
  await until(display('slide', 'device-7'), 'Hello');
  expect(heard.length - before).toBeLessThan(30);
});

test('nothing of MQTT is loaded where it is not set, and a bad address stops the start', async () => {
  await expect(
    startTestService({ content, env: { SIGNAGE_MQTT_URL: 'http://user:secret-word@broker' } }),
  ).rejects.toThrow('SIGNAGE_MQTT_URL: the value given is not valid; expected an mqtt or mqtts URL');
  await expect(startTestService({ content, env: { SIGNAGE_MQTT_PREFIX: 'a/#' } })).rejects.toThrow(
    'SIGNAGE_MQTT_PREFIX',
  );
  await expect(startTestService({ content, env: { SIGNAGE_MQTT_CONTROL: 'yes' } })).rejects.toThrow('on or off');
});
