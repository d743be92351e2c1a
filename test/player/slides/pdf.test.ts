import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { describeBrowser, launchBrowser } from '../../support/browser.ts';
import { putImage } from '../../support/media.ts';
import { logged } from '../../support/observe.ts';
import { encryption, makePdf, putPdf } from '../../support/pdf.ts';
import { lobby, openPlayer, patience, waitForColour, waitForConnection } from '../../support/player.ts';
import { record } from '../../support/screencast.ts';
import { startTestService, type TestService, temporaryFolder } from '../../support/service.ts';
import { walk } from '../../support/soak.ts';

const red = [220, 20, 20] as const;
const green = [20, 220, 20] as const;
const blue = [20, 20, 220] as const;
const threePages = [red, green, blue].map((colour) => ({ colour }));

const send = (service: TestService, command: string): Promise<Response> =>
  service.post('/api/screens/lobby/commands', { command });

const openDocument = async (pages: typeof threePages, slide: object, ...others: object[]) => {
  const dataDir = temporaryFolder();
  const media_url = putPdf(dataDir, 'menu.pdf', pages);
  const content = lobby([{ id: 'menu', kind: 'pdf', media_url, ...slide }, ...others]);
  const service = await startTestService({ dataDir, content });
  return { service, page: await openPlayer(service, 'lobby') };
};

const canvasOf = (page: Page) =>
  page.locator('.slide-pdf canvas.picture').evaluate((canvas: HTMLCanvasElement) => [canvas.width, canvas.height]);

