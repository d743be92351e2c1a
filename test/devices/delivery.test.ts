/** How a bound device hears of it: on the landing page's socket, on a player page's, or when it comes back. */
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { joinScreen, openSocket } from '../support/page.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { bind, content, openLanding } from './support.ts';

type Message = Record<string, unknown>;
const isOnboarded = ({ type, onboarded }: Message): boolean => type === 'status' && onboarded === true;
const isCommand =
  (name: string) =>
  ({ type, command }: Message) =>
    type === 'command' && command === name;

const queued = async (response: Promise<Response>): Promise<boolean> => (await (await response).json()).queued;

describe('the landing page', () => {
  it('hears the status of its device at once, and its binding', async () => {
    const service = await startTestService({ content });
    const page = await openLanding(service);
    expect(page.socket.protocol).toBe('signage.v1');
    expect(await page.message(() => true)).toStrictEqual({
      type: 'status',
      deviceId: 'device-1',
      onboarded: false,
      clientName: null,
      screenId: null,
      screenSlug: null,
      screenName: null,
      playerUrl: null,
      formUrl: null,
      hasScreens: true,
      media: null,
    });
    expect(await queued(bind(service, {}))).toBe(false);
    expect(await page.message(isOnboarded)).toMatchObject({ clientName: 'Front desk', screenSlug: 'lobby' });
  });

  it('hears of the same binding again, since it may have missed it', async () => {
    const service = await startTestService({ content });
    await bind(service, {});
    const page = await openLanding(service);
    await page.message(isOnboarded);
    expect(await queued(bind(service, {}))).toBe(false);
    await expect.poll(() => page.messages.filter(isOnboarded).length, { timeout: 20_000 }).toBeGreaterThan(1);
  });

  it('hears that its form was opened, and nothing of the forms of others', async () => {
    const service = await startTestService({ content });
    const [page, other] = [await openLanding(service), await openLanding(service, 'device-2')];
    await service.get('/onboard?deviceId=device-1', { method: 'HEAD' });
    expect((await service.get('/onboard?deviceId=device-2')).status).toBe(200);
    await other.message(({ type }) => type === 'opened');
    expect(page.messages.map(({ type }) => type)).toStrictEqual(['status']);
    await service.get('/onboard?deviceId=device-1');
    await page.message(({ type }) => type === 'opened');
  });

  it('hears when its screen goes and comes back', async () => {
    const service = await startTestService({ content });
    await bind(service, {});
    const page = await openLanding(service);
    await page.message(isOnboarded);
    service.writeContent({ ...content, screens: content.screens.slice(1) });
    await page.message(({ onboarded }) => onboarded === false);
    service.writeContent(content);
    await expect.poll(() => page.messages.filter(isOnboarded).length, { timeout: 20_000 }).toBe(2);
  });

  it('is told the address that it came by', async () => {
    const service = await startTestService({ content });
    const page = await openLanding(service, 'device-1', { headers: { Host: 'signage.local:81' } });
    expect(await page.message(() => true)).toMatchObject({ formUrl: 'http://signage.local:81/onboard' });
  });

  it('has nothing to say', async () => {
    const service = await startTestService({ content });
    const page = await openLanding(service);
    page.send({ type: 'hello' });
    expect(await page.closed).toBe(1008);
  });

  it('hears when the service stops', async () => {
    const service = await startTestService({ content });
    const page = await openLanding(service);
    await service.close();
    expect(await page.closed).toBe(1001);
  });

  it.each([
    ['without a device id', '/api/onboarding/socket', 400],
    ['with a bad device id', '/api/onboarding/socket?deviceId=a%20b', 400],
    ['with two device ids', '/api/onboarding/socket?deviceId=a&deviceId=b', 400],
    ['elsewhere', '/api/onboarding/sockets?deviceId=a', 404],
  ])('has no socket %s', async (_, path, status) => {
    const service = await startTestService({ content });
    await expect(openSocket(service, path)).rejects.toThrow(String(status));
  });

  it('has no socket for other origins, and none in the baseline', async () => {
    const service = await startTestService({ content });
    await expect(openLanding(service, 'a', { origin: 'http://evil.example' })).rejects.toThrow('403');
    const baseline = await startTestService({ content, env: { SIGNAGE_VARIANT: 'baseline' } });
    await expect(openLanding(baseline)).rejects.toThrow('404');
  });
});

