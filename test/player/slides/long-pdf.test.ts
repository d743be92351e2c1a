/** Long documents, posters and transparency: painted at the size of the screen, in bounded memory, and in time. */
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { describeBrowser, launchBrowser } from '../../support/browser.ts';
import { putPdf } from '../../support/pdf.ts';
import { lobby, patience, waitForConnection } from '../../support/player.ts';
import { record } from '../../support/screencast.ts';
import { startTestService, temporaryFolder } from '../../support/service.ts';
import { repeats, walk } from '../../support/soak.ts';

const viewport = { width: 640, height: 360 };
const seconds = repeats(3, 40);
const a0 = [3370, 2384] as const;
const colours = [
  [220, 20, 20],
  [20, 220, 20],
  [20, 20, 220],
] as const;
const pages = Array.from({ length: 300 }, (_, at) => ({
  colour: colours[at % 3] ?? colours[0],
  ...(at % 2 === 0 ? { size: a0 } : {}),
  isTransparent: at % 5 === 0,
  text: `Page ${at + 1}`,
}));

/** Pixels of all canvases that a page has made and not let go of. */
const watchCanvases = (page: Page) =>
  page.addInitScript(() => {
    const made: HTMLCanvasElement[] = [];
    const create = document.createElement.bind(document);
    document.createElement = ((name: string, options?: ElementCreationOptions) => {
      const element = create(name, options);
      if (element instanceof HTMLCanvasElement) made.push(element);
      return element;
    }) as typeof document.createElement;
    Object.assign(window, { canvasPixels: () => made.reduce((sum, { width, height }) => sum + width * height, 0) });
  });

describeBrowser('a document of 300 pages, posters among them', () => {
  it('turns each page in time, and holds no more than three', {
    ...walk,
    timeout: 60_000 + seconds * 2_000,
  }, async () => {
    const dataDir = temporaryFolder();
    const media_url = putPdf(dataDir, 'book.pdf', pages);
    const after = { id: 'after', kind: 'text', title: 'After', duration_seconds: 3600 };
    const book = { id: 'book', kind: 'pdf', media_url, duration_seconds: seconds };
    const service = await startTestService({ dataDir, content: lobby([book, after]) });
    const context = await (await launchBrowser()).newContext({ viewport });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await watchCanvases(page);
    const recording = await record(page);
    await page.goto(`${service.url}/screen/lobby`);
    let most = 0;
    const timer = setInterval(() => {
      void page
        .evaluate(() => (window as unknown as { canvasPixels(): number }).canvasPixels())
        .then((pixels) => {
          most = Math.max(most, pixels);
        })
        .catch(() => {});
    }, 250);
    await waitForConnection(service, 'lobby', { currentSlideId: 'book' });
    await expect
      .poll(async () => (await service.get('/api/screens/lobby/connections')).text(), {
        ...patience,
        timeout: 20_000 + seconds * 1_000,
      })
      .toContain('"currentSlideId":"after"');
    clearInterval(timer);
    const frames = await recording.stop();
    const shown = frames.map(({ at, points }) => ({
      at,
      page: points[12]?.map((part) => (part > 120 ? 1 : 0)).join(''),
    }));
    const changes = shown.filter(
      ({ page: colour }, at) => /^(?:100|010|001)$/.test(colour ?? '') && colour !== shown[at - 1]?.page,
    );
    // One a second, each in its order.
    expect(changes.map(({ page: colour }) => colour)).toEqual(
      Array.from({ length: seconds }, (_, at) => ['100', '010', '001'][at % 3]),
    );
    const late = changes.map(({ at }, index) => at - (changes[0]?.at ?? 0) - index);
    expect(Math.max(...late.map(Math.abs))).toBeLessThan(0.5);
    // Three pages of the screen's pixels, and small change for the colour of the paper.
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(3.5 * viewport.width * viewport.height);
  });
});
