/** What conversions cost the film that plays meanwhile, and what a heavy picture costs a page with its rendition and without. */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Health } from '../../service/contract/health.ts';
import { renditionHeader } from '../../service/contract/media.ts';
import { makeMedium } from '../support/media.ts';
import { type BarePage, openBarePage } from './bare.ts';
import { memoryOf } from './harness/process.ts';
import type { Report } from './harness/report.ts';
import { type BenchService, startBenchService } from './service.ts';

const SECONDS = 60;
const viewport = { width: 1920, height: 1080 };
/** Something moves in each picture, and nothing is flat. */
const moving = ['-f', 'lavfi', '-i', `testsrc2=size=1920x1080:rate=25:duration=${SECONDS},noise=alls=12:allf=t`];
const hevc = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none', '-tag:v', 'hvc1'];
const h264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p', '-movflags', '+faststart'];
/** 48 megapixels. */
const photo = ['-f', 'lavfi', '-i', 'testsrc2=size=8000x6000,noise=alls=20', '-frames:v', '1', '-q:v', '3'];

const lobby = (slides: object[]) => ({
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
  playlists: [{ id: 'main', fade_between_slides: false, slides }],
});

const uploadsOf = (dataDir: string): string => {
  const folder = join(dataDir, 'uploads');
  mkdirSync(folder, { recursive: true });
  return folder;
};

interface Frames {
  total: number;
  dropped: number;
}

const framesOf = (page: BarePage): Promise<Frames> =>
  page.evaluate(() => {
    const quality = document.querySelector('video')?.getVideoPlaybackQuality();
    return { total: quality?.totalVideoFrames ?? 0, dropped: quality?.droppedVideoFrames ?? 0 };
  });

const untilRendition = async ({ url }: BenchService, name: string): Promise<void> => {
  const isReady = async (): Promise<boolean> => {
    const response = await fetch(`${url}/media/${name}`, { method: 'HEAD' });
    return response.headers.has(renditionHeader);
  };
  while (!(await isReady())) await delay(100);
};

const share = (before: Frames, after: Frames): string =>
  `${(((after.dropped - before.dropped) / Math.max(1, after.total - before.total)) * 100).toFixed(1)} % of ${after.total - before.total}`;

const benchFilm = async ({ note }: Report): Promise<void> => {
  const service = await startBenchService({}, (dataDir) => {
    copyFileSync(makeMedium('playing.mp4', [...moving, ...h264]), join(uploadsOf(dataDir), 'playing.mp4'));
    return lobby([{ kind: 'video', media_url: '/media/playing.mp4' }]);
  });
  const page = await openBarePage(`${service.url}/screen/lobby`, viewport);
  try {
    const film = readFileSync(makeMedium('minute.mp4', [...moving, ...hevc]));
    await delay(10_000);
    const begin = await framesOf(page);
    await delay(SECONDS * 1000);
    const alone = await framesOf(page);
    const begun = performance.now();
    const init = { method: 'PUT', body: new Uint8Array(film) };
    await (await fetch(`${service.url}/api/media/minute.mp4`, init)).arrayBuffer();
    await untilRendition(service, 'minute.mp4');
    const seconds = (performance.now() - begun) / 1000;
    const beside = await framesOf(page);
    note(
      `a film of ${SECONDS} s of HEVC 1080p (${(film.length / 1e6).toFixed(0)} MB) is ready ${seconds.toFixed(1)} s after its upload began, ` +
        `while a film of 1080p plays; goal: at most ${SECONDS + 30} s: ${seconds <= SECONDS + 30 ? 'met' : 'missed'}`,
    );
    note(`of the playing film, dropped: ${share(begin, alone)} pictures before, ${share(alone, beside)} meanwhile`);
  } finally {
    page.close();
    await service.stop();
  }
};

/** Memory of the page and of what draws it, MiB. */
const weigh = async (page: BarePage): Promise<number> => {
  const pids = [...(await page.processes('renderer')), ...(await page.processes('GPU'))];
  return pids.reduce((sum, pid) => sum + memoryOf(pid), 0);
};

const benchPhoto = async ({ note }: Report, convert: 'on' | 'off'): Promise<void> => {
  const service = await startBenchService({ SIGNAGE_CONVERT: convert }, (dataDir) => {
    copyFileSync(makeMedium('photo.jpg', photo), join(uploadsOf(dataDir), 'photo.jpg'));
    const image = { kind: 'image', media_url: '/media/photo.jpg', duration_seconds: 3 };
    return lobby([image, { kind: 'text', title: 'Between', duration_seconds: 3 }]);
  });
  if (convert === 'on') await untilRendition(service, 'photo.jpg');
  const page = await openBarePage(`${service.url}/screen/lobby`, viewport);
  try {
    let most = 0;
    for (let look = 0; look < 150; look++) {
      most = Math.max(most, await weigh(page));
      await delay(200);
    }
    const { gaps } = (await (await fetch(`${service.url}/healthz`)).json()) as Health;
    const decodeMs = await page.evaluate(async () => {
      const blob = await (await fetch('/media/photo.jpg')).blob();
      const image = new Image();
      image.src = URL.createObjectURL(blob);
      const begun = performance.now();
      await image.decode();
      return performance.now() - begun;
    });
    note(
      `a picture of 48 megapixels, ${convert === 'on' ? 'with its rendition' : 'as it is'}: the page and what draws it take ` +
        `${most.toFixed(0)} MiB at most, it is decoded in ${decodeMs.toFixed(0)} ms, gaps of swaps p50 ${gaps.p50?.toFixed(1)}, most ${gaps.max?.toFixed(1)} ms`,
    );
  } finally {
    page.close();
    await service.stop();
  }
};

/** Goal: a minute of HEVC is on the wall within its length and 30 s. */
export const benchRenditions = async (report: Report): Promise<void> => {
  report.note(`${availableParallelism()} processors, load ${loadavg()[0]?.toFixed(1)} at the start`);
  await benchPhoto(report, 'off');
  await benchPhoto(report, 'on');
  await benchFilm(report);
};
