/** The site at a glance, over HTTP. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createSite } from '../../service/console/site.ts';
import type { SiteOverview } from '../../service/contract/console/site.ts';
import type { PeerSite } from '../../service/contract/peers.ts';
import { openLanding } from '../devices/support.ts';
import { startBox, untilTogether } from '../peers/support.ts';
import { healthOf, patience } from '../support/observe.ts';
import { createOperator, secretModes, secretSettings } from '../support/operator.ts';
import { joinScreen, protocolsOf } from '../support/page.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { testTempo } from '../support/tempo.ts';

const slides = [
  { id: 'one', kind: 'text', title: 'One', duration_seconds: 0.2 },
  { id: 'two', kind: 'text', title: 'Two', duration_seconds: 0.2 },
];
/** One minute a week. */
const hours = [{ days: [1], open: '03:00', close: '03:01' }];
const content = {
  screens: [
    { name: 'Lobby', slug: 'lobby', playlist_id: 'welcome', tags: ['public'] },
    { name: 'Café', slug: 'cafe', playlist_id: 'welcome', hours },
    { name: 'Gate', slug: 'gate', playlist_id: 'alone' },
  ],
  playlists: [
    { id: 'welcome', slides },
    { id: 'alone', slides: [slides[0]] },
  ],
};

const overviewOf = async (box: TestService, secret: string | null = null): Promise<SiteOverview> =>
  (await (await createOperator(box, secret)('GET', '/console/api/site')).json()) as SiteOverview;

/** The expected devices of a screen: id and state. */
const statesOf = async (box: TestService, slug: string, secret: string | null = null) => {
  const { screens } = await overviewOf(box, secret);
  const { devices = [] } = screens.find(({ screen }) => screen.slug === slug) ?? {};
  return Object.fromEntries(devices.map(({ deviceId, state }) => [deviceId, state]));
};

const joinAs = async (box: TestService, slug: string, deviceId: string, secret: string | null = null) =>
  joinScreen(box, slug, { deviceId, clientId: deviceId }, { protocols: await protocolsOf(box, slug, secret) });

const bindTo = async (box: TestService, deviceId: string, screenSlug: string, secret: string | null = null) => {
  const body = { deviceId, clientName: `Name of ${deviceId}`, screenSlug };
  expect((await createOperator(box, secret)('POST', '/api/onboarding', body)).status).toBe(200);
};

describe.each(secretModes)('%s', (_, secret) => {
  test('a box shows itself, its screens with what is connected to them, and the content that plays', async () => {
    const service = await startTestService({ content, env: { ...secretSettings(secret), SIGNAGE_SITE: 'Vienna' } });
    await bindTo(service, 'd1', 'lobby', secret);
    const page = await joinAs(service, 'lobby', 'd1', secret);
    const overview = await overviewOf(service, secret);
    const { sha256, changedAt } = (await (
      await createOperator(service, secret)('GET', '/console/api/content')
    ).json()) as {
      sha256: string;
      changedAt: string;
    };
    const [lobby, ...others] = overview.screens;
    expect(Math.abs(Date.parse(overview.now ?? '') - Date.now())).toBeLessThan(60_000);
    expect(overview).toMatchObject({
      site: 'Vienna',
      content: { sha256, changedAt, status: 'ok' },
      boxes: [{ nodeId: overview.nodeId, status: 'here', url: service.url, lastSeenAt: expect.any(String) }],
      takeovers: [],
      degraded: false,
    });
    expect(lobby).toMatchObject({
      screen: { name: 'Lobby', slug: 'lobby', playlist_id: 'welcome' },
      tags: ['public'],
      devices: [{ deviceId: 'd1', clientName: 'Name of d1', nodeId: overview.nodeId, state: 'playing' }],
      connections: [{ id: page.connectionId, deviceId: 'd1', label: 'Name of d1' }],
    });
    expect(lobby?.devices[0]?.lastSeenAt).toBe(lobby?.connections[0]?.lastSeenAt);
    expect(others.map(({ tags, devices, connections }) => [tags, devices, connections])).toEqual([
      [[], [], []],
      [[], [], []],
    ]);
    const stranger = await createOperator(service, null)('GET', '/console/api/site');
    expect(stranger.status).toBe(secret === null ? 200 : 401);
  });
});