describeBrowser('a pdf slide', () => {
  it('shows its pages one after the other for as long as it is on, and then what follows', async () => {
    const after = { id: 'after', kind: 'text', title: 'After', duration_seconds: 3600 };
    const { service, page } = await openDocument(threePages, { duration_seconds: 3 }, after);
    const recording = await record(page);
    // Without screenshots: a frame that is drawn for one can be blended.
    await waitForConnection(service, 'lobby', { currentSlideId: 'after' });
    const frames = await recording.stop();
    // From the first page to the last the middle of the picture is one of the pages, whole.
    const middles = frames.map(({ points }) => points[12]?.map((part) => (part > 120 ? 1 : 0)).join(''));
    const pages = middles.slice(middles.indexOf('100'), middles.lastIndexOf('001') + 1);
    expect(new Set(pages)).toEqual(new Set(['100', '010', '001']));
  });

  it('is turned by left and right, and left for its neighbours at its ends', async () => {
    const text = { id: 'text', kind: 'text', title: 'Beside', duration_seconds: 3600 };
    const { service, page } = await openDocument(threePages, { duration_seconds: 3600 }, text);
    await waitForColour(page, red);
    for (const [command, colour] of [
      ['right', green],
      ['right', blue],
      ['left', green],
      ['left', red],
    ] as const) {
      await send(service, command);
      await waitForColour(page, colour);
    }
    await send(service, 'left');
    await waitForConnection(service, 'lobby', { currentSlideId: 'text' });
  });

  it(
    'appears in a new page where the program that reads it was lost on its way, and is not asked for again',
    walk,
    async () => {
      const dataDir = temporaryFolder();
      const menu = { id: 'menu', kind: 'pdf', media_url: putPdf(dataDir, 'menu.pdf', [{ colour: blue }]) };
      const service = await startTestService({ dataDir, content: lobby([menu]) });
      const context = await (await launchBrowser()).newContext();
      onTestFinished(() => context.close());
      const page = await context.newPage();
      let loads = 0;
      page.on('domcontentloaded', () => {
        loads += 1;
      });
      await page.route('**/document-*.js', (route) => (loads > 1 ? route.continue() : route.abort()));
      await page.goto(`${service.url}/screen/lobby`);
      await waitForColour(page, blue);
    },
  );

  it('that is the only slide begins again', walk, async () => {
    const { page } = await openDocument([{ colour: red }, { colour: green }], { duration_seconds: 2 });
    for (const colour of [red, green, red, green]) await waitForColour(page, colour);
  });

  it('is painted at the pixels of the screen, all of it or as its content says, and again where that changes', async () => {
    const { service, page } = await openDocument(threePages, { duration_seconds: 3600 });
    await waitForColour(page, red);
    expect(await canvasOf(page)).toEqual([254, 360]);
    await page.setViewportSize({ width: 960, height: 540 });
    await expect.poll(() => canvasOf(page), patience).toEqual([382, 540]);

    const media_url = '/media/menu.pdf';
    const content = { fit: 'cover', focus: [0, 0] };
    service.writeContent(lobby([{ id: 'menu', kind: 'pdf', media_url, content, duration_seconds: 3600 }]));
    await expect.poll(() => canvasOf(page), patience).toEqual([960, 1359]);
  });

  it('stands on the colour of its paper, or on the one that its content names', walk, async () => {
    const groundOf = (page: Page) =>
      page.locator('.slide-pdf').evaluate((element: HTMLElement) => element.style.background);
    const { service, page } = await openDocument(threePages, { duration_seconds: 3600 });
    await waitForColour(page, red);
    expect(await groundOf(page)).toBe(`rgb(${red.join(', ')})`);
    await send(service, 'right');
    await waitForColour(page, green);
    expect(await groundOf(page)).toBe(`rgb(${green.join(', ')})`);
    const content = { background: 'rgb(1, 2, 3)' };
    service.writeContent(lobby([{ id: 'menu', kind: 'pdf', media_url: '/media/menu.pdf', content }]));
    await expect.poll(() => page.locator('.slide-pdf').count(), patience).toBe(1);
    await expect.poll(() => groundOf(page), patience).toBe('rgb(1, 2, 3)');
  });

  it('lets go of its worker', walk, async () => {
    const pages = Array.from({ length: 12 }, () => ({ colour: red }));
    const dataDir = temporaryFolder();
    const media_url = putPdf(dataDir, 'long.pdf', pages);
    const short = { kind: 'text', title: 'Between', duration_seconds: 0.5 };
    const content = lobby([{ id: 'long', kind: 'pdf', media_url, duration_seconds: 0.5 }, short]);
    const service = await startTestService({ dataDir, content });
    const page = await openPlayer(service, 'lobby');
    await page.locator('.slide-pdf canvas.picture').first().waitFor();
    let most = 0;
    for (let look = 0; look < 20; look++) {
      most = Math.max(most, page.workers().length);
      await page.waitForTimeout(100);
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(2);
    service.writeContent(lobby([short]));
    await expect.poll(() => page.workers().length, patience).toBe(0);
  });
});

describeBrowser('a document that is no good', () => {
  it('is skipped and reported, never shown', async () => {
    const bad: Record<string, [bytes: Buffer, reason: string]> = {
      locked: [makePdf(threePages, encryption), 'is protected by a password'],
      cut: [makePdf(threePages).subarray(0, 20), "isn't a PDF document"],
      empty: [makePdf([]), 'cannot be'],
      none: [Buffer.from('hello'), "isn't a PDF document"],
    };
    const server = createServer((request, response) =>
      response
        .setHeader('Access-Control-Allow-Origin', '*')
        .setHeader('Content-Type', 'application/pdf')
        .end(bad[request.url?.slice(1) ?? '']?.[0]),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const slides = [
      ...Object.keys(bad).map((id) => ({ id, kind: 'pdf', media_url: `http://127.0.0.1:${port}/${id}` })),
      { id: 'missing', kind: 'pdf', media_url: '/media/missing.pdf' },
    ];
    const dataDir = temporaryFolder();
    const good = { id: 'good', kind: 'image', media_url: putImage(dataDir, 'red.png', red), duration_seconds: 2 };
    const service = await startTestService({ dataDir, content: lobby([...slides, good]) });
    await waitForColour(await openPlayer(service, 'lobby'), red);
    await waitForConnection(service, 'lobby', { currentSlideId: 'good' });
    const told = () =>
      new Map(logged(service, 'a slide was skipped').map(({ slideId, reason }) => [slideId, String(reason)]));
    await expect.poll(() => told().size, patience).toBe(slides.length);
    for (const [id, [, reason]] of Object.entries(bad)) expect(told().get(id)).toContain(reason);
    expect(told().get('missing')).toContain('404');
  });
});
