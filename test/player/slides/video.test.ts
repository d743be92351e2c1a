import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Health } from '../../../service/contract/health.ts';
import { describeBrowser, launchBrowser } from '../../support/browser.ts';
import { hasFfmpeg, makeMedium, putImage, putVideo } from '../../support/media.ts';
import { lobby, patience, type SharedPlayer, sharePlayer, waitForConnection } from '../../support/player.ts';
import { startTestService, temporaryFolder } from '../../support/service.ts';
import { walk } from '../../support/soak.ts';

const green = [20, 180, 20] as const;

const openVideo = async ({ service, show }: SharedPlayer, slide: object): Promise<Page> => {
  const media_url = putVideo(service.dataDir, 'green.mp4', green, 2);
  const page = await show([
    { kind: 'video', media_url, ...slide },
    { kind: 'text', title: 'After' },
  ]);
  await page.locator('.slide-video[data-state="playing"] video').waitFor();
  return page;
};

const state = (page: Page): Promise<Pick<HTMLVideoElement, 'muted' | 'volume' | 'loop' | 'paused' | 'currentTime'>> =>
  page
    .locator('.slide-video[data-state] video')
    .first()
    .evaluate(({ muted, volume, loop, paused, currentTime }: HTMLVideoElement) => ({
      muted,
      volume,
      loop,
      paused,
      currentTime,
    }));

/** Sends the first half of a file, and then nothing more for ever. */
const startStuckServer = async (file: string): Promise<string> => {
  const bytes = readFileSync(file);
  const answer: RequestListener = (_, response) => {
    response.writeHead(200, { 'Content-Type': 'video/mp4', 'Content-Length': bytes.length });
    response.write(bytes.subarray(0, bytes.length / 2));
  };
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/film.mp4`;
};

const viewport = { width: 320, height: 180 };

describeBrowser('a stream slide', () => {
  const player = sharePlayer(viewport);

  it.each([
    [
      { muted: false, volume: 0.25 },
      { muted: false, volume: 0.25 },
    ],
    [{}, { muted: true, volume: 1 }],
  ])('is as loud as its content says: %o', async (content, expected) => {
    // A source that never answers: the slide is being made ready for as long as it takes to look at it.
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const media_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/live.m3u8`;
    const { service, page } = player();
    service.writeContent(lobby([]));
    const video = page.locator('.slide-stream video').first();
    await video.waitFor({ state: 'detached', timeout: patience.timeout });
    service.writeContent(lobby([{ kind: 'stream', media_url, content }]));
    await video.waitFor({ state: 'attached', timeout: patience.timeout });
    expect(await video.evaluate(({ muted, volume }: HTMLVideoElement) => ({ muted, volume }))).toEqual(expected);
  });
});

describe.skipIf(!hasFfmpeg)('with ffmpeg', () => {
  describeBrowser('a video slide', () => {
    const player = sharePlayer(viewport);

    it('has sound where its content says so', async () => {
      const page = await openVideo(player(), { content: { muted: false, volume: 0.25 } });
      const { muted, volume } = await state(page);
      expect(muted).toBe(false);
      // Its tone is louder than -23 LUFS, which its loudness says once it is measured.
      expect(volume).toBeLessThanOrEqual(0.25);
      expect(volume).toBeGreaterThan(0.2);
    });

    it('that is on for longer than it is begins again', async () => {
      expect(await state(await openVideo(player(), { duration_seconds: 3600 }))).toMatchObject({ loop: true });
      for (const duration_seconds of [1, 2.4]) {
        expect(await state(await openVideo(player(), { duration_seconds }))).toMatchObject({ loop: false });
      }
    });

    it('without a duration is on for its own length, which is not the 10 s of other kinds', async () => {
      const { service, show } = player();
      const film = { kind: 'video', media_url: putVideo(service.dataDir, 'green.mp4', green, 2) };
      const page = await show([film, { id: 'text', kind: 'text', title: 'After', duration_seconds: 3600 }]);
      const beganAt = performance.now();
      await page.getByText('After').waitFor();
      await waitForConnection(service, 'lobby', { currentSlideId: 'text' });
      expect(performance.now() - beganAt).toBeLessThan(9_000);
    });

    it('lets go of its decoder', walk, async () => {
      const page = await openVideo(player(), {});
      const video = await page.locator('video').first().elementHandle();
      await page.getByText('After').waitFor();
      await expect.poll(() => video?.evaluate((element) => (element as HTMLVideoElement).readyState), patience).toBe(0);
      expect(await page.locator('video[src]').count()).toBeLessThanOrEqual(1);
    });

    it('whose picture never comes is skipped within seconds and reported', walk, async () => {
      const dataDir = temporaryFolder();
      const media_url = putVideo(dataDir, 'green.mp4', green, 2);
      const film = { id: 'film', kind: 'video', media_url, duration_seconds: 3600 };
      const service = await startTestService({
        dataDir,
        content: lobby([film, { id: 'text', kind: 'text', title: 'After', duration_seconds: 3600 }]),
      });
      const context = await (await launchBrowser()).newContext({ viewport });
      onTestFinished(() => context.close());
      const page = await context.newPage();
      // As of a decoder that gives the sound alone.
      await page.addInitScript(() => {
        HTMLVideoElement.prototype.requestVideoFrameCallback = () => 0;
      });
      await page.goto(`${service.url}/screen/lobby`);
      await page.getByText('After').waitFor();
      await waitForConnection(service, 'lobby', { currentSlideId: 'text' });
      const { pages } = (await (await service.get('/healthz')).json()) as Health;
      const reason = '/media/green.mp4 shows no picture';
      expect(pages).toMatchObject([{ lastFault: { slideId: 'film', reason } }]);
    });

    it('that stops arriving is skipped and reported', { ...walk, timeout: 60_000 }, async () => {
      const { service, show } = player();
      // Noise needs many bytes a second, of which a browser takes many before it begins.
      const how = [
        ...['-f', 'lavfi', '-i', 'nullsrc=size=320x180:rate=25:duration=8,noise=alls=100:allf=t,format=yuv420p'],
        ...['-c:v', 'libx264', '-preset', 'ultrafast', '-b:v', '2M', '-movflags', '+faststart'],
      ];
      const media_url = await startStuckServer(makeMedium('film.mp4', how));
      const still = { id: 'still', kind: 'image', media_url: putImage(service.dataDir, 'green.png', green) };
      await show([{ id: 'film', kind: 'video', media_url, duration_seconds: 3600 }, still]);
      await waitForConnection(service, 'lobby', { currentSlideId: 'still' });
      expect(service.log()).toMatch(/"slideId":"film","reason":"the video has not moved for 8 s"/);
    });
  });
});
