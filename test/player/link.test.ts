/** The link of real pages to a service that comes and goes, over a network that fails at the worst time. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page, Route, WebSocketRoute } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { describeBrowser, launchBrowser } from '../support/browser.ts';
import { healthOf, payloadOf } from '../support/observe.ts';
import {
  colourSlide,
  colourTemplate,
  connectionOf,
  lobby,
  openPlayer,
  patience,
  waitForColour,
  waitForConnection,
} from '../support/player.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';

const red = [200, 30, 30] as const;
const green = [30, 160, 30] as const;

const commands = '/api/screens/lobby/commands';

interface Sent {
  at: number;
  message: { type: string };
}

/** A page that plays, and what it sends. @param prepare runs in it before its own scripts */
const openWatched = async (prepare = () => {}) => {
  const service = await startTestService({ content: content(colourSlide('one', red)) });
  const context = await (await launchBrowser()).newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const sent: Sent[] = [];
  page.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => sent.push({ at: performance.now(), message: JSON.parse(String(payload)) })),
  );
  await page.addInitScript(prepare);
  await page.goto(`${service.url}/screen/lobby`);
  await waitForConnection(service, 'lobby', { currentSlideId: 'one' });
  return { service, page, sent };
};

const content = (slide: object) => lobby([slide], { templates: [colourTemplate] });

/** The next request for the playlist, which the test answers. */
const nextRequest = (page: Page): Promise<Route> =>
  new Promise((resolve) => void page.route('**/playlist', resolve, { times: 1 }));