describe('a player page', () => {
  it('is moved to the screen that its device is bound to, and named', async () => {
    const service = await startTestService({ content });
    const page = await joinScreen(service, 'lobby', { deviceId: 'device-1' });
    expect(await queued(bind(service, { screenSlug: 'cafe' }))).toBe(false);
    expect(await page.message(isCommand('redirect'))).toStrictEqual({
      type: 'command',
      command: 'redirect',
      url: '/screen/cafe',
    });
    expect(await page.message(isCommand('setclientname'))).toMatchObject({
      clientName: 'Front desk',
      deviceId: 'device-1',
    });
    const snapshot = await (await service.get('/api/screens/lobby/connections')).json();
    expect(snapshot.connections[0]).toMatchObject({ clientName: 'Front desk', label: 'Front desk' });

    // The page has responded, so the binding counts as delivered and a later page on another screen is not moved.
    page.send({ type: 'time', t0: 0 });
    await page.message(({ type }) => type === 'time');
    const later = await joinScreen(service, 'gate-4', { deviceId: 'device-1' });
    await service.post('/api/screens/gate-4/commands', { command: 'refresh' });
    await later.message(isCommand('refresh'));
    expect(later.messages.some(isCommand('redirect'))).toBe(false);
  });

  it('that has lost its power, so that its socket is open still, is moved when it comes back', async () => {
    const service = await startTestService({ content });
    const dead = await joinScreen(service, 'lobby', { deviceId: 'device-1' });
    dead.socket.pause();
    expect(await queued(bind(service, { screenSlug: 'cafe' }))).toBe(false);
    const back = await joinScreen(service, 'lobby', { deviceId: 'device-1' });
    expect(await back.message(isCommand('redirect'))).toMatchObject({ url: '/screen/cafe' });
    dead.socket.terminate();
  });

  it('stays where it is bound to where it is', async () => {
    const service = await startTestService({ content });
    const page = await joinScreen(service, 'lobby', { deviceId: 'device-1' });
    expect(await queued(bind(service, {}))).toBe(false);
    await page.message(isCommand('setclientname'));
    // What comes after it on the same socket shows that nothing else did.
    await service.post('/api/screens/lobby/commands', { command: 'refresh' });
    await page.message(isCommand('refresh'));
    expect(page.messages.some(isCommand('redirect'))).toBe(false);
  });

  it('of another device hears nothing', async () => {
    const service = await startTestService({ content });
    const page = await joinScreen(service, 'lobby', { deviceId: 'device-2' });
    expect(await queued(bind(service, { screenSlug: 'cafe' }))).toBe(true);
    await service.post('/api/screens/lobby/commands', { command: 'refresh' });
    await page.message(isCommand('refresh'));
    expect(page.messages.filter(({ type }) => type === 'command')).toHaveLength(1);
  });

  it('that was away is moved when it comes back, once', async () => {
    const service = await startTestService({ content });
    const before = await joinScreen(service, 'lobby', { deviceId: 'device-1' });
    before.socket.close();
    await once(before.socket, 'close');
    await untilGone(service, 'lobby');
    expect(await queued(bind(service, { screenSlug: 'cafe' }))).toBe(true);

    const back = await joinScreen(service, 'lobby', { deviceId: 'device-1' });
    await back.message(isCommand('redirect'));

    // Whoever opens another screen later, on purpose, is left there.
    const later = await joinScreen(service, 'gate-4', { deviceId: 'device-1' });
    await service.post('/api/screens/gate-4/commands', { command: 'refresh' });
    await later.message(isCommand('refresh'));
    expect(later.messages.some(isCommand('redirect'))).toBe(false);
  });

  it('that was away is moved over restarts of the box, once', async () => {
    const first = await startTestService({ content });
    expect(await queued(bind(first, { screenSlug: 'cafe' }))).toBe(true);
    await first.close();
    const second = await startTestService({ dataDir: first.dataDir });
    const back = await joinScreen(second, 'lobby', { deviceId: 'device-1' });
    expect(await back.message(isCommand('redirect'))).toMatchObject({ url: '/screen/cafe' });
    await second.close();

    const third = await startTestService({ dataDir: first.dataDir });
    const later = await joinScreen(third, 'gate-4', { deviceId: 'device-1' });
    await third.post('/api/screens/gate-4/commands', { command: 'refresh' });
    await later.message(isCommand('refresh'));
    expect(later.messages.some(isCommand('redirect'))).toBe(false);
  });

  it('whose screen reaches its box after the binding is moved once it is there', async () => {
    const service = await startTestService({ content });
    const page = await joinScreen(service, 'lobby', { deviceId: 'device-1' });
    const updatedAt = new Date().toISOString();
    const binding = { deviceId: 'device-1', clientName: 'Front desk', screenSlug: 'attic', updatedAt };
    expect((await service.post('/api/peers/bindings', { bindings: [binding] })).status).toBe(200);
    await page.message(isCommand('setclientname'));
    const again = await joinScreen(service, 'lobby', { deviceId: 'device-1' });
    const [lobby] = content.screens;
    service.writeContent({ ...content, screens: [...content.screens, { ...lobby, name: 'Attic', slug: 'attic' }] });
    for (const each of [page, again]) {
      expect(await each.message(isCommand('redirect'))).toMatchObject({ url: '/screen/attic' });
      expect(each.messages.filter(isCommand('redirect'))).toHaveLength(1);
    }
  });

  it('is not moved by a binding that its landing page has heard of', async () => {
    const service = await startTestService({ content });
    expect(await queued(bind(service, { screenSlug: 'cafe' }))).toBe(true);
    const landing = await openLanding(service);
    await landing.message(isOnboarded);
    const page = await joinScreen(service, 'lobby', { deviceId: 'device-1' });
    await service.post('/api/screens/lobby/commands', { command: 'refresh' });
    await page.message(isCommand('refresh'));
    expect(page.messages.some(isCommand('redirect'))).toBe(false);
  });
});

it('an address has at most a hundred landing pages, which hear of its binding', async () => {
  const service = await startTestService({ content, env: { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_TRUST_PROXY: 'on' } });
  const openFrom = (address: string) => openLanding(service, 'device-1', { headers: { 'X-Forwarded-For': address } });
  const pages = await Promise.all(Array.from({ length: 100 }, (_, at) => openFrom(`2001:db8:1:2::${at + 1}`)));
  const last = await openFrom('2001:db8:1:2:ffff::1');
  expect(await last.closed).toBe(1008);
  await (await openFrom('2001:db8:1:3::1')).message(() => true);
  await (await openFrom('127.0.0.1')).message(() => true);
  expect(await queued(bind(service, {}))).toBe(false);
  await Promise.all(pages.map((page) => page.message(isOnboarded)));
});

const untilGone = (service: TestService, slug: string): Promise<void> =>
  expect
    .poll(async () => (await (await service.get(`/api/screens/${slug}/connections`)).json()).count, { timeout: 20_000 })
    .toBe(0);
