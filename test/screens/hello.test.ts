/** What a page says of itself, and how the snapshot shows it. */
import { describe, expect, test } from 'vitest';
import type { Connection, ConnectionSnapshot } from '../../service/contract/connections.ts';
import { lobby, timestampPattern } from '../content/samples.ts';
import { patience, payloadOf } from '../support/observe.ts';
import { joinScreen, openSocket } from '../support/page.ts';
import { startTestService, type TestService } from '../support/service.ts';

const connectionsOf = async (service: TestService): Promise<Connection[]> =>
  ((await (await service.get('/api/screens/lobby/connections')).json()) as ConnectionSnapshot).connections;

test('a hello is welcomed, and is a connection from then on', async () => {
  const service = await startTestService({ content: lobby });
  const before = Date.now();
  const { welcome, connectionId } = await joinScreen(service, 'lobby', {
    clientId: 'client-7',
    deviceId: 'device-7',
    clientName: 'Front door',
    viewport: { width: 1080, height: 1920, devicePixelRatio: 1.5 },
  });
  const { revision } = await payloadOf(service);
  expect(welcome).toEqual({
    type: 'welcome',
    connectionId,
    clientName: 'Front door',
    revision,
    serverTime: expect.any(Number),
    nodeId: expect.any(String),
    proven: false,
  });
  expect(welcome.serverTime).toBeGreaterThanOrEqual(before);
  expect(welcome.serverTime).toBeLessThanOrEqual(Date.now());

  const [connection] = await connectionsOf(service);
  expect(connection).toEqual({
    id: connectionId,
    clientId: 'client-7',
    clientName: 'Front door',
    deviceId: 'device-7',
    label: 'Front door',
    userAgent: null,
    viewport: { width: 1080, height: 1920, devicePixelRatio: 1.5 },
    page: '/screen/lobby',
    currentSlide: null,
    currentSlideId: null,
    currentSlideTitle: null,
    paused: false,
    blackout: false,
    clientIp: '127.0.0.1',
    remoteAddress: '127.0.0.1',
    connectedAt: expect.stringMatching(timestampPattern),
    lastSeenAt: connection?.connectedAt,
  });
});

test.each([{}, { page: null }])('the least of a hello will do: %o', async (more) => {
  const service = await startTestService({ content: lobby });
  const page = await openSocket(service, '/api/screens/lobby/socket');
  page.send({ type: 'hello', clientId: 'a', ...more });
  expect(await page.message(({ type }) => type === 'welcome')).toMatchObject({ clientName: null });
  expect(await connectionsOf(service)).toMatchObject([
    { deviceId: null, clientName: null, page: '/screen/lobby', viewport: null },
  ]);
});

describe('a state', () => {
  const state = { type: 'state', page: '/screen/lobby', paused: false, blackout: false };

  test.each<[string, object, Partial<Connection>]>([
    [
      'of all there is',
      {
        viewport: { width: 10, height: 20, devicePixelRatio: 3 },
        currentSlide: 2,
        currentSlideId: 'hello',
        currentSlideTitle: 'Hello',
        paused: true,
        blackout: true,
      },
      {},
    ],
    ['of a slide without a title', { currentSlide: 0, currentSlideId: 'a', currentSlideTitle: null }, {}],
    [
      'of a slide with a title as long as a letter',
      { currentSlide: 0, currentSlideId: 'a', currentSlideTitle: 'é'.repeat(20_000) },
      { currentSlideTitle: 'é'.repeat(500) },
    ],
    ['of nothing on', { currentSlide: null }, { currentSlide: null, currentSlideId: null, currentSlideTitle: null }],
    ['of a redirect', { page: 'https://example.com/board?x=1' }, { page: 'https://example.com/board?x=1' }],
    ['without a viewport: it is as it was', {}, { viewport: { width: 1920, height: 1080, devicePixelRatio: 1 } }],
    ['with a viewport of null', { viewport: null }, { viewport: null }],
    ['with a page of null, which stays as it was', { page: null }, { page: '/screen/lobby' }],
    ['with what a newer page may say', { volume: 3 }, {}],
  ])('%s shows in the snapshot', async (_, said, shown) => {
    const service = await startTestService({ content: lobby });
    const page = await joinScreen(service, 'lobby');
    // What was on before is gone with the next state.
    page.send({ ...state, currentSlide: 9, currentSlideId: 'before', currentSlideTitle: 'Before' });
    page.send({ ...state, ...said });
    const { volume: _volume, ...expected } = { volume: 0, ...said, ...shown };
    await expect.poll(async () => (await connectionsOf(service))[0], patience).toMatchObject(expected);
    expect(Object.keys((await connectionsOf(service))[0] ?? {})).not.toContain('volume');
  });

  test('leaves what it does not say as it was, but for the slide', async () => {
    const service = await startTestService({ content: lobby });
    const page = await joinScreen(service, 'lobby', { page: undefined });
    page.send({ ...state, page: '/elsewhere', currentSlide: 9, paused: true });
    page.send({ type: 'state', viewport: { width: 10, height: 20 } });
    await expect
      .poll(async () => (await connectionsOf(service))[0], patience)
      .toMatchObject({
        page: '/elsewhere',
        paused: true,
        blackout: false,
        currentSlide: null,
        viewport: { width: 10, height: 20, devicePixelRatio: 1 },
      });
  });

  test('is a sign of life', async () => {
    const service = await startTestService({ content: lobby });
    const page = await joinScreen(service, 'lobby');
    await expect
      .poll(async () => {
        page.send(state);
        const [connection] = await connectionsOf(service);
        return Date.parse(connection?.lastSeenAt ?? '') > Date.parse(connection?.connectedAt ?? '');
      }, patience)
      .toBe(true);
  });
});

