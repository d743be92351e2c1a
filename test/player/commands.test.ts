import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../streams/publishing.ts';
import { describeBrowser } from '../support/browser.ts';
import { healthOf } from '../support/observe.ts';
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
import { startTestService, type TestService } from '../support/service.ts';

const red = [200, 30, 30] as const;
const green = [30, 160, 30] as const;
const blue = [30, 30, 200] as const;
const black = [0, 0, 0] as const;

const threeColours = lobby([colourSlide('red', red), colourSlide('green', green), colourSlide('blue', blue)], {
  templates: [colourTemplate],
});

interface Scene {
  service: TestService;
  page: Page;
  command(command: string, more?: object): Promise<void>;
}

/** A page that shows the red slide. */
const open = async (content: object = threeColours): Promise<Scene> => {
  const service = await startTestService({ content });
  const page = await openPlayer(service, 'lobby');
  await waitForConnection(service, 'lobby', { currentSlideId: 'red' });
  return {
    service,
    page,
    command: async (command, more = {}) => {
      const response = await service.post('/api/screens/lobby/commands', { command, ...more });
      expect(await response.json()).toMatchObject({ command, sent: 1 });
    },
  };
};

/** A page of somebody else's, which counts how often a frame was given it, and one that never answers. */
interface BluePage {
  url: string;
  loads(): number;
  /** Holds the next answer back; resolves, once it is asked for, with what lets it go. */
  hold(): Promise<() => void>;
}