test.each(secretModes)(
  'a device is never seen, playing, closed outside its hours, or away, and is away still after a restart, %s',
  async (_, secret) => {
    const dataDir = temporaryFolder();
    const env = secretSettings(secret);
    const service = await startTestService({ content, dataDir, env });
    for (const deviceId of ['new', 'left']) await bindTo(service, deviceId, 'lobby', secret);
    for (const deviceId of ['dark', 'new-too']) await bindTo(service, deviceId, 'cafe', secret);
    const page = await joinAs(service, 'lobby', 'left', secret);
    await joinAs(service, 'cafe', 'dark', secret);
    expect(await statesOf(service, 'lobby', secret)).toEqual({ left: 'playing', new: 'never' });
    expect(await statesOf(service, 'cafe', secret)).toEqual({ dark: 'closed', 'new-too': 'never' });

    page.socket.close();
    await expect.poll(() => statesOf(service, 'lobby', secret), patience).toEqual({ left: 'away', new: 'never' });
    await service.close();
    const again = await startTestService({ dataDir, env });
    expect(await statesOf(again, 'lobby', secret)).toEqual({ left: 'away', new: 'never' });
    expect(await statesOf(again, 'cafe', secret)).toEqual({ dark: 'closed', 'new-too': 'never' });
  },
);

test.each(secretModes)(
  'a page is stuck whose slide stays for three of its lengths, or that reports faults alone, %s',
  async (_, secret) => {
    const service = await startTestService({ content, env: secretSettings(secret) });
    for (const deviceId of ['slow', 'paused', 'faulty']) await bindTo(service, deviceId, 'lobby', secret);
    await bindTo(service, 'alone', 'gate', secret);
    // What stands in the file may have been edited just now.
    const pages = {
      slow: await joinAs(service, 'lobby', 'slow', secret),
      paused: await joinAs(service, 'lobby', 'paused', secret),
      faulty: await joinAs(service, 'lobby', 'faulty', secret),
      alone: await joinAs(service, 'gate', 'alone', secret),
    };
    const show = (page: { send(message: unknown): void }, currentSlideId: string, more: object = {}): void =>
      page.send({ type: 'state', currentSlide: 0, currentSlideId, currentSlideTitle: 'One', ...more });
    show(pages.slow, 'one');
    show(pages.alone, 'one');
    show(pages.paused, 'one', { paused: true });
    pages.faulty.send({ type: 'fault', slideId: 'one', reason: 'the file is gone' });
    await expect
      .poll(() => statesOf(service, 'lobby', secret), patience)
      .toEqual({ slow: 'stuck', paused: 'playing', faulty: 'stuck' });
    expect(await statesOf(service, 'gate', secret)).toEqual({ alone: 'playing' });

    show(pages.slow, 'two');
    show(pages.faulty, 'two');
    const before = Date.now();
    await expect
      .poll(async () => Object.values(await statesOf(service, 'lobby', secret)), { ...patience, interval: 5 })
      .toContain('playing');
    expect(Date.now() - before).toBeLessThan(10_000);
  },
);

test('a display that somebody has switched off is told, and is not stuck though its page stands still', async () => {
  let off: true | undefined = true;
  const named = { display: 'Samsung (HDMI-A-1)', number: 2 };
  const host = { kiosk: () => ({ screens: [{ deviceId: 'shop-1', off, ...(off && named) }] }) as never };
  const service = await startTestService({ content, host });
  const page = await joinAs(service, 'lobby', 'shop-1');
  page.send({ type: 'fault', slideId: 'one', reason: 'the file is gone' });
  const device = async () => (await overviewOf(service)).screens[0]?.devices[0];
  const names = ['Samsung (HDMI-A-1)', '2'];
  await expect.poll(device, patience).toMatchObject({ deviceId: 'shop-1', state: 'playing', off: true, names });
  off = undefined;
  await expect.poll(device, patience).toMatchObject({ state: 'stuck' });
  expect(await device()).not.toHaveProperty('off');
  expect(await device()).not.toHaveProperty('names');
});

test('a display whose screen config.json sets stays while its page is gone, until it waits to be bound', async () => {
  const host = { kiosk: () => ({ screens: [{ deviceId: 'shop-1' }] }) as never };
  const service = await startTestService({ content, host });
  const page = await joinAs(service, 'lobby', 'shop-1');
  const states = () => statesOf(service, 'lobby');
  await expect.poll(states, patience).toEqual({ 'shop-1': 'playing' });
  page.socket.close();
  await expect.poll(states, patience).toEqual({ 'shop-1': 'away' });
  await openLanding(service, 'shop-1');
  await expect.poll(states, patience).toEqual({});
});

