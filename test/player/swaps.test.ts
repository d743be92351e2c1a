import { expect, it } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
import { putImage, putVideo, type Rgb } from '../support/media.ts';
import { colourSlide, colourTemplate, openPlayer, waitForConnection } from '../support/player.ts';
import { record } from '../support/screencast.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

/** Colours whose parts add up to one sum, as do those of every mixture of them: black and the page's own do not. */
const red = [230, 20, 20] as const;
const green = [20, 230, 20] as const;
const blue = [20, 20, 230] as const;
const SUM = 270;
const TOLERANCE = 60;

const isMeant = ([r, g, b]: Rgb): boolean => Math.abs(r + g + b - SUM) <= TOLERANCE;

describeBrowser('in a real browser', () => {
  it.each([
    ['with fades', true],
    ['with cuts', false],
  ])(
    '50 swaps %s show no frame that is black or the page behind',
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
      const page = await openPlayer(service, 'lobby');
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
        () => (globalThis as unknown as { counted: { swaps: number } }).counted.swaps >= 50,
        null,
        {
          timeout: 120_000,
        },
      );
      const frames = await recording.stop();
      expect(frames.length).toBeGreaterThan(50);
      const strange = frames.flatMap(({ points }, index) => {
        const point = points.find((each) => !isMeant(each));
        return point === undefined ? [] : [`frame ${index} of ${frames.length}: rgb(${point})`];
      });
      expect(strange).toEqual([]);
    },
    150_000,
  );
});
