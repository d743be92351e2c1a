import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
import { putImage, type Rgb } from '../support/media.ts';
import { healthOf, payloadOf } from '../support/observe.ts';
import {
  colourOf,
  colourSlide,
  colourTemplate,
  connectionOf,
  isClose,
  lobby,
  patience,
  sharePlayer,
  waitForColour,
  waitForConnection,
} from '../support/player.ts';
import { freePort } from '../support/ports.ts';
import type { TestService } from '../support/service.ts';
import { walk, walks } from '../support/soak.ts';

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

/** A second of a tone, as a WAVE file of 8 kHz in 8 bits. */
const tone = (() => {
  const header = Buffer.alloc(44);
  const samples = Buffer.from(Array.from({ length: 8_000 }, (_, at) => 128 + 60 * Math.sin(at / 3)));
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8_000, 24);
  header.writeUInt32LE(8_000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.length, 40);
  return `data:audio/wav;base64,${Buffer.concat([header, samples]).toString('base64')}`;
})();

/** A page of somebody else's, which counts how often a frame was given it, and one that never answers. */
interface BluePage {
  url: string;
  loads(): number;
  /** Holds the next answer to a frame back; resolves, once it is asked for, with what lets it go. */
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
    const answer = (): void =>
      void response.end(`<body style="background:rgb(${blue})"><audio src="${tone}" autoplay loop></audio>`);
    if (onHeld === undefined || request.headers['sec-fetch-dest'] !== 'iframe') return answer();
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
  const player = sharePlayer();
  let opened = 0;

  /** The page, loaded again, shows the red slide. */
  const open = async (content: typeof threeColours = threeColours): Promise<Scene> => {
    const { service, page } = player();
    opened += 1;
    const name = `Lobby ${opened}`;
    await page.goto('about:blank');
    service.writeContent({ ...content, screens: content.screens.map((screen) => ({ ...screen, name })) });
    await expect.poll(async () => (await payloadOf(service)).screen.name, patience).toBe(name);
    await expect.poll(() => connectionOf(service, 'lobby'), patience).toBeNull();
    await page.goto(`${service.url}/screen/lobby`);
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

  it.each<[name: string, id: string, colour: Rgb, index: number]>([
    ['right', 'green', green, 1],
    ['previous', 'blue', blue, 2],
    ...walks<[string, string, Rgb, number]>(['next', 'green', green, 1], ['left', 'blue', blue, 2]),
  ])('%s shows the %s slide and says so', async (name, id, colour, index) => {
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

  it('reload loads the page again, under another connection and the same client', async () => {
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

  it(
    'redirect while the screen is black loads the page unseen, and shows it as soon as it is light again',
    walk,
    async () => {
      const { url, loads } = await startBluePage();
      const { service, page, command } = await open();
      await command('blackout', { blackout: true });
      await command('redirect', { url });
      await waitForConnection(service, 'lobby', { page: url, blackout: true });
      await waitForColour(page, black);
      expect(loads()).toBe(1);
      expect(await page.locator('.redirect iframe').isVisible()).toBe(false);
      await command('blackout', { blackout: false });
      await waitForColour(page, blue);
      await command('redirect', { url: `${url}again` });
      await waitForConnection(service, 'lobby', { page: `${url}again` });
      expect(await page.locator('.redirect').count()).toBe(1);
    },
  );

  it('blackout silences a page in a frame without leaving it: it is there as soon as the screen is light, however slowly it loads', async () => {
    const { url, hold } = await startBluePage();
    const content = lobby([{ id: 'red', kind: 'web', media_url: url, duration_seconds: 3600 }]);
    const { page, command } = await open(content);
    await waitForColour(page, blue);
    const audio = page.frameLocator('iframe').locator('audio');
    const time = () => audio.evaluate((element: HTMLAudioElement) => element.currentTime);
    await expect.poll(time, patience).toBeGreaterThan(0);
    await command('blackout', { blackout: true });
    await waitForColour(page, black);
    await expect.poll(() => audio.evaluate((element: HTMLAudioElement) => element.paused), patience).toBe(true);
    const held = hold();
    await command('blackout', { blackout: false });
    const release = await held;
    await page.locator('#blackout').waitFor({ state: 'hidden' });
    expect(isClose(await colourOf(page), blue)).toBe(true);
    release();
    await expect.poll(() => page.locator('iframe').count(), patience).toBe(1);
    await expect.poll(() => audio.evaluate((element: HTMLAudioElement) => element.paused), patience).toBe(false);
  });

  it('redirect to a URL that nobody answers at changes nothing, and the service is told', async () => {
    const { service, page, command } = await open();
    const url = `http://127.0.0.1:${await freePort()}/`;
    await command('redirect', { url });
    const reason = `${url} cannot be reached`;
    await expect
      .poll(async () => (await healthOf(service)).pages, patience)
      .toMatchObject([{ lastFault: { slideId: null, reason } }]);
    expect(await page.locator('.redirect').count()).toBe(0);
    expect(await connectionOf(service, 'lobby')).toMatchObject({ page: '/screen/lobby', currentSlideId: 'red' });
  });

  it('redirect to a URL that another one overtakes is neither shown nor told of as a fault', walk, async () => {
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

  it('redirect to a screen that is not there changes nothing, and the service is told', async () => {
    const { service, command } = await open();
    await command('redirect', { url: '/screen/nowhere' });
    const reason = '/screen/nowhere cannot be reached, or there is no such screen';
    await expect
      .poll(async () => (await healthOf(service)).pages, patience)
      .toMatchObject([{ lastFault: { slideId: null, reason } }]);
    expect(await connectionOf(service, 'lobby')).toMatchObject({ page: '/screen/lobby', currentSlideId: 'red' });
  });

  it('redirect to a file shows it over the player, which stays connected; commands reach it, and reload leads back', async () => {
    const { service, page, command } = await open();
    const url = `${putImage(service.dataDir, 'blue.png', blue)}?v=1`;
    await command('redirect', { url: service.url + url });
    await waitForConnection(service, 'lobby', { page: url, currentSlideId: 'red' });
    await waitForColour(page, blue);
    await command('blackout', { blackout: true });
    await waitForColour(page, black);
    await command('blackout', { blackout: false });
    await waitForColour(page, blue);
    await command('reload');
    await waitForConnection(service, 'lobby', { page: '/screen/lobby', currentSlideId: 'red' });
    await waitForColour(page, red);
  });

  it('redirect to a file that is no picture changes nothing, and the service is told', walk, async () => {
    const { service, command } = await open();
    mkdirSync(join(service.dataDir, 'uploads'), { recursive: true });
    writeFileSync(join(service.dataDir, 'uploads', 'page.html'), '<h1>Hello</h1>');
    await command('redirect', { url: '/media/page.html' });
    await expect
      .poll(async () => (await healthOf(service)).pages, patience)
      .toMatchObject([{ lastFault: { reason: expect.stringContaining('only pictures, videos and PDF') } }]);
    expect(await connectionOf(service, 'lobby')).toMatchObject({ page: '/screen/lobby', currentSlideId: 'red' });
  });

  it('setclientname names the device permanently: the name outlives a reload of the page', async () => {
    const { service, page, command } = await open();
    const deviceId = (await connectionOf(service, 'lobby'))?.deviceId;
    await command('setclientname', { deviceId, clientName: 'By the door' });
    await waitForConnection(service, 'lobby', { clientName: 'By the door', label: 'By the door' });
    await page.reload();
    await waitForConnection(service, 'lobby', { clientName: 'By the door', currentSlideId: 'red' });
  });
});