test('a page that comes back has a new id and its old clientId', async () => {
  const service = await startTestService({ content: lobby });
  const first = await joinScreen(service, 'lobby', { clientId: 'same' });
  first.socket.close();
  await first.closed;
  const second = await joinScreen(service, 'lobby', { clientId: 'same' });
  expect(second.connectionId).not.toBe(first.connectionId);
  await expect
    .poll(async () => (await connectionsOf(service)).map(({ id, clientId }) => [id, clientId]), patience)
    .toEqual([[second.connectionId, 'same']]);
});

test('a slide that a page has skipped is in the log', async () => {
  const service = await startTestService({ content: lobby });
  const page = await joinScreen(service, 'lobby');
  page.send({ type: 'fault', slideId: 'welcome-1', reason: 'the image did not load' });
  await expect.poll(() => service.log(), patience).toContain('the image did not load');
  expect(await connectionsOf(service)).toHaveLength(1);
});

describe('the label', () => {
  const chrome =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

  test.each<[string, string | null, RegExp]>([
    ['Chrome', chrome, /^Chrome on Linux /],
    [
      'Edge',
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
      /^Edge on Windows /,
    ],
    [
      'Firefox',
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 15.5; rv:143.0) Gecko/20100101 Firefox/143.0',
      /^Firefox on macOS /,
    ],
    [
      'Safari',
      'Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
      /^Safari on iOS /,
    ],
    ['the kiosk', `${chrome} Electron/45.4.1`, /^Kiosk on Linux /],
    [
      'a television',
      'Mozilla/5.0 (SMART-TV; Linux; Tizen 8.0) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/4.0 Chrome/108.0 TV Safari/537.36',
      /^Samsung Internet on Tizen /,
    ],
    [
      'an Android box',
      'Mozilla/5.0 (Linux; Android 14; Box) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
      /^Chrome on Android /,
    ],
    ['something unknown', 'curl/8.0', /^Player /],
    ['nothing', null, /^Player /],
  ])('of %s is short, and tells it from others', async (_, userAgent, expected) => {
    const service = await startTestService({ content: lobby });
    const headers: Record<string, string> = userAgent === null ? {} : { 'User-Agent': userAgent };
    const page = await openSocket(service, '/api/screens/lobby/socket', { headers });
    page.send({ type: 'hello', clientId: 'a', page: '/screen/lobby' });
    const { connectionId } = await page.message(({ type }) => type === 'welcome');
    const [connection] = await connectionsOf(service);
    expect(connection?.userAgent).toBe(userAgent);
    expect(connection?.label).toMatch(expected);
    expect(connection?.label).toMatch(new RegExp(` ${String(connectionId).slice(0, 4)}$`));
  });
});
