/** What is taken of the plays that pages report, when somebody else reports invented ones. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { PagePlay } from '../../../service/contract/plays.ts';
import { lobby } from '../../content/samples.ts';
import { itBrowser, launchBrowser } from '../../support/browser.ts';
import { makeDevice } from '../../support/device-key.ts';
import { healthOf, patience } from '../../support/observe.ts';
import { createOperator, operatorSecret, secretSettings } from '../../support/operator.ts';
import { joinScreen, protocolsOf, type TestPage } from '../../support/page.ts';
import { colourSlide, colourTemplate, lobby as lobbyOf } from '../../support/player.ts';
import { startTestService } from '../../support/service.ts';
import { repeats } from '../../support/soak.ts';
import { metricsOf, sampleValue } from '../samples.ts';
import { idsOf, openLobby, playAgo, readPlays, report } from './pages.ts';

const INVENTED = repeats(150, 2_000, 'SIGNAGE_TEST_INVENTED');
const DAY = 86_400;
const many = (count: number): PagePlay[] => Array.from({ length: count }, () => playAgo(30));
const acknowledged = ({ messages }: TestPage): string[] =>
  messages.filter(({ type }) => type === 'ack').flatMap(({ play_ids }) => play_ids as string[]);

/** Reports plays, and waits until the service has decided about them: what can never be taken is answered at once. */
const send = async (page: TestPage, plays: readonly PagePlay[]): Promise<void> => {
  for (let first = 0; first < plays.length; first += 50)
    page.send({ type: 'plays', plays: plays.slice(first, first + 50) });
  await report(page, [playAgo(30, { screen: 'nowhere' })]);
};

const refusedOf = async (service: Parameters<typeof metricsOf>[0], reason: string) =>
  sampleValue(await metricsOf(service), 'signage_plays_refused_total', { reason });

test(`${INVENTED} invented devices, each proven, on 36 sockets, leave every play of a bound one`, {
  timeout: 60_000 + INVENTED * 100,
}, async () => {
  const secret = operatorSecret;
  const service = await startTestService({ content: lobby, env: secretSettings(secret) });
  const display = makeDevice();
  const bind = { deviceId: display.deviceId, clientName: 'Door', screenSlug: 'lobby' };
  expect((await createOperator(service, secret)('POST', '/api/onboarding', bind)).status).toBe(200);
  const page = await openLobby(service, secret, {}, display);
  const before = many(50);
  await report(page, before);

  const protocols = await protocolsOf(service, 'lobby', secret);
  const forge = async (): Promise<void> => {
    const { deviceId, prove } = makeDevice();
    const hello = { clientId: deviceId, deviceId, proof: prove({ nodeId: service.nodeId }) };
    const forger = await joinScreen(service, 'lobby', hello, { protocols });
    expect(forger.welcome.proven).toBe(true);
    forger.send({ type: 'video', slideId: 'hello', decoded: 100, dropped: 100 });
    forger.send({ type: 'glyphs', slideId: 'hello', characters: 'words' });
    await send(forger, many(50));
    forger.socket.terminate();
  };
  let devices = INVENTED;
  const sockets = Array.from({ length: 36 }, async () => {
    while (devices > 0) {
      devices -= 1;
      await forge();
    }
  });
  const after = many(50);
  await report(page, after);
  await Promise.all(sockets);
  const more = many(50);
  await report(page, more);

  // What they count and lack degrades nothing, and stands nowhere.
  page.send({ type: 'video', slideId: 'hello', decoded: 100, dropped: 0 });
  const frames = async (result: string) =>
    sampleValue(await metricsOf(service), 'signage_video_frames_total', { result });
  await expect.poll(() => frames('decoded'), patience).toBe(100);
  expect([
    await frames('dropped'),
    (await healthOf(service)).warnings.filter((each) => each.includes('words')),
  ]).toEqual([0, []]);

  const kept = idsOf(await readPlays(service, '', secret));
  expect(kept).toEqual(expect.arrayContaining(idsOf([...before, ...after, ...more])));
  // 300 a minute, of all invented devices together.
  expect(kept.length - 150).toBeGreaterThanOrEqual(300);
  expect(kept.length - 150).toBeLessThanOrEqual(600);
});

itBrowser('with a secret the page of a browser proves its device, and its plays are kept', async () => {
  const secret = operatorSecret;
  const slides = [colourSlide('red', [200, 30, 30], 0.3), colourSlide('blue', [30, 30, 200], 0.3)];
  const content = lobbyOf(slides, { templates: [colourTemplate] });
  const service = await startTestService({ content, env: secretSettings(secret) });
  const context = await (await launchBrowser()).newContext({ viewport: { width: 320, height: 180 } });
  onTestFinished(() => context.close());
  await (await context.newPage()).goto(`${service.url}/screen/lobby`);
  const kept = () => readPlays(service, '', secret);
  await expect.poll(async () => (await kept()).length, patience).toBeGreaterThan(2);
  expect((await kept())[0]?.device_id).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/);
  expect(await refusedOf(service, 'unproven')).toBe(0);
});

test('with a secret a page that has not proved its device keeps its plays until it has', async () => {
  const secret = operatorSecret;
  const service = await startTestService({ content: lobby, env: secretSettings(secret) });
  const { deviceId, prove } = makeDevice();
  const page = await openLobby(service, secret, { deviceId, proof: null });
  const plays = many(3);
  page.send({ type: 'plays', plays });
  await expect.poll(() => refusedOf(service, 'unproven')).toBe(3);
  expect(acknowledged(page)).toEqual([]);
  page.send({ type: 'hello', clientId: 'client-1', deviceId, proof: prove({ nodeId: service.nodeId }) });
  await page.message(({ type, proven }) => type === 'welcome' && proven === true);
  await report(page, plays);
  expect(await readPlays(service, '', secret)).toHaveLength(3);
});