const startBluePage = async (): Promise<BluePage> => {
  let loads = 0;
  let onHeld: ((release: () => void) => void) | undefined;
  const site = createServer((request, response) => {
    if (request.url === '/slow') return;
    // The look before is no load.
    if (request.headers['sec-fetch-dest'] === 'iframe') loads += 1;
    response.setHeader('Content-Type', 'text/html');
    const answer = (): void => void response.end(`<body style="background:rgb(${blue})">`);
    if (onHeld === undefined) return answer();
    onHeld(answer);
    onHeld = undefined;
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    site.closeAllConnections();
    site.close();
  });
  return {
    url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/`,
    loads: () => loads,
    hold: () =>
      new Promise((resolve) => {
        onHeld = resolve;
      }),
  };
};

/** A mark that a reload of the page wipes out. */
const mark = (page: Page): Promise<void> => page.evaluate(() => void Object.assign(globalThis, { marked: true }));
const isMarked = (page: Page): Promise<boolean> => page.evaluate(() => 'marked' in globalThis);

describeBrowser('a command in a real browser', () => {
  it.each([
    ['next', 'green', green, 1],
    ['right', 'green', green, 1],
    ['previous', 'blue', blue, 2],
    ['left', 'blue', blue, 2],
  ] as const)('%s shows the %s slide and says so', async (name, id, colour, index) => {
    const { service, page, command } = await open();
    await command(name);
    await waitForConnection(service, 'lobby', {
      currentSlide: index,
      currentSlideId: id,
      currentSlideTitle: `The ${id} slide`,
    });
    await waitForColour(page, colour);
  });

  it('next goes past slides that are off schedule', async () => {
    const off = { ...colourSlide('green', green), schedule_mode: 'between', schedule_end_datetime: '2020-01-01' };
    const { service, command } = await open(
      lobby([colourSlide('red', red), off, colourSlide('blue', blue)], { templates: [colourTemplate] }),
    );
    await command('next');
    await waitForConnection(service, 'lobby', { currentSlideId: 'blue' });
  });

  it('next twice at once goes two slides on', async () => {
    const { service, command } = await open();
    await Promise.all([command('next'), command('next')]);
    await waitForConnection(service, 'lobby', { currentSlideId: 'blue' });
  });

  it('pause holds the slide past its time, and pause again lets it go on', async () => {
    const { service, page, command } = await open(
      lobby([colourSlide('red', red, 2), colourSlide('green', green)], { templates: [colourTemplate] }),
    );
    await command('pause');
    await waitForConnection(service, 'lobby', { paused: true });
    await page.waitForTimeout(3_000);
    expect(await connectionOf(service, 'lobby')).toMatchObject({ currentSlideId: 'red', paused: true });
    await command('pause');
    await waitForConnection(service, 'lobby', { currentSlideId: 'green', paused: false });
  });

  it('blackout is set, cleared and toggled, and what was on comes back', async () => {
    const { service, page, command } = await open();
    await command('blackout', { blackout: true });
    await waitForConnection(service, 'lobby', { blackout: true, currentSlideId: 'red' });
    await waitForColour(page, black);
    await command('blackout', { blackout: true });
    await command('blackout', { blackout: false });
    await waitForConnection(service, 'lobby', { blackout: false });
    await waitForColour(page, red);
    await command('blackout');
    await waitForConnection(service, 'lobby', { blackout: true });
  });

  it('refresh keeps the slide and the page', async () => {
    const { service, page, command } = await open();
    await command('next');
    await waitForConnection(service, 'lobby', { currentSlideId: 'green' });
    await mark(page);
    const requested = page.waitForRequest((request) => request.url().endsWith('/playlist'));
    await command('refresh');
    await requested;
    expect(await isMarked(page)).toBe(true);
    expect(await connectionOf(service, 'lobby')).toMatchObject({ currentSlideId: 'green' });
  });

  it('reload loads the page anew, under another connection and the same client', async () => {
    const { service, page, command } = await open();
    await mark(page);
    const before = await connectionOf(service, 'lobby');
    const loaded = page.waitForEvent('load');
    await command('reload');
    await loaded;
    expect(await isMarked(page)).toBe(false);
    await expect
      .poll(async () => (await connectionOf(service, 'lobby'))?.id ?? before?.id, { timeout: 10_000 })
      .not.toBe(before?.id);
    expect(await connectionOf(service, 'lobby')).toMatchObject({ clientId: before?.clientId });
  });

  it('redirect to a URL shows it over the player, which stays connected; reload leads back', async () => {
    const { url } = await startBluePage();
    const { service, page, command } = await open();
    await command('redirect', { url });
    await waitForConnection(service, 'lobby', { page: url });
    await waitForColour(page, blue);
    await command('reload');
    await waitForConnection(service, 'lobby', { page: '/screen/lobby', currentSlideId: 'red' });
    await waitForColour(page, red);
  });

  it('redirect while the screen is black shows nothing and plays nothing before it is light again', async () => {
    const { url, loads } = await startBluePage();
    const { service, page, command } = await open();
    await command('blackout', { blackout: true });
    await command('redirect', { url });
    await waitForConnection(service, 'lobby', { page: url, blackout: true });
    await waitForColour(page, black);
    expect(loads()).toBe(0);
    await command('blackout', { blackout: false });
    await waitForColour(page, blue);
    await command('redirect', { url: `${url}again` });
    await waitForConnection(service, 'lobby', { page: `${url}again` });
    expect(await page.locator('.redirect').count()).toBe(1);
    expect(loads()).toBe(2);
  });

  it('blackout that ends stays black until the page in the frame is back', async () => {
    const { url, hold } = await startBluePage();
    const content = lobby([{ id: 'red', kind: 'web', media_url: url, duration_seconds: 3600 }]);
    const { page, command } = await open(content);
    await waitForColour(page, blue);
    await command('blackout', { blackout: true });
    await waitForColour(page, black);
    const held = hold();
    await command('blackout', { blackout: false });
    const release = await held;
    const isBlack = await page.locator('#blackout').isVisible();
    release();
    expect(isBlack).toBe(true);
    await page.locator('#blackout').waitFor({ state: 'hidden' });
    await waitForColour(page, blue);
  });

  it('redirect to a URL that nobody answers at changes nothing, and the service is told', async () => {
    const { service, page, command } = await open();
    const url = `http://127.0.0.1:${await freePort()}/`;
    await command('redirect', { url });
    const reason = `${url} can't be reached`;
    await expect
      .poll(async () => (await healthOf(service)).pages, patience)
      .toMatchObject([{ lastFault: { slideId: null, reason } }]);
    expect(await page.locator('.redirect').count()).toBe(0);
    expect(await connectionOf(service, 'lobby')).toMatchObject({ page: '/screen/lobby', currentSlideId: 'red' });
  });

  it('redirect to a URL that another one overtakes is neither shown nor told of as a fault', async () => {
    const { url } = await startBluePage();
    const { service, page, command } = await open();
    const asked = page.waitForRequest(`${url}slow`);
    await command('redirect', { url: `${url}slow` });
    await asked;
    await command('redirect', { url });
    await waitForConnection(service, 'lobby', { page: url });
    await waitForColour(page, blue);
    expect((await healthOf(service)).pages).toMatchObject([{ lastFault: null }]);
    expect(await page.locator('.redirect').count()).toBe(1);
  });

  it('redirect to a path takes the page there', async () => {
    const { service, page, command } = await open({
      ...threeColours,
      screens: [...threeColours.screens, { name: 'Bar', slug: 'bar', playlist_id: 'main' }],
    });
    await command('redirect', { url: '/screen/bar' });
    await waitForConnection(service, 'bar', { page: '/screen/bar' });
    expect(new URL(page.url()).pathname).toBe('/screen/bar');
  });

  it('redirect to a path that is not there changes nothing', async () => {
    const { service, page, command } = await open();
    const asked = page.waitForResponse((response) => response.url().endsWith('/nowhere'));
    await command('redirect', { url: '/nowhere' });
    await asked;
    expect(await connectionOf(service, 'lobby')).toMatchObject({ page: '/screen/lobby', currentSlideId: 'red' });
  });

  it('setclientname names the device for good: the name outlives a reload of the page', async () => {
    const { service, page, command } = await open();
    const deviceId = (await connectionOf(service, 'lobby'))?.deviceId;
    await command('setclientname', { deviceId, clientName: 'By the door' });
    await waitForConnection(service, 'lobby', { clientName: 'By the door', label: 'By the door' });
    await page.reload();
    await waitForConnection(service, 'lobby', { clientName: 'By the door', currentSlideId: 'red' });
  });
});
