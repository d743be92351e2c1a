/** What a screen shows after a start without a network, against what it showed with one. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { expect, it } from 'vitest';
import type { CopiesHealth } from '../../../service/contract/health.ts';
import { describeBrowser } from '../../support/browser.ts';
import { hasFfmpeg, putImage, putVideo } from '../../support/media.ts';
import { payloadOf } from '../../support/observe.ts';
import { putPdf } from '../../support/pdf.ts';
import { connectionOf, lobby, openPlayer, patience, waitForColour, waitForConnection } from '../../support/player.ts';
import { startTestService, type TestService, temporaryFolder } from '../../support/service.ts';
import { serveBytes, startRemote } from '../remote.ts';

const red = [230, 20, 20] as const;
/** Pictures are compared as a whole. */
const small = { width: 480, height: 270 };
const green = [20, 180, 20] as const;
const blue = [20, 20, 230] as const;

const copiesOf = async (service: TestService): Promise<CopiesHealth> =>
  ((await (await service.get('/healthz')).json()) as { copies: CopiesHealth }).copies;

/** How far two pictures of a screen are apart, per pixel and channel. */
const distance = (a: Buffer, b: Buffer): number => {
  const [one, other] = [PNG.sync.read(a).data, PNG.sync.read(b).data];
  return one.reduce((sum, value, at) => sum + Math.abs(value - (other[at] ?? 0)), 0) / one.length;
};

/** A picture of the screen that has come to rest. */
const restingShot = async (page: Page): Promise<Buffer> => {
  let before = await page.screenshot();
  await expect
    .poll(async () => {
      const now = await page.screenshot();
      const moved = distance(before, now);
      before = now;
      return moved;
    }, patience)
    .toBeLessThan(0.5);
  return before;
};

/** A picture of each slide, by commands. */
const shots = async (service: TestService, page: Page, slides: { id: string; kind: string }[]) => {
  const found = new Map<string, Buffer>();
  for (const { id, kind } of slides) {
    await waitForConnection(service, 'lobby', { currentSlideId: id });
    // Alone on the stage, when the swap is over.
    await expect
      .poll(() => page.locator('#stage > .layer > *').evaluateAll((all) => all.map((each) => each.className)), patience)
      .toEqual([expect.stringContaining(`slide-${kind}`)]);
    found.set(id, await restingShot(page));
    const widths = await page
      .locator('img')
      .evaluateAll((images: HTMLImageElement[]) => images.map((image) => image.naturalWidth));
    expect(widths).not.toContain(0);
    await service.post('/api/screens/lobby/commands', { command: 'next' });
  }
  return found;
};

describeBrowser('a box without a network', () => {
  it.skipIf(!hasFfmpeg)(
    'shows after a cold start everything that it ever fetched (needs ffmpeg)',
    { timeout: 120_000 },
    async () => {
      const remote = await startRemote();
      const files = temporaryFolder();
      const serve = (path: string, file: string, type: string): string => {
        remote.answer(path, serveBytes(readFileSync(join(files, 'uploads', file)), { type }));
        return remote.url + path;
      };
      putImage(files, 'red.png', red);
      putImage(files, 'blue.png', blue);
      putVideo(files, 'green.mp4', green, 2);
      const picture = serve('/picture', 'red.png', 'image/png');
      const inside = serve('/inside.png', 'blue.png', 'image/png');
      putPdf(files, 'menu.pdf', [{ colour: [230, 200, 20] }]);
      const menu = serve('/menu', 'menu.pdf', 'application/pdf');
      const film = serve('/film.mp4', 'green.mp4', 'video/mp4');
      const html = `<style>div { position: absolute; inset: 0; background: url("{{ content.ground }}") }</style><div></div>`;
      const slides = [
        { id: 'picture', kind: 'image', media_url: picture },
        { id: 'menu', kind: 'pdf', media_url: menu },
        { id: 'film', kind: 'video', media_url: `${film}#t=0.5` },
        { id: 'text', kind: 'text', title: 'Offline', body: `<p>A picture</p><img src="${inside}">` },
        { id: 'template', kind: 'template', template_id: 'ground', content: { ground: inside } },
      ].map((slide) => ({ ...slide, duration_seconds: 3600 }));
      const dataDir = temporaryFolder();
      const content = lobby(slides, { templates: [{ id: 'ground', html }] });

      const online = await startTestService({ dataDir, content });
      await expect.poll(() => copiesOf(online), patience).toMatchObject({ count: 4, pending: 0, failed: [] });
      const page = await openPlayer(online, 'lobby', small);
      const before = await shots(online, page, slides);
      const { revision } = await payloadOf(online);
      await page.context().close();
      await online.close();
      await remote.close();

      const offline = await startTestService({ dataDir });
      const cold = await openPlayer(offline, 'lobby', small);
      const after = await shots(offline, cold, slides);
      for (const { id } of slides) {
        // A text's ground moves, slowly.
        expect(distance(before.get(id) as Buffer, after.get(id) as Buffer), id).toBeLessThan(4);
      }
      expect(new Set([...after.values()].map((shot) => shot.toString('base64'))).size).toBe(slides.length);
      expect((await payloadOf(offline)).revision).toBe(revision);
      expect(offline.log()).not.toContain('"slideId"');
    },
  );
});