test('what can never be taken is acknowledged, counted, and not kept', async () => {
  const service = await startTestService({ content: lobby });
  const page = await openLobby(service, null);
  const at = (started_at: string, more = {}) => playAgo(0, { started_at, ended_at: started_at, ...more });
  const refused = [
    ...[playAgo(60, { screen: 'nowhere' })],
    ...[at('0001-01-01T00:00:00.000Z'), at('9999-01-01T00:00:00.000Z'), playAgo(8 * DAY + 60), playAgo(-360)],
    ...[playAgo(60, { duration_ms: 9e15 }), playAgo(2 * DAY, { duration_ms: DAY * 1000 + 1 })],
    ...[playAgo(60, { duration_ms: 600_000 }), playAgo(60, { clock: 'untrusted', duration_ms: DAY * 1000 + 1 })],
    ...[playAgo(1, { duration_ms: 300_000 }), playAgo(-240, { duration_ms: 260_000 })],
    ...[playAgo(60, { media_url: '門'.repeat(3_000) }), playAgo(60, { media_url: '\u0001'.repeat(1_500) })],
    playAgo(60, { slide_title: '門'.repeat(500), media_url: '門'.repeat(2_500), clock: 'untrusted' }),
  ];
  const taken = [
    ...[playAgo(8 * DAY - 60), playAgo(-240), playAgo(DAY, { duration_ms: DAY * 1000 })],
    ...[at('0001-01-01T00:00:00.000Z', { clock: 'untrusted' }), playAgo(1, { duration_ms: 4_000 })],
    playAgo(60, { slide_title: '門'.repeat(500), reason: '門'.repeat(500), media_url: 'x'.repeat(4_096) }),
  ];
  await report(page, [...refused, ...taken]);
  expect(idsOf(await readPlays(service)).toSorted()).toEqual(idsOf(taken).toSorted());
  expect(await refusedOf(service, 'screen')).toBe(1);
  expect(await refusedOf(service, 'time')).toBe(4);
  expect(await refusedOf(service, 'length')).toBe(6);
  expect(await refusedOf(service, 'size')).toBe(3);
  expect(service.log().split('plays were refused')).toHaveLength(2);
});

test('only new plays that are durable count towards the rate', async () => {
  const service = await startTestService({ content: lobby });
  const page = await openLobby(service, null);
  const plays = Array.from({ length: 250 }, () => playAgo(3 * DAY));
  const sendAll = async (): Promise<void> => {
    await send(page, plays);
    // Plays are decided about in their order.
    await report(page, [playAgo(30)]);
  };
  const file = join(service.dataDir, 'plays', `${plays[0]?.started_at.slice(0, 10)}.others.jsonl`);
  mkdirSync(file);
  await sendAll();
  await sendAll();
  expect(acknowledged(page)).not.toEqual(expect.arrayContaining([plays[0]?.play_id]));
  rmSync(file, { recursive: true });
  await sendAll();
  await sendAll();
  expect(acknowledged(page)).toEqual(expect.arrayContaining([...idsOf(plays), ...idsOf(plays)]));
  await send(page, many(100));
  await expect.poll(async () => (await readPlays(service)).length, patience).toBe(300);
});

test('a screen that was removed still takes the plays of its last 8 days, after a restart too', async () => {
  let wall = Date.now();
  const bar = { name: 'Bar', slug: 'bar', playlist_id: 'welcome' };
  const content = { ...lobby, screens: [...lobby.screens, bar] };
  const first = await startTestService({ content, wall: () => wall });
  await first.close();
  const start = () => startTestService({ content: lobby, dataDir: first.dataDir, wall: () => wall });
  const reported = async (service: Awaited<ReturnType<typeof start>>) => {
    const play = playAgo(60, { screen: 'bar', clock: 'untrusted' });
    await report(await openLobby(service, null), [play]);
    return idsOf(await readPlays(service)).includes(play.play_id);
  };
  let service = await start();
  expect(await reported(service)).toBe(true);
  await service.close();
  wall += 9 * DAY * 1000;
  service = await start();
  expect(await reported(service)).toBe(false);
});

test('without a secret an address has the rate of one device, and a bound device its own', async () => {
  const service = await startTestService({ content: lobby, env: { SIGNAGE_TRUST_PROXY: 'on' } });
  const bind = async (deviceId: string) => {
    await service.post('/api/onboarding', { deviceId, clientName: deviceId, screenSlug: 'lobby' });
    return deviceId;
  };
  const open = (deviceId: string, address: string) =>
    joinScreen(service, 'lobby', { clientId: deviceId, deviceId }, { headers: { 'X-Forwarded-For': address } });
  const last = await open(await bind('last'), '192.0.2.9');
  const takenOf = async (page: TestPage, count: number): Promise<number> => {
    const plays = many(count);
    await send(page, plays);
    // What was taken before is durable before it.
    await report(last, [playAgo(10)]);
    const kept = new Set(idsOf(await readPlays(service)));
    return plays.filter(({ play_id }) => kept.has(play_id)).length;
  };
  expect(await takenOf(await open(await bind('first'), '192.0.2.1'), 350)).toBe(300);
  expect(await takenOf(await open(await bind('second'), '192.0.2.1'), 5)).toBe(0);
  expect(await takenOf(await open('second', '192.0.2.2'), 5)).toBe(5);
  expect(await takenOf(await open('first', '192.0.2.2'), 5)).toBe(0);
  expect(await takenOf(await open('nobody', '192.0.2.3'), 5)).toBe(5);
});
