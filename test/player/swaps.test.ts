import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { describeBrowser, launchBrowser } from '../support/browser.ts';
import { putImage, putVideo, type Rgb } from '../support/media.ts';
import { healthOf } from '../support/observe.ts';
import { colourSlide, colourTemplate, lobby, openPlayer, patience, waitForConnection } from '../support/player.ts';
import { type Frame, record } from '../support/screencast.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { repeats, walk, walks } from '../support/soak.ts';

/** Colours whose parts add up to one sum, as do those of every mixture of them: black and the page's own do not. */
const red = [230, 20, 20] as const;
const green = [20, 230, 20] as const;
const blue = [20, 20, 230] as const;
const SUM = 270;
const TOLERANCE = 60;
/** Each kind replaces another one at least twice. */
const SWAPS = repeats(6, 50, 'SIGNAGE_TEST_SWAPS');

const isMeant = ([r, g, b]: Rgb): boolean => Math.abs(r + g + b - SUM) <= TOLERANCE;
const isLit = ([r, g, b]: Rgb): boolean => r + g + b > TOLERANCE;

/** Each frame is drawn, encoded and decoded by the processor. */
const viewport = { width: 160, height: 90 };

/** The frames that hold a point which is not as it should be. */
const strangeIn = (frames: readonly Frame[], isRight: (point: Rgb) => boolean): string[] =>
  frames.flatMap(({ points }, index) => {
    const point = points.find((each) => !isRight(each));
    return point === undefined ? [] : [`frame ${index} of ${frames.length}: rgb(${point})`];
  });

describeBrowser('in a real browser', () => {
  it.each<[title: string, fade: boolean]>([['with fades', true], ...walks<[string, boolean]>(['with cuts', false])])(
    `${SWAPS} swaps %s show no frame that is black or the page behind`,
    async (_, fade_between_slides) => {
      const dataDir = temporaryFolder();
      const slides = [
        { id: 'image', kind: 'image', media_url: putImage(dataDir, 'red.png', red), duration_seconds: 0.5 },
        { id: 'video', kind: 'video', media_url: putVideo(dataDir, 'green.mp4', green, 2), duration_seconds: 0.5 },
        colourSlide('template', blue, 0.5),
      ];
      const service = await startTestService({
        dataDir,
        content: {
          screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
          playlists: [{ id: 'main', fade_between_slides, slides }],
          templates: [colourTemplate],
        },
      });
      const page = await openPlayer(service, 'lobby', viewport);
      await waitForConnection(service, 'lobby', { currentSlideId: 'template' });
      await page.evaluate(() => {
        const counted = { swaps: 0 };
        Object.assign(globalThis, { counted });
        const stage = document.getElementById('stage');
        if (stage === null) throw new Error('no stage');
        new MutationObserver((changes) => {
          counted.swaps += changes.flatMap(({ removedNodes }) => [...removedNodes]).length;
        }).observe(stage, { childList: true });
      });
      const recording = await record(page);
      await page.waitForFunction(
        (wanted) => (globalThis as unknown as { counted: { swaps: number } }).counted.swaps >= wanted,
        SWAPS,
        { timeout: 120_000 },
      );
      const frames = await recording.stop();
      expect(frames.length).toBeGreaterThan(SWAPS);
      expect(strangeIn(frames, isMeant)).toEqual([]);
      // A busy machine may be slow to paint a few of them.
      await expect.poll(async () => (await healthOf(service)).gaps, patience).toMatchObject({ p50: 0 });
      expect((await healthOf(service)).gaps.count).toBeGreaterThanOrEqual(SWAPS);
    },
    150_000,
  );
});

const lobbyOf = (slides: object[]) => lobby(slides, { templates: [colourTemplate] });
const count = async (service: TestService): Promise<number> => (await healthOf(service)).gaps.count;

interface Scene {
  service: TestService;
  page: Page;
  dataDir: string;
}