describeBrowser('a film that is too large for a page to hold', () => {
  it.skipIf(!hasFfmpeg)(
    'is played from its copy at the service (needs ffmpeg)',
    {
      timeout: 60_000,
    },
    async () => {
      const remote = await startRemote();
      const files = temporaryFolder();
      putVideo(files, 'green.mp4', green, 2);
      const padding = Buffer.alloc(65 * 1024 ** 2);
      padding.writeUInt32BE(padding.length);
      padding.write('free', 4);
      const film = Buffer.concat([readFileSync(join(files, 'uploads', 'green.mp4')), padding]);
      remote.answer('/film.mp4', serveBytes(film, { type: 'video/mp4' }));
      const url = `${remote.url}/film.mp4`;
      const slides = [
        { id: 'film', kind: 'video', media_url: url, duration_seconds: 3600 },
        { id: 'text', kind: 'text', title: 'Text', duration_seconds: 3600 },
      ];
      const service = await startTestService({ content: lobby(slides) });
      await expect.poll(() => copiesOf(service), patience).toMatchObject({ count: 1, pending: 0 });
      await remote.close();
      const page = await openPlayer(service, 'lobby');
      await waitForColour(page, green);
      const source = await page.locator('video.picture').first().getAttribute('src');
      const sha256 = createHash('sha256').update(film).digest('hex');
      expect(source).toBe(`/copies?url=${encodeURIComponent(url)}&sha256=${sha256}`);
      const moved = () =>
        page
          .locator('video.picture')
          .first()
          .evaluate((video: HTMLVideoElement) => video.currentTime);
      await expect.poll(moved, patience).toBeGreaterThan(0.5);
    },
  );
});

describeBrowser('a remote picture', () => {
  it('is shown at once, and is not reloaded when its copy arrives', { timeout: 60_000 }, async () => {
    const remote = await startRemote();
    const files = temporaryFolder();
    putImage(files, 'red.png', red);
    const good = serveBytes(readFileSync(join(files, 'uploads', 'red.png')), { type: 'image/png' });
    const waiting: (() => void)[] = [];
    remote.answer('/red.png', (request, response) => {
      if (request.headers['user-agent'] !== 'signage-player') good(request, response);
      else waiting.push(() => good(request, response));
    });
    const slides = [
      { id: 'red', kind: 'image', media_url: `${remote.url}/red.png`, duration_seconds: 3600 },
      { id: 'text', kind: 'text', title: 'Text', duration_seconds: 3600 },
    ];
    const service = await startTestService({ content: lobby(slides) });
    const page = await openPlayer(service, 'lobby');
    await waitForColour(page, red);
    const image = page.locator('img.picture');
    expect(await image.getAttribute('src')).toBe(`${remote.url}/red.png`);
    await image.evaluate((element) => element.setAttribute('data-mine', 'yes'));
    const [{ revision }, connection] = [await payloadOf(service), await connectionOf(service, 'lobby')];

    await expect.poll(() => waiting.length, patience).toBe(1);
    for (const answer of waiting) answer();
    await expect.poll(() => copiesOf(service), patience).toMatchObject({ count: 1, pending: 0 });
    await service.post('/api/screens/lobby/commands', { command: 'refresh' });
    await waitForColour(page, red);
    expect(await image.getAttribute('data-mine')).toBe('yes');
    expect((await payloadOf(service)).revision).toBe(revision);
    expect((await connectionOf(service, 'lobby'))?.id).toBe(connection?.id);

    // The next time it is the copy.
    for (const currentSlideId of ['text', 'red']) {
      await service.post('/api/screens/lobby/commands', { command: 'next' });
      await waitForConnection(service, 'lobby', { currentSlideId });
    }
    await expect.poll(() => image.last().getAttribute('src'), patience).toMatch(/^blob:/);
    await waitForColour(page, red);
  });
});
