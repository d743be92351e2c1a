import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import { defaultTempo } from '../../service/tempo.ts';
import { publish, startRtmpServer } from '../streams/publishing.ts';
import { describeBrowser } from '../support/browser.ts';
import { makeMedium, putImage } from '../support/media.ts';
import { healthOf } from '../support/observe.ts';
import { lobby, openPlayer, patience, waitForColour } from '../support/player.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';

const red = [220, 20, 20] as const;

const viewport = { width: 320, height: 180 };

let server: Awaited<ReturnType<typeof startRtmpServer>>;
let sources = 0;

/** The address of a stream of this test's own, and its camera. */
const startSource = () => {
  sources += 1;
  const address = `${server.url}/channel-${sources}`;
  return {
    address,
    publish: (video: 'h264' | 'none' = 'h264') => {
      const publisher = publish(address, { size: '160x90', video });
      onTestFinished(publisher.close);
      return publisher;
    },
  };
};

const second = [
  ...['-f', 'lavfi', '-i', 'testsrc=size=160x90:rate=25:duration=1', '-c:v', 'libx264', '-preset', 'ultrafast'],
  ...['-pix_fmt', 'yuv420p', '-g', '25', '-muxdelay', '0'],
];

/** A manifest of somebody else's, of eight seconds, and how often it was asked for. */
const startManifest = async (hasEnded: () => boolean) => {
  const part = readFileSync(makeMedium('second.ts', second));
  const asked = { count: 0 };
  const manifest = createServer(({ url = '' }, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    if (!url.endsWith('.m3u8')) return void response.end(part);
    asked.count += 1;
    const parts = Array.from({ length: 8 }, (_, index) => `#EXTINF:1,\n${index}.ts\n#EXT-X-DISCONTINUITY\n`).join('');
    const end = hasEnded() ? '#EXT-X-ENDLIST\n' : '';
    response.setHeader('Cache-Control', 'no-store');
    response.end(`#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n${parts}${end}`);
  });
  await new Promise<void>((resolve) => manifest.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    manifest.closeAllConnections();
    manifest.close();
  });
  return { asked, address: `http://127.0.0.1:${(manifest.address() as AddressInfo).port}/event.m3u8` };
};

/** A strip across the middle of the picture. */
const pixels = async (page: Page): Promise<Buffer> =>
  PNG.sync.read(await page.screenshot({ clip: { x: 0, y: 85, width: 320, height: 8 } })).data;

/** Waits until there is a video, and what it shows changes. */
const waitForMotion = async (page: Page): Promise<void> => {
  await page.locator('video').first().waitFor({ state: 'attached', timeout: patience.timeout });
  await expect
    .poll(async () => {
      const playing = await page.evaluate(() =>
        [...document.querySelectorAll('video')].some((video) => video.currentTime > 0.2),
      );
      const before = await pixels(page);
      await page.waitForTimeout(400);
      return playing && !before.equals(await pixels(page));
    }, patience)
    .toBe(true);
};

/** Runs in the page. */
const isBlank = (picture: SVGElement | HTMLElement): boolean => {
  const { width, height } = picture as HTMLCanvasElement;
  const { data = [] } = (picture as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height) ?? {};
  return [...data].every((part, index) => index % 4 === 3 || part === 0);
};