describeBrowser('the link of a page', () => {
  it('shows a playlist that came before the service went away', { timeout: 60_000 }, async () => {
    const service = await startTestService({ content: content(colourSlide('one', red)) });
    const page = await openPlayer(service, 'lobby');
    await waitForConnection(service, 'lobby', { currentSlideId: 'one' });
    await waitForColour(page, red);
    const first = nextRequest(page);
    service.writeContent(content(colourSlide('one', green)));
    const route = await first;
    // While that is on its way, something else calls for another look, which fails.
    const second = nextRequest(page);
    await page.evaluate(() => void dispatchEvent(new Event('online')));
    await route.continue();
    await (await second).abort();
    await waitForColour(page, green);
  });

  it('loads itself anew at the end of a slide where another version answers, once', {
    ...walk,
    timeout: 60_000,
  }, async () => {
    const slides = [red, green].map((colour, index) => ({ ...colourSlide(`${index}`, colour), duration_seconds: 1 }));
    const service = await startTestService({ content: lobby(slides, { templates: [colourTemplate] }) });
    const page = await openPlayer(service, 'lobby');
    await waitForConnection(service, 'lobby', { currentSlideId: '0' });
    const shown = async () => (await connectionOf(service, 'lobby'))?.currentSlideId;
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    await page.route('**/playlist', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), 'x-signage-version': '99.0.0' } });
    });
    await service.post(commands, { command: 'pause' });
    const answer = page.waitForResponse('**/playlist', patience);
    await service.post(commands, { command: 'refresh' });
    await answer;
    // A pause, of which the new page would not know, is not undone.
    await service.post(commands, { command: 'next' });
    await expect.poll(shown, patience).toBe('1');
    expect(loads).toBe(0);
    await service.post(commands, { command: 'pause' });
    await expect.poll(() => loads, patience).toBe(1);
    for (const id of ['0', '1', '0']) await expect.poll(shown, patience).toBe(id);
    expect(loads).toBe(1);
  });

  it('reloads itself where the time zone of the service has changed since its restart', {
    ...walk,
    timeout: 60_000,
  }, async () => {
    const dataDir = temporaryFolder();
    const slides = [red, green].map((colour, index) => ({ ...colourSlide(`${index}`, colour), duration_seconds: 1 }));
    const start = (zone: string, port = '0') =>
      startTestService({
        dataDir,
        content: lobby(slides, { templates: [colourTemplate] }),
        env: { SIGNAGE_TIME_ZONE: zone, SIGNAGE_PORT: port },
      });
    const service = await start('UTC');
    const page = await openPlayer(service, 'lobby');
    await waitForConnection(service, 'lobby', { currentSlideId: '0' });
    await service.close();
    const again = await start('Europe/Vienna', new URL(service.url).port);
    await waitForConnection(again, 'lobby', { currentSlideId: '0' });
    // It would ask within a minute by itself.
    await again.post(commands, { command: 'refresh' });
    const zone = () => page.evaluate(() => JSON.parse(document.querySelector('#boot')?.textContent ?? '{}').timeZone);
    await expect.poll(() => zone().catch(() => null), patience).toBe('Europe/Vienna');
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    for (const id of ['0', '1', '0']) await waitForConnection(again, 'lobby', { currentSlideId: id });
    expect(loads).toBe(0);
  });

  it('in the baseline asks for nothing that is not there, proves nothing, and loads itself anew too', {
    ...walk,
    timeout: 60_000,
  }, async () => {
    const site = createServer((_, response) => response.end('A board')).listen(0, '127.0.0.1');
    onTestFinished(() => void site.close());
    await once(site, 'listening');
    const board = {
      id: 'board',
      kind: 'web',
      media_url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/`,
      duration_seconds: 1,
    };
    const slides = [{ ...colourSlide('one', red), duration_seconds: 1 }, board];
    const env = { SIGNAGE_VARIANT: 'baseline' };
    const service = await startTestService({ content: lobby(slides, { templates: [colourTemplate] }), env });
    const context = await (await launchBrowser()).newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const asked = new Set<string>();
    const proofs = new Set<unknown>();
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    page.on('request', (request) => asked.add(new URL(request.url()).pathname));
    page.on('websocket', (socket) =>
      socket.on('framesent', ({ payload }) => {
        const { type, proof } = JSON.parse(String(payload));
        if (type === 'hello') proofs.add(proof);
      }),
    );
    await page.route('**/screen/lobby', async (route) => {
      if (route.request().resourceType() === 'document') return route.continue();
      const response = await route.fetch();
      const body = (await response.text()).replace(/"version":"[^"]*"/, '"version":"99.0.0"');
      return route.fulfill({ response, body });
    });
    await page.goto(`${service.url}/screen/lobby`);
    await expect.poll(() => loads, patience).toBe(2);
    await page.waitForResponse((response) => response.url() === board.media_url, patience);
    service.writeContent({ screens: [] });
    await page.getByText('Lobby').waitFor(patience);
    await page.evaluate(() => fetch('/healthz').then((response) => response.text()));
    expect(loads).toBe(2);
    expect([...proofs]).toEqual([null]);
    expect([...asked].filter((path) => /^\/api\/(?!screens\/lobby\/(playlist|socket)$)/.test(path))).toEqual([]);
  });

  it('comes back, and tells, where a playlist breaks the player', async () => {
    const service = await startTestService({ content: content(colourSlide('one', red)) });
    const page = await openPlayer(service, 'lobby');
    await waitForColour(page, red);
    const broken = { ...(await payloadOf(service)), slides: [null] };
    const sockets: WebSocketRoute[] = [];
    await page.routeWebSocket('**/socket', (socket) => {
      socket.connectToServer();
      sockets.push(socket);
    });
    await page.route('**/playlist', (route) => route.fulfill({ json: broken }));
    await page.reload();
    await expect.poll(() => sockets.length, patience).toBe(1);
    await sockets[0]?.close();
    await expect.poll(() => sockets.length, patience).toBe(2);
    const reasons = async () => (await healthOf(service)).pages.map(({ lastFault }) => lastFault?.reason);
    await expect.poll(reasons, patience).toContainEqual(expect.stringContaining('the playlist cannot be shown'));
    await page.unroute('**/playlist');
    await page.evaluate(() => void dispatchEvent(new Event('online')));
    await waitForColour(page, red);
  });

  it('says who it is before anything else, and once, though the kiosk proves nothing in time', async () => {
    const { sent } = await openWatched(() => {
      const never = () => new Promise(() => {});
      Object.assign(globalThis, { kiosk: { heartbeat: () => {}, external: never, cover: never, prove: never } });
      setInterval(() => dispatchEvent(new Event('resize')), 100);
    });
    // The service may know before the browser tells.
    await expect.poll(() => sent[0]?.message, patience).toMatchObject({ type: 'hello', proof: null });
    expect(sent.filter(({ message }) => message.type === 'hello')).toHaveLength(1);
  });

  it('sends four states a second at most, and the last one always', async () => {
    const { service, page, sent } = await openWatched(() => {
      // By the clock of the page: on a busy machine some arrive together.
      const { send } = WebSocket.prototype;
      const at: number[] = [];
      WebSocket.prototype.send = function (data) {
        if (JSON.parse(String(data)).type === 'state') at.push(performance.now());
        send.call(this, data);
      };
      Object.assign(window, { statesAt: at });
    });
    for (let times = 0; times < 41; times++) await service.post(commands, { command: 'pause' });
    await waitForConnection(service, 'lobby', { paused: true });
    const states = sent.filter(({ message }) => message.type === 'state');
    expect(states.at(-1)?.message).toMatchObject({ paused: true });
    const at = await page.evaluate(() => (window as unknown as { statesAt: number[] }).statesAt);
    expect(at.length).toBeGreaterThan(1);
    const most = Math.max(...at.map((from) => at.filter((each) => each >= from && each < from + 1_000).length));
    expect(most).toBeLessThanOrEqual(4);
  });

  it('sends far fewer faults than a service takes, however often something fails', walk, async () => {
    const { service, page, sent } = await openWatched();
    const id = (await connectionOf(service, 'lobby'))?.id;
    for (let times = 0; times < 300; times++)
      await service.post(commands, { command: 'redirect', url: '/screen/nowhere' });
    await page.waitForTimeout(1_000);
    const faults = sent.filter(({ message }) => message.type === 'fault');
    const most = Math.max(
      ...faults.map(({ at }) => sent.filter((each) => each.at >= at && each.at < at + 10_000).length),
    );
    expect(most).toBeGreaterThan(20);
    expect(most).toBeLessThan(110);
    expect((await connectionOf(service, 'lobby'))?.id).toBe(id);
  });

  it('takes a playlist however long it takes, on the same socket, but does not wait once nothing more comes', async () => {
    const service = await startTestService({ content: content(colourSlide('one', red)) });
    const context = await (await launchBrowser()).newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.clock.install();
    await page.addInitScript(() => {
      const { fetch } = globalThis;
      // Each half of the body takes 8 s, as does its end; once `isStuck` is set, nothing more arrives.
      globalThis.fetch = async (path, init) => {
        const response = await fetch(path, init);
        if (response.status !== 200 || !String(path).endsWith('/playlist')) return response;
        const whole = await response.arrayBuffer();
        const parts = [whole.slice(0, whole.byteLength / 2), whole.slice(whole.byteLength / 2)];
        const body = new ReadableStream({
          start: (stream) => init?.signal?.addEventListener('abort', () => stream.error(init.signal?.reason)),
          pull: async (stream) => {
            await new Promise((resolve) => setTimeout(resolve, 'isStuck' in globalThis ? 1e9 : 8_000));
            const part = parts.shift();
            if (part === undefined) stream.close();
            else stream.enqueue(new Uint8Array(part));
          },
        });
        return new Response(body, response);
      };
    });
    let opened = 0;
    page.on('websocket', () => {
      opened += 1;
    });
    await page.goto(`${service.url}/screen/lobby`);
    const isPlaying = async (): Promise<boolean> => {
      await page.clock.runFor(1_000);
      return (await page.locator('.slide[data-state="playing"]').count()) > 0;
    };
    await expect.poll(isPlaying, patience).toBe(true);
    expect(opened).toBe(1);
    await page.evaluate(() => Object.assign(globalThis, { isStuck: true }));
    service.writeContent(content(colourSlide('one', green)));
    const isOpenedAgain = async (): Promise<boolean> => {
      await page.clock.runFor(1_000);
      return opened > 1;
    };
    await expect.poll(isOpenedAgain, patience).toBe(true);
  });

  it('leaves a socket that is silent for 40 s', async () => {
    const service = await startTestService({ content: content(colourSlide('one', red)) });
    const context = await (await launchBrowser()).newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.clock.install();
    let opened = 0;
    const { revision } = await payloadOf(service);
    await page.routeWebSocket('**/socket', (socket) => {
      opened += 1;
      socket.onMessage((data) => {
        if (JSON.parse(String(data)).type !== 'hello') return;
        const welcome = {
          type: 'welcome',
          connectionId: 'c',
          clientName: null,
          revision,
          serverTime: Date.now(),
          proven: true,
        };
        socket.send(JSON.stringify(welcome));
      });
    });
    await page.goto(`${service.url}/screen/lobby`);
    await page.locator('.slide[data-state="playing"]').first().waitFor();
    await page.clock.runFor(38_000);
    expect(opened).toBe(1);
    await page.clock.runFor(10_000);
    await page.waitForTimeout(500);
    await expect.poll(() => opened, { timeout: 10_000 }).toBe(2);
  });
});