test.each(secretModes)(
  'any box shows the whole site, and says so when a box is away, %s',
  { timeout: 60_000 },
  async (_, secret) => {
    const env = secretSettings(secret);
    const first = await startBox([], { content, env });
    const second = await startBox([first], { content, env });
    await untilTogether([first, second]);
    await bindTo(first, 'd1', 'lobby', secret);
    const page = await joinAs(second, 'lobby', 'd1', secret);
    const there = (await overviewOf(second, secret)).nodeId;

    const seen = await overviewOf(first, secret);
    expect(seen.boxes.map(({ nodeId, status }) => [nodeId === there, status])).toEqual([
      [false, 'here'],
      [true, 'alive'],
    ]);
    expect(seen.screens[0]).toMatchObject({
      devices: [{ deviceId: 'd1', nodeId: there, state: 'playing' }],
      connections: [{ id: page.connectionId }],
    });
    expect(seen.degraded).toBe(false);

    await second.close();
    await expect.poll(async () => (await overviewOf(first, secret)).boxes[1]?.status, patience).toBe('away');
    const after = await overviewOf(first, secret);
    expect(after).toMatchObject({
      degraded: true,
      boxes: [{ status: 'here' }, { nodeId: there, name: seen.boxes[1]?.name }],
    });
    expect(after.screens[0]).toMatchObject({
      devices: [{ deviceId: 'd1', nodeId: there, state: 'away' }],
      connections: [],
    });
  },
);

test('consoles that ask at one moment share a round', async () => {
  const service = await startTestService({ content });
  const texts = await Promise.all(
    Array.from({ length: 20 }, async () => (await createOperator(service, null)('GET', '/console/api/site')).text()),
  );
  // Each round has its time.
  expect(new Set(texts).size).toBeLessThan(10);
  const { boxes } = JSON.parse(texts[0] ?? '') as SiteOverview;
  expect(boxes).toHaveLength(1);
});

test.each(secretModes)(
  'the content is said to be invalid, and the warnings of a box are sentences, %s',
  async (_, secret) => {
    const service = await startTestService({ content: '{', env: secretSettings(secret) });
    const { content, boxes } = await overviewOf(service, secret);
    expect(content).toEqual({ sha256: null, changedAt: null, status: 'invalid' });
    expect(boxes[0]?.warnings.join(' ')).toContain('content.json is not valid, and there is nothing to play');
  },
);

test('the first overview after a while has the warnings of now', async () => {
  const service = await startTestService({ content });
  expect((await overviewOf(service)).boxes[0]?.warnings.join(' ')).not.toContain('content.json');
  service.writeContent('{');
  await expect.poll(async () => (await healthOf(service)).content.status, patience).toBe('invalid');
  // Warnings are reused for 5 s.
  await delay(5_500);
  const { boxes } = await overviewOf(service);
  expect(boxes[0]?.warnings.join(' ')).toContain('content.json is not valid');
});

test('each of many boxes has its own name, also while it is away', async () => {
  const siteOf = (name: string): PeerSite => ({
    name,
    warnings: [],
    screens: [],
    stuck: [],
    faults: [],
    displays: [],
    off: [],
    names: [],
    seen: [],
    waiting: [],
  });
  let isThere = true;
  const answers = () =>
    Array.from({ length: 300 }, (_, n) => ({
      peer: { nodeId: `n${n}`, url: 'http://192.0.2.7:8080', alive: isThere, state: null, contactAt: null },
      body: isThere ? siteOf(`box ${n}`) : null,
    }));
  const { take } = createSite(
    { options: {}, version: '1', machineName: 'here', ids: { nodeId: 'n' }, now: Date.now, tempo: testTempo } as never,
    {
      content: { screens: () => [], playing: () => null, status: () => ({ status: 'ok' }) },
      devices: { list: () => [], sightings: () => [], learn: () => {} },
      peers: { askAll: async () => ({ answers: answers(), degraded: false }) },
      takeovers: { open: () => [] },
      here: async () => siteOf('here'),
      url: () => 'http://192.0.2.1:8080',
    } as never,
  );
  const expected = ['here', ...Array.from({ length: 300 }, (_, n) => `box ${n}`)];
  const names = async () => (await take()).boxes.map(({ name }) => name);
  expect(await names()).toEqual(expected);
  isThere = false;
  expect(await names()).toEqual(expected);
});