describeBrowser('a stream slide in a real browser', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    server = await startRtmpServer();
  });
  afterAll(() => server.close());

  it('shows moving pictures of a real source where boxes have a secret, and says why a browser cannot', async () => {
    const secret = 'a secret that is long enough';
    const source = startSource();
    source.publish();
    const service = await startTestService({
      content: lobby([{ kind: 'stream', media_url: source.address }]),
      env: { SIGNAGE_SHARED_SECRET: secret },
    });
    const page = await openPlayer(service, 'lobby', viewport);
    await waitForMotion(page);
    const path = `/api/rtmp/session?source=${encodeURIComponent(source.address)}`;
    expect((await service.get(path)).status).toBe(401);
    const headers = signRequest({ secret, method: 'GET', url: service.url + path });
    expect((await service.get(path, { headers })).status).toBe(200);
    await page.addInitScript(() => void Reflect.deleteProperty(globalThis, 'MediaSource'));
    await page.reload();
    const reason = expect.stringContaining('no Media Source Extensions');
    await expect.poll(async () => (await healthOf(service)).pages, patience).toMatchObject([{ lastFault: { reason } }]);
  });

  it('is left out while its source is away, and comes when that does', walk, async () => {
    const dataDir = temporaryFolder();
    const source = startSource();
    const slides = [
      { id: 'live', kind: 'stream', media_url: source.address, duration_seconds: 3600 },
      { id: 'still', kind: 'image', media_url: putImage(dataDir, 'red.png', red), duration_seconds: 1 },
    ];
    const service = await startTestService({ dataDir, content: lobby(slides) });
    const page = await openPlayer(service, 'lobby', viewport);
    await waitForColour(page, red);
    source.publish();
    await waitForMotion(page);
  });

  it('shows its fallback while its source is away, and the stream when that is back', walk, async () => {
    const dataDir = temporaryFolder();
    const source = startSource();
    const content = { fallback_media_url: putImage(dataDir, 'red.png', red) };
    const service = await startTestService({
      dataDir,
      content: lobby([{ kind: 'stream', media_url: source.address, content }]),
      tempo: defaultTempo,
    });
    const page = await openPlayer(service, 'lobby', viewport);
    await waitForColour(page, red);
    const publisher = source.publish();
    await waitForMotion(page);
    await publisher.close();
    await waitForColour(page, red);
    source.publish();
    await waitForMotion(page);
  });

  it('shows its fallback while its source has sound alone', async () => {
    const dataDir = temporaryFolder();
    const source = startSource();
    source.publish('none');
    const content = { fallback_media_url: putImage(dataDir, 'red.png', red), muted: false };
    const service = await startTestService({
      dataDir,
      content: lobby([{ kind: 'stream', media_url: source.address, content }]),
    });
    const isReady = async (): Promise<boolean> => {
      const path = `/api/rtmp/session?source=${encodeURIComponent(source.address)}&disableAudio=false`;
      const { ready, live } = (await (await service.get(path)).json()) as { ready: boolean; live: boolean };
      return ready && live;
    };
    // Before the page asks, so that the fallback is not that of a source that is awaited.
    await expect.poll(isReady, patience).toBe(true);
    const page = await openPlayer(service, 'lobby', viewport);
    await waitForColour(page, red);
  });

  it('shows its fallback, and not what is left of its source, until media arrives', async () => {
    const dataDir = temporaryFolder();
    const source = startSource();
    const content = { fallback_media_url: putImage(dataDir, 'red.png', red) };
    const service = await startTestService({
      dataDir,
      content: lobby([{ kind: 'stream', media_url: source.address, content, duration_seconds: 3600 }]),
    });
    const { address: playlistUrl, asked } = await startManifest(() => false);
    let live = false;
    const page = await openPlayer(service, 'lobby', viewport);
    await page.route('**/api/rtmp/session?*', (route) => route.fulfill({ json: { ready: true, live, playlistUrl } }));
    await page.reload();
    await waitForColour(page, red);
    expect(asked.count).toBe(0);
    live = true;
    await waitForMotion(page);
  });

  it(
    'comes back after a restart of the service, holding its last frame, whatever becomes of its fallback',
    walk,
    async () => {
      const mute = createServer();
      await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => {
        mute.closeAllConnections();
        mute.close();
      });
      const dataDir = temporaryFolder();
      const source = startSource();
      source.publish();
      const fallback_media_url = `http://127.0.0.1:${(mute.address() as AddressInfo).port}/never.png`;
      const slide = {
        kind: 'stream',
        media_url: source.address,
        content: { fallback_media_url },
        duration_seconds: 3600,
      };
      const service = await startTestService({ dataDir, content: lobby([slide]) });
      const page = await openPlayer(service, 'lobby', viewport);
      await waitForMotion(page);
      // Both are watched from before the restart: the stream can be back before anybody looks.
      const fallenBack = page.waitForRequest(fallback_media_url);
      const held = page.waitForSelector('canvas.picture', patience).then((picture) => picture.evaluate(isBlank));
      await service.close();
      await startTestService({ dataDir, env: { SIGNAGE_PORT: new URL(service.url).port } });
      await fallenBack;
      expect(await held).toBe(false);
      await waitForMotion(page);
      expect(await page.locator('canvas.picture').count()).toBe(0);
    },
  );

  it('shows its fallback once the source has ended, until there is a new one', walk, async () => {
    const dataDir = temporaryFolder();
    let hasEnded = false;
    const { address } = await startManifest(() => hasEnded);
    const content = { fallback_media_url: putImage(dataDir, 'red.png', red) };
    const slide = { kind: 'stream', media_url: address, content, duration_seconds: 3600 };
    const service = await startTestService({ dataDir, content: lobby([slide]) });
    const page = await openPlayer(service, 'lobby', viewport);
    await page.locator('.slide-stream[data-state="playing"] video').waitFor();
    hasEnded = true;
    await waitForColour(page, red);
    // What is left of it is not played again and again.
    await page.waitForTimeout(3_000);
    await waitForColour(page, red);
    hasEnded = false;
    await waitForMotion(page);
  });

  it('is skipped at its later turns, too, once its source has ended', walk, async () => {
    const dataDir = temporaryFolder();
    let hasEnded = false;
    const { address } = await startManifest(() => hasEnded);
    const picture = { kind: 'image', media_url: putImage(dataDir, 'red.png', red), duration_seconds: 3600 };
    const service = await startTestService({
      dataDir,
      content: lobby([{ id: 'live', kind: 'stream', media_url: address, duration_seconds: 3600 }, picture]),
    });
    const page = await openPlayer(service, 'lobby', viewport);
    await page.locator('.slide-stream[data-state="playing"] video').waitFor();
    hasEnded = true;
    await waitForColour(page, red);
    // It is tried again no sooner.
    await page.waitForTimeout(3_000);
    await service.post('/api/screens/lobby/commands', { command: 'next' });
    await page.waitForTimeout(3_000);
    await waitForColour(page, red);
    const fault = { slideId: 'live', reason: 'the stream has ended' };
    expect((await healthOf(service)).pages).toMatchObject([{ lastFault: fault }]);
  });

  it('plays a recording from its beginning, and again', walk, async () => {
    const { address, asked } = await startManifest(() => true);
    const service = await startTestService({
      content: lobby([{ kind: 'stream', media_url: address, duration_seconds: 3600 }]),
    });
    const page = await openPlayer(service, 'lobby', viewport);
    const begins = async () => {
      const video = page.locator('.slide-stream[data-state="playing"] video');
      await expect
        .poll(() => video.evaluate(({ currentTime }: HTMLVideoElement) => currentTime), patience)
        .toSatisfy((at: number) => at > 0 && at < 4);
    };
    await begins();
    const before = asked.count;
    await expect.poll(() => asked.count, patience).toBeGreaterThan(before);
    await begins();
    expect((await healthOf(service)).pages).toMatchObject([{ lastFault: null }]);
  });
});
