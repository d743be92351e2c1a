/** The landing page when things change around it. */
import { once } from 'node:events';
import jsQR from 'jsqr';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import type { HotspotShown } from '../../service/public.ts';
import { describeBrowser, itBrowser as it } from '../support/browser.ts';
import { isSoak } from '../support/soak.ts';
import {
  content,
  openPhone,
  openScreen,
  patience,
  readOff,
  scan,
  shareReachable,
  startReachable,
  textOf,
  untilPlaying,
} from './browser.ts';
import { bind } from './support.ts';

const cursorOf = (page: Page): Promise<string> =>
  page.locator('#landing').evaluate((landing) => getComputedStyle(landing).cursor);

describeBrowser('the landing page', { timeout: 60_000 }, () => {
  const reachable = shareReachable();
  it('waits for a service that is away, and goes on with it', async () => {
    const service = await startReachable();
    const { port } = new URL(service.url);
    const screen = await openScreen(service);
    const url = await readOff(screen);
    await service.close();
    await screen.getByText('One moment, reconnecting').waitFor();
    expect(await readOff(screen)).toBe(url);

    const again = await startReachable({ SIGNAGE_PORT: port }, { dataDir: service.dataDir });
    await screen.getByText('Waiting for your phone').waitFor();
    await bind(again, { deviceId: await textOf(screen, '#device') });
    await untilPlaying(screen, 'lobby', 'Welcome');
  });

  it('says so where the service is away from the first look on', async () => {
    const service = reachable();
    const screen = await openScreen(service);
    let isAway = true;
    await screen.routeWebSocket(/\/api\/onboarding\/socket/, (socket) => {
      if (isAway) void socket.close();
      else socket.connectToServer();
    });
    await screen.route('**/api/onboarding/status*', (route) => (isAway ? route.abort() : route.continue()));
    await screen.reload();
    await screen.getByText('One moment, reconnecting').waitFor();
    isAway = false;
    await screen.getByText('Waiting for your phone').waitFor();
  });

  it('looks for itself where sockets do not get through', async () => {
    const service = reachable();
    const screen = await openScreen(service);
    await screen.routeWebSocket(/\/api\/onboarding\/socket/, (socket) => socket.close());
    await screen.reload();
    await screen.getByText('Waiting for your phone').waitFor();
    await bind(service, { deviceId: await textOf(screen, '#device') });
    await untilPlaying(screen, 'lobby', 'Welcome');
  });

  it('asks for a network where there is none, and shows the code once there is', async () => {
    const service = reachable();
    const screen = await openScreen(service);
    const tell: ((formUrl: string | null) => void)[] = [];
    await screen.routeWebSocket(/\/api\/onboarding\/socket/, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((message) => {
        const status = JSON.parse(String(message)) as Record<string, unknown>;
        tell.push((formUrl) => socket.send(JSON.stringify({ ...status, formUrl })));
        socket.send(JSON.stringify({ ...status, formUrl: null }));
      });
    });
    await screen.reload();
    await screen.getByRole('heading', { name: 'Not connected yet' }).waitFor();
    expect(await screen.locator('#code').isVisible()).toBe(false);
    expect(await screen.locator('#form-address').isVisible()).toBe(false);
    expect(await screen.locator('#device').isVisible()).toBe(true);
    tell[0]?.('http://10.0.0.7:8080/onboard');
    await screen.getByRole('heading', { name: 'What shall play here?' }).waitFor();
    expect(await textOf(screen, 'dd')).toBe('http://10.0.0.7:8080/onboard');
    await screen.locator('#code svg').waitFor();
  });

  it('shows the Wi-Fi of the box itself while that is open, to its own displays alone', async () => {
    const own = {
      ssid: 'signage-1a2b3c',
      password: 'abcdefgh2345',
      code: 'WIFI:T:WPA;S:signage-1a2b3c;P:abcdefgh2345;;',
    };
    let shown: HotspotShown | null = { ...own, address: 'http://10.20.30.1', joined: false };
    const service = await startReachable({ SIGNAGE_TRUST_PROXY: '127.0.0.1' }, { host: { hotspot: () => shown } });
    const screen = await openScreen(service);
    await screen.getByRole('heading', { name: 'Connect this player' }).waitFor();
    const code = screen.locator('#wifi-code');
    await expect.poll(() => code.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
    const { data, width, height } = PNG.sync.read(await code.screenshot());
    expect(jsQR(new Uint8ClampedArray(data), width, height)?.data).toBe(own.code);
    expect(await screen.getByRole('definition').allInnerTexts()).toEqual([
      'http://10.20.30.1',
      'signage-1a2b3c · abcdefgh2345',
    ]);
    shown = { ...shown, joined: true };
    await screen.getByText('Go on, on your phone').waitFor();
    const elsewhere = new WebSocket(`${service.url}/api/onboarding/socket?deviceId=elsewhere`.replace('http', 'ws'), {
      headers: { 'X-Forwarded-For': '192.168.1.9' },
    });
    const [message] = await once(elsewhere, 'message');
    expect(String(message)).toContain('"status"');
    expect(String(message)).not.toContain('abcdefgh');
    elsewhere.close();
    shown = null;
    await screen.getByRole('heading', { name: 'What shall play here?' }).waitFor();
  });

  it('says that no phone gets here, and how to change it, where the service listens on this machine alone', async () => {
    const service = await startReachable({ SIGNAGE_HOST: '127.0.0.1' });
    const screen = await openScreen(service);
    await screen.getByRole('heading', { name: 'Phones can’t reach this player' }).waitFor();
    await screen.getByText('Set SIGNAGE_HOST to 0.0.0.0').waitFor();
    expect(await screen.locator('#code').isVisible()).toBe(false);
    const { port } = new URL(service.url);
    expect(await screen.getByRole('definition').allInnerTexts()).toEqual([
      `http://127.0.0.1:${port}/onboard`,
      expect.stringMatching(/^[\dA-Z]{4}(-[\dA-Z]{4}){3}$/),
    ]);
    await screen.getByRole('button', { name: 'Set up this player' }).click();
    await screen.getByText('Café').click();
    await screen.getByRole('button', { name: 'Start playing' }).click();
    await untilPlaying(screen, 'cafe', 'Today’s cake');
  });

  it('says that a screen is missing where there is none, and shows the code once there is', async () => {
    const service = await startReachable({}, { content: { screens: [], playlists: [] } });
    const screen = await openScreen(service);
    await screen.getByRole('heading', { name: 'There are no screens' }).waitFor();
    expect(await screen.locator('#code').isVisible()).toBe(false);
    expect(await screen.getByRole('definition').allInnerTexts()).toEqual([
      expect.stringMatching(/^http:.*\/onboard$/),
      expect.stringMatching(/^[\dA-Z]{4}(-[\dA-Z]{4}){3}$/),
    ]);
    service.writeContent(content);
    await screen.getByRole('heading', { name: 'What shall play here?' }).waitFor();
    await screen.locator('#code svg').waitFor();
  });

  it('leads by hand to the form, and from there to the screen, in a browser that is no kiosk', async () => {
    const service = reachable();
    const screen = await openScreen(service);
    await screen.getByText('Waiting for your phone').waitFor();
    expect(await screen.getByRole('button', { name: 'Set up this player' }).isVisible()).toBe(false);
    await screen.mouse.move(10, 10);
    await screen.mouse.move(20, 20);
    await expect.poll(() => cursorOf(screen), patience).toBe('auto');
    await expect.poll(() => cursorOf(screen), patience).toBe('none');

    await screen.getByRole('link', { name: '/onboard' }).click();
    await screen.getByText('Café').click();
    await screen.getByRole('button', { name: 'Start playing' }).click();
    await untilPlaying(screen, 'cafe', 'Today’s cake');
  });

  it('has a button for that on a phone', async () => {
    const service = reachable();
    const phone = await openPhone(service.url);
    await phone.getByRole('button', { name: 'Set up this player' }).tap();
    await phone.getByRole('heading', { name: 'Set up this player' }).waitFor();
    // Set up from elsewhere meanwhile, it goes there too.
    await bind(service, { deviceId: new URL(phone.url()).searchParams.get('deviceId') });
    await untilPlaying(phone, 'lobby', 'Welcome');
  });

  it('is nothing but a picture in the kiosk', async () => {
    const service = reachable();
    const screen = await openScreen(service, { viewport: { width: 390, height: 844 } });
    await screen.addInitScript(() => Object.assign(globalThis, { kiosk: { heartbeat() {} } }));
    await screen.reload();
    await screen.getByText('Waiting for your phone').waitFor();
    expect(await screen.locator('a, button:visible').count()).toBe(0);
    await screen.mouse.move(10, 10);
    await screen.mouse.move(20, 20);
    await screen.keyboard.press('Tab');
    expect(await cursorOf(screen)).toBe('none');
    expect(await screen.evaluate(() => document.activeElement?.tagName)).toBe('BODY');
    expect(await screen.evaluate(() => dispatchEvent(new Event('contextmenu', { cancelable: true })))).toBe(false);
  });

  it('greets until the screen has a picture, and never again', async () => {
    const service = reachable();
    const screen = await openScreen(service);
    await screen.getByText('Waiting for your phone').waitFor();
    let isHeld = true;
    await screen.routeWebSocket(/\/api\/screens\//, (socket) => {
      if (isHeld) void socket.close();
      else socket.connectToServer();
    });
    await bind(service, { deviceId: await textOf(screen, '#device') });
    await screen.waitForURL('**/screen/lobby');
    await screen.getByText('Here comes').waitFor();
    expect(await screen.getByRole('heading', { name: 'Lobby' }).isVisible()).toBe(true);
    isHeld = false;
    await untilPlaying(screen, 'lobby', 'Welcome');
    await screen.getByText('Here comes').waitFor({ state: 'detached' });
    await screen.reload();
    await untilPlaying(screen, 'lobby', 'Welcome');
    expect(await screen.getByText('Here comes').count()).toBe(0);
  });

  it('greets nobody with what was left behind long ago', async () => {
    const service = reachable();
    const screen = await openScreen(service);
    await screen.evaluate(() => {
      const past = Date.now() - 60_000;
      const greeting = {
        slug: 'lobby',
        name: 'Lobby',
        welcome: 'Here comes',
        language: 'en',
        since: past,
        until: past,
      };
      sessionStorage.setItem('signage.greeting', JSON.stringify(greeting));
    });
    await screen.routeWebSocket(/\/api\/screens\//, (socket) => socket.close());
    await screen.goto(`${service.url}/screen/lobby`);
    expect(await screen.evaluate(() => sessionStorage.getItem('signage.greeting'))).toBeNull();
    expect(await screen.getByText('Here comes').count()).toBe(0);
  });

  it('stays where it is while the chosen screen does not answer, and never shows an error', async () => {
    const service = reachable();
    const screen = await openScreen(service);
    let isAway = true;
    await screen.route('**/screen/lobby', (route) => (isAway ? route.abort() : route.continue()));
    await screen.getByText('Waiting for your phone').waitFor();
    await bind(service, { deviceId: await textOf(screen, '#device') });
    await screen.getByRole('heading', { name: 'Lobby' }).waitFor();
    await screen.waitForEvent('requestfailed', (request) => request.url().endsWith('/screen/lobby'));
    expect(screen.url()).toBe(`${service.url}/`);
    isAway = false;
    await untilPlaying(screen, 'lobby', 'Welcome');
  });

  it('is the same device after a reload, by an id that can be read', async () => {
    const service = reachable();
    const screen = await openScreen(service);
    const deviceId = await textOf(screen, '#device');
    expect(deviceId).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){3}$/);
    await screen.reload();
    expect(await textOf(screen, '#device')).toBe(deviceId);
  });

  it('uses a very wide band: what to do, where, and the code stand beside each other, in large letters', async () => {
    const service = reachable();
    const screen = await openScreen(service, { viewport: { width: 3840, height: 600 } });
    await screen.locator('#code svg').waitFor();
    const boxOf = async (selector: string) =>
      (await screen.locator(selector).first().boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    const [headline, ways, code] = [await boxOf('.headline'), await boxOf('dl'), await boxOf('#code')];
    expect(ways.x).toBeGreaterThan(headline.x + headline.width);
    expect(code.x).toBeGreaterThan(ways.x + ways.width);
    expect(code.height).toBeGreaterThan(480);
    expect(headline.height).toBeGreaterThan(95);
  });

  it('shows a long id in groups, which is whole when it is copied', async () => {
    const service = reachable();
    const id = '0123456789abcdef0123456789abcdef';
    const screen = await openScreen({ ...service, url: `${service.url}/?deviceId=${id}` });
    expect(await screen.locator('#device').textContent()).toBe(id);
    expect(await screen.locator('#device span').allTextContents()).toStrictEqual(id.match(/.{4}/g));
    expect(await scan(screen)).toMatch(new RegExp(`/onboard\\?deviceId=${id}$`));
  });

  it('has nothing outside of a screen of any size, nor over one another', async () => {
    const screen = await openScreen(
      { ...reachable(), url: `${reachable().url}/?deviceId=3f2b8c1e-90ab-4cde-8f01-23456789abcd` },
      { locale: 'de' },
    );
    await screen.locator('#code svg').waitFor();
    const box = async (selector: string) => {
      const { x, y, width, height } = (await screen.locator(selector).first().boundingBox()) ?? Object.create(null);
      return { left: x, top: y, right: x + width, bottom: y + height };
    };
    const sizes = [
      [1280, 720],
      [768, 1024],
      [1920, 1080],
      [1080, 1920],
      [3840, 2160],
      [1024, 768],
    ] as const;
    for (const [width, height] of isSoak ? sizes : sizes.slice(0, 2)) {
      await screen.setViewportSize({ width, height });
      const [code, words] = [await box('#code'), await box('.words')];
      const size = `at ${width} by ${height}`;
      for (const { left, top, right, bottom } of [code, words]) {
        expect(Math.min(left, top), size).toBeGreaterThan(0);
        expect(right, size).toBeLessThan(width);
        expect(bottom, size).toBeLessThan(height);
      }
      expect(words.right <= code.left || words.top >= code.bottom, size).toBe(true);
    }
  });
});
