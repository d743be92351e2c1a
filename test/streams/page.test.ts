/** What counts in the end: moving pictures in a real browser. */
import { createRequire } from 'node:module';
import type Hls from 'hls.js';
import type { HlsConfig } from 'hls.js';
import type { Page } from 'playwright-core';
import { vi } from 'vitest';
import { hasChromium, launchBrowser } from '../support/browser.ts';
import { walk } from '../support/soak.ts';
import { publish } from './publishing.ts';
import { describeStreams, ffmpegsOf, patience, type Streams, test } from './setup.ts';

const player = '<!doctype html><style>*{margin:0}</style><video id="video" muted autoplay playsinline></video>';
const library = createRequire(import.meta.url).resolve('hls.js/dist/hls.js');

/** Plays a stream as the player page does: hls.js has the manifest once it is ready, and gets over fatal errors. */
const play = async (streams: Streams, source: string): Promise<Page> => {
  const page = await (await launchBrowser()).newPage();
  await page.route('**/player', (route) => route.fulfill({ contentType: 'text/html', body: player }));
  await page.goto(`${streams.url}/player`);
  await page.addScriptTag({ path: library });
  await page.evaluate(async (address) => {
    const ask = async () => (await fetch(`/api/rtmp/session?source=${encodeURIComponent(address)}`)).json();
    let session = await ask();
    while (!session.ready) session = await new Promise((resolve) => setTimeout(() => resolve(ask()), 100));
    const config: Partial<HlsConfig> = { liveSyncDurationCount: 2, backBufferLength: 10 };
    const hls: Hls = new (window as unknown as { Hls: typeof Hls }).Hls(config);
    hls.on('hlsError' as typeof Hls.Events.ERROR, (_, { fatal, type }) => {
      if (!fatal) return;
      if (type === 'mediaError') hls.recoverMediaError();
      else hls.startLoad();
    });
    hls.attachMedia(document.querySelector('video') as HTMLVideoElement);
    hls.loadSource(session.playlistUrl);
  }, source);
  return page;
};

const video = (page: Page) =>
  page.evaluate(() => {
    const element = document.querySelector('video') as HTMLVideoElement;
    return {
      width: element.videoWidth,
      time: element.currentTime,
      painted: element.getVideoPlaybackQuality().totalVideoFrames,
    };
  });

/** Waits until `count` more frames were painted. */
const frames = async (page: Page, count: number): Promise<void> => {
  const { painted } = await video(page);
  await vi.waitUntil(async () => (await video(page)).painted >= painted + count, patience);
};

describeStreams('a page', { skip: !hasChromium && process.env['CI'] !== 'true', concurrent: false }, () => {
  test('shows moving pictures, and goes on when ffmpeg is killed', { timeout: 60_000 }, async ({
    address,
    keep,
    start,
    expect,
  }) => {
    const streams = await start();
    keep(publish(address, { gop: 2 }));
    const page = keep(await play(streams, address));
    await frames(page, 10);
    const picture = await page.screenshot();
    await frames(page, 10);
    expect((await page.screenshot()).equals(picture)).toBe(false);

    for (const pid of ffmpegsOf(address)) process.kill(pid, 'SIGKILL');
    const { time } = await video(page);
    await vi.waitUntil(async () => (await video(page)).time > time + 3, patience);
    await frames(page, 10);
  });

  test('shows pictures when it comes late, between two keyframes', { ...walk, timeout: 60_000 }, async ({
    address,
    keep,
    start,
  }) => {
    const streams = await start();
    keep(publish(address, { gop: 6 }));
    const { playlistUrl } = await streams.open(address);
    const isLong = async () => (await (await streams.get(playlistUrl)).text()).split('#EXTINF').length > 16;
    await vi.waitUntil(isLong, patience);
    await frames(keep(await play(streams, address)), 10);
  });

  test('follows its source to another format', { ...walk, timeout: 60_000 }, async ({ address, keep, start }) => {
    const streams = await start();
    const camera = keep(publish(address));
    const page = keep(await play(streams, address));
    await vi.waitUntil(async () => (await video(page)).width === 320, patience);
    await camera.close();
    keep(publish(address, { size: '640x360' }));
    await vi.waitUntil(async () => (await video(page)).width === 640, patience);
    await frames(page, 10);
  });
});
