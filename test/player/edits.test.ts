import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { expect, it, onTestFinished } from 'vitest';
import { describeBrowser, launchBrowser } from '../support/browser.ts';
import { putImage, putVideo, type Rgb } from '../support/media.ts';
import {
  colourSlide,
  colourTemplate,
  connectionOf,
  isClose,
  lobby,
  openPlayer,
  patience,
  sharePlayer,
  waitForColour,
  waitForConnection,
} from '../support/player.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { walk, walks } from '../support/soak.ts';

const red = [200, 30, 30] as const;
const green = [30, 160, 30] as const;
const blue = [30, 30, 200] as const;

const templates = [colourTemplate];
const content = (...slides: object[]) => lobby(slides, { templates });

/** The one layer, once what was on before is gone. */
const layerOf = async (page: Page) => {
  await expect.poll(() => page.locator('.layer').count(), patience).toBe(1);
  return page.locator('.layer').elementHandle();
};

describeBrowser('an edit of the content', () => {
  const player = sharePlayer({ width: 320, height: 180 });

  const open = async (...slides: object[]) => {
    const { service, show } = player();
    return { service, page: await show(slides, { templates }) };
  };

  it('replaces the slide that it changed, without a reload', async () => {
    const { service, page } = await open(colourSlide('one', red));
    await waitForColour(page, red);
    await page.evaluate(() => Object.assign(globalThis, { marked: true }));
    service.writeContent(content(colourSlide('one', green)));
    await waitForColour(page, green);
    expect(await page.evaluate(() => 'marked' in globalThis)).toBe(true);
  });

  it('of the slide that is on leaves it what was left of its time', walk, async () => {
    const { service, page } = await open(colourSlide('one', red, 8), colourSlide('two', blue, 8));
    const beganAt = performance.now();
    await page.waitForTimeout(5_000);
    service.writeContent(content(colourSlide('one', green, 8), colourSlide('two', blue, 8)));
    await waitForColour(page, green);
    await waitForConnection(service, 'lobby', { currentSlideId: 'two' });
    expect(performance.now() - beganAt).toBeLessThan(11_000);
  });

  it('of the video that is on goes on with it where it was', { timeout: 60_000 }, async () => {
    const { dataDir } = player().service;
    const film = { id: 'film', kind: 'video', media_url: putVideo(dataDir, 'film.mp4', green, 30) };
    const { service, page } = await open(film, colourSlide('two', blue));
    const time = () =>
      page
        .locator('.slide-video[data-state="playing"] video')
        .last()
        .evaluate((video: HTMLVideoElement) => [video.currentTime, video.style.objectFit] as const);
    await expect.poll(async () => (await time())[0], patience).toBeGreaterThan(4);
    service.writeContent(content({ ...film, content: { fit: 'contain' } }, colourSlide('two', blue)));
    await expect.poll(async () => (await time())[1], patience).toBe('contain');
    expect((await time())[0]).toBeGreaterThan(4);
  });

  it('leaves alone what it did not change: the same elements, at another index', async () => {
    const { service, page } = await open(colourSlide('one', red));
    await waitForColour(page, red);
    const layer = await layerOf(page);
    service.writeContent(content(colourSlide('zero', blue), colourSlide('one', red)));
    await waitForConnection(service, 'lobby', { currentSlide: 1, currentSlideId: 'one' });
    expect(await layer?.evaluate((element) => element.isConnected)).toBe(true);
  });

  it('that removes the slide brings what follows it', async () => {
    const slides = [colourSlide('one', red), colourSlide('two', green), colourSlide('three', blue)];
    const { service, page } = await open(...slides);
    await service.post('/api/screens/lobby/commands', { command: 'next' });
    await waitForColour(page, green);
    service.writeContent(content(...slides.filter(({ id }) => id !== 'two')));
    await waitForColour(page, blue);
    await waitForConnection(service, 'lobby', { currentSlide: 1, currentSlideId: 'three' });
  });

  it('that is broken changes nothing', async () => {
    const { service, page } = await open(colourSlide('one', red));
    await waitForColour(page, red);
    const layer = await layerOf(page);
    service.writeContent('{ "screens": [');
    await expect.poll(async () => (await service.get('/healthz')).text(), patience).toContain('"invalid"');
    expect(await layer?.evaluate((element) => element.isConnected)).toBe(true);
    await waitForColour(page, red);
  });

  it('that removes the screen leaves a calm page, which plays again when the screen is back', async () => {
    const { service, page } = await open(colourSlide('one', red));
    await waitForColour(page, red);
    service.writeContent({ screens: [], playlists: [] });
    await page.locator('.idle').waitFor();
    service.writeContent(content(colourSlide('one', red)));
    await waitForColour(page, red);
  });

  it('that creates a screen reaches the page that waits for it', async () => {
    const { service, page } = player();
    service.writeContent({ screens: [], playlists: [] });
    await expect.poll(async () => (await service.get('/api/screens/lobby/playlist')).status, patience).toBe(404);
    await page.reload();
    await page.locator('.idle').waitFor();
    service.writeContent(content(colourSlide('one', red)));
    await waitForColour(page, red);
  });

  it('a single slide is not restarted when its time is up', async () => {
    const { service, page } = await open(colourSlide('one', red, 0.2));
    await waitForColour(page, red);
    const layer = await layerOf(page);
    await page.waitForTimeout(1_500);
    expect(await layer?.evaluate((element) => element.isConnected)).toBe(true);
    expect(await connectionOf(service, 'lobby')).toMatchObject({ currentSlide: 0 });
  });

  it('that removes the screen lets a page move on, once its device is bound to another', async () => {
    const both = content(colourSlide('one', red));
    const bar = { name: 'Bar', slug: 'bar', playlist_id: 'main' };
    const service = await startTestService({ content: { ...both, screens: [...both.screens, bar] } });
    const page = await openPlayer(service, 'lobby');
    await waitForColour(page, red);
    const deviceId = (await connectionOf(service, 'lobby'))?.deviceId;
    service.writeContent({ ...both, screens: [bar] });
    await page.locator('.idle').waitFor();
    await service.post('/api/onboarding', { deviceId, clientName: 'By the bar', screenSlug: 'bar' });
    await waitForConnection(service, 'bar', { clientName: 'By the bar', currentSlideId: 'one' });
  });
});

