/** When a stream is seen: the first frame that hls.js paints in a page that is open already. */
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';
import { clock } from '../harness/clock.ts';
import type { Camera } from './camera.ts';

const player = '<!doctype html><video id="video" muted autoplay playsinline></video>';

/** From the start of a stream, which resolves to its manifest, to its first frame in a page that is open already. */
export const untilPainted = async (
  browser: Browser,
  origin: string,
  camera: Camera,
  start: () => Promise<string>,
): Promise<number> => {
  const page = await browser.newPage();
  await page.route('**/player', (route) => route.fulfill({ contentType: 'text/html', body: player }));
  await page.goto(`${origin}/player`);
  await page.addScriptTag({ path: createRequire(import.meta.url).resolve('hls.js/dist/hls.js') });
  await camera.reach(0.3);
  const elapsed = await clock(async () =>
    page.evaluate(
      async (path) => {
        const { Hls } = window as unknown as { Hls: typeof import('hls.js').default };
        while (!(await fetch(path)).ok) await new Promise((resolve) => setTimeout(resolve, 10));
        const video = document.querySelector('video') as HTMLVideoElement;
        const painted = new Promise((resolve) => video.requestVideoFrameCallback(resolve));
        const hls = new Hls({ liveSyncDurationCount: 2 });
        hls.attachMedia(video);
        hls.loadSource(path);
        await painted;
      },
      new URL(await start()).pathname,
    ),
  );
  await page.close();
  return elapsed;
};