describeBrowser('no frame that is not meant is seen', () => {
  /** Opens a lobby, records it while something happens to it, and answers the frames. */
  const film = async (slidesOf: (dataDir: string) => object[], act: (scene: Scene) => Promise<void>) => {
    const dataDir = temporaryFolder();
    const service = await startTestService({ dataDir, content: lobbyOf(slidesOf(dataDir)) });
    const page = await openPlayer(service, 'lobby', viewport);
    await waitForConnection(service, 'lobby', { currentSlide: 0 });
    await page.locator('.slide[data-state="playing"]').first().waitFor();
    await page.waitForTimeout(500);
    const recording = await record(page);
    await act({ service, page, dataDir });
    return recording.stop();
  };

  it('where one video loops', walk, async () => {
    const frames = await film(
      (dataDir) => [{ id: 'film', kind: 'video', media_url: putVideo(dataDir, 'green.mp4', green, 1) }],
      ({ page }) => page.waitForTimeout(3_500),
    );
    expect(strangeIn(frames, isMeant)).toEqual([]);
  });

  it('where the playlist changes in the middle of swaps', async () => {
    const slides = [colourSlide('a', red, 0.6), colourSlide('b', blue, 0.6)];
    const frames = await film(
      () => slides,
      async ({ service }) => {
        for (let edit = 0; edit < repeats(2, 12, 'SIGNAGE_TEST_SWAPS'); edit++) {
          const before = await count(service);
          service.writeContent(lobbyOf(slides.map((slide) => ({ ...slide, title: `Edit ${edit}` }))));
          await expect.poll(() => count(service), patience).toBeGreaterThan(before);
        }
      },
    );
    expect(strangeIn(frames, isMeant)).toEqual([]);
  });

  it('where a slide fails as it should come on', walk, async () => {
    const frames = await film(
      (dataDir) => [
        colourSlide('a', red, 0.5),
        { id: 'film', kind: 'video', media_url: putImage(dataDir, 'film.mp4', green) },
        colourSlide('b', blue, 0.5),
        { id: 'page', kind: 'web', media_url: 'http://127.0.0.1:9/' },
      ],
      ({ service }) => expect.poll(() => count(service), patience).toBeGreaterThan(6),
    );
    expect(strangeIn(frames, isMeant)).toEqual([]);
  });

  it('where the schedule empties', walk, async () => {
    const frames = await film(
      () => [colourSlide('a', blue)],
      async ({ page, service }) => {
        const schedule_end_datetime = new Date(Date.now() + 1_500).toISOString();
        service.writeContent(lobbyOf([{ ...colourSlide('a', blue), schedule_mode: 'between', schedule_end_datetime }]));
        await waitForConnection(service, 'lobby', { currentSlide: null });
        await page.waitForTimeout(1_500);
      },
    );
    expect(frames.at(-1)?.points.every(isMeant)).toBe(false);
    expect(strangeIn(frames, isLit)).toEqual([]);
  });
});

describeBrowser('a swap', () => {
  it('to a video whose picture comes late is told with its gap', walk, async () => {
    const dataDir = temporaryFolder();
    const slides = [
      { id: 'film', kind: 'video', media_url: putVideo(dataDir, 'green.mp4', green, 3), duration_seconds: 3 },
      colourSlide('a', red, 1),
    ];
    const service = await startTestService({ dataDir, content: lobbyOf(slides) });
    const context = await (await launchBrowser()).newContext({ viewport });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.addInitScript(() => {
      const request = HTMLVideoElement.prototype.requestVideoFrameCallback;
      HTMLVideoElement.prototype.requestVideoFrameCallback = function (callback) {
        return request.call(this, (...given) => setTimeout(() => callback(...given), 4_000));
      };
    });
    await page.goto(`${service.url}/screen/lobby`);
    await expect.poll(async () => (await healthOf(service)).gaps.max ?? 0, patience).toBeGreaterThan(300);
    expect((await healthOf(service)).pages).toMatchObject([{ screenSlug: 'lobby', clock: 'ok' }]);
  });
});