describeBrowser('a medium that is replaced under its name', () => {
  const put = async (service: TestService, name: string, from: string): Promise<void> => {
    const body = new Uint8Array(readFileSync(join(from, 'uploads', name)));
    expect((await service.get(`/api/media/${name}`, { method: 'PUT', body })).ok).toBe(true);
  };

  const plain = { name: 'Lobby', slug: 'lobby', playlist_id: 'main' };

  const sidebar = { name: 'Lobby', slug: 'lobby', playlist_id: 'none', layout: 'sidebar', zones: { sidebar: 'main' } };

  it.each<[what: string, screen: object, sync: boolean]>([
    ['picture', plain, false],
    ['picture of a sidebar', sidebar, false],
    ...walks<[string, object, boolean]>(['picture of a synchronized playlist', plain, true], ['film', plain, false]),
  ])('shows where it is the only %s', async (what, screen, sync) => {
    const [dataDir, other] = [temporaryFolder(), temporaryFolder()];
    const isFilm = what === 'film';
    const name = isFilm ? 'menu.mp4' : 'menu.png';
    const make = (folder: string, colour: Rgb): string =>
      isFilm ? putVideo(folder, name, colour, 2) : putImage(folder, name, colour);
    const menu = { id: 'menu', kind: isFilm ? 'video' : 'image', media_url: make(dataDir, red), duration_seconds: 10 };
    make(other, blue);
    const playlists = [
      { id: 'main', sync, slides: [menu] },
      { id: 'none', slides: [] },
    ];
    const service = await startTestService({ dataDir, content: { screens: [screen], playlists } });
    const page = await openPlayer(service, 'lobby', { width: 320, height: 180 });
    const picture = page.locator('.slide[data-state="playing"] .picture');
    await picture.waitFor();
    const colour = async (): Promise<Rgb> => {
      const [r = 0, g = 0, b = 0] = PNG.sync.read(await picture.last().screenshot()).data;
      return [r, g, b];
    };
    await expect.poll(async () => isClose(await colour(), red), patience).toBe(true);
    await put(service, name, other);
    await expect.poll(async () => isClose(await colour().catch(() => red), blue), patience).toBe(true);
  });

  it('shows where a template was drawn before the file was there', async () => {
    const other = temporaryFolder();
    putImage(other, 'menu.png', blue);
    const html = '<img src="/media/menu.png" style="position: absolute; inset: 0; width: 100%; height: 100%">';
    const template = { id: 'menu', html };
    const slides = [{ id: 'menu', title: 'Menu', kind: 'template', template_id: 'menu', duration_seconds: 10 }];
    const service = await startTestService({ content: lobby(slides, { templates: [template] }) });
    const page = await openPlayer(service, 'lobby', { width: 320, height: 180 });
    await waitForConnection(service, 'lobby', { currentSlideId: 'menu' });
    await put(service, 'menu.png', other);
    await waitForColour(page, blue);
  });

  it('shows though the page lost its connection before it was told', async () => {
    const [dataDir, other] = [temporaryFolder(), temporaryFolder()];
    const menu = { id: 'menu', kind: 'image', media_url: putImage(dataDir, 'menu.png', red), duration_seconds: 10 };
    putImage(other, 'menu.png', blue);
    const service = await startTestService({ dataDir, content: lobby([menu]) });
    const page = await (await launchBrowser()).newPage();
    onTestFinished(() => page.close());
    const lost: string[] = [];
    await page.routeWebSocket('**/socket', (socket) => {
      socket.connectToServer().onMessage((message) => {
        if (!String(message).includes('"media"')) return socket.send(message);
        lost.push(String(message));
        void socket.close();
      });
    });
    await page.goto(`${service.url}/screen/lobby`);
    await waitForConnection(service, 'lobby', { currentSlideId: 'menu' });
    await waitForColour(page, red);
    await put(service, 'menu.png', other);
    await waitForColour(page, blue);
    expect(lost).toHaveLength(1);
  });
});
