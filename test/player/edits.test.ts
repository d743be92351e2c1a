import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
import { putVideo } from '../support/media.ts';
import {
  colourSlide,
  colourTemplate,
  connectionOf,
  lobby,
  openPlayer,
  patience,
  sharePlayer,
  waitForColour,
  waitForConnection,
} from '../support/player.ts';
import { startTestService } from '../support/service.ts';

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

  it('of the slide that is on leaves it what was left of its time', async () => {
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
