/**
 * Three boxes, a page each, one playlist in step: how far apart the same picture is. `SIGNAGE_BENCH_MINUTES` says how
 * long it is looked at.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium } from 'playwright-core';
import type { Health } from '../../service/contract/health.ts';
import { pictureSkews, swapSkews, type Watched, watch, watchedOf } from '../clock/onlooker.ts';
import { putImage, putVideo, type Rgb } from '../support/media.ts';
import { findProgram } from '../support/program.ts';
import { record } from '../support/screencast.ts';
import type { Report } from './harness/report.ts';
import { startBenchService } from './service.ts';

const BOXES = 3;
const MINUTES = Number(process.env.SIGNAGE_BENCH_MINUTES ?? 1);
const SCREENCAST_SECONDS = 40;
const SETTLE_SECONDS = 10;

const colours = { image: [220, 30, 30], video: [30, 200, 30] } as const satisfies Record<string, Rgb>;

const fill = (dataDir: string): object => {
  const slides = [
    { kind: 'image', media_url: putImage(dataDir, 'red.png', colours.image), duration_seconds: 2 },
    { kind: 'text', title: 'In step', duration_seconds: 2 },
    { kind: 'video', media_url: putVideo(dataDir, 'green.mp4', colours.video, 5), duration_seconds: 5 },
  ];
  return {
    screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
    playlists: [{ id: 'main', sync: true, fade_between_slides: false, slides }],
  };
};

const summary = (title: string, values: readonly number[]): string => {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(1);
  return `${title}: ${sorted.length}, p50 ${at(0.5)}, p95 ${at(0.95)}, max ${at(1)} ms`;
};

/** A page in a browser of its own, as each box has one. */
const openPage = async (url: string) => {
  const executablePath = findProgram('chromium', 'google-chrome') ?? 'chromium';
  const browser: Browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  const context = await browser.newContext({ viewport: { width: 640, height: 360 } });
  await watch(context);
  const page = await context.newPage();
  await page.goto(`${url}/screen/lobby`);
  return { browser, page };
};

/** When the middle of the picture became another, by the screencast: an eye from outside the page. */
const changesOf = (frames: Awaited<ReturnType<Awaited<ReturnType<typeof record>>['stop']>>) => {
  const names = frames.map(({ at, points }) => {
    const [red = 0, green = 0] = points[12] ?? [];
    return { at: at * 1000, name: red > 180 && green < 80 ? 'image' : green > 150 && red < 80 ? 'video' : 'other' };
  });
  return names.filter(({ name }, index) => index > 0 && name !== names[index - 1]?.name);
};

export const benchSync = async ({ note }: Report): Promise<void> => {
  const boxes: Awaited<ReturnType<typeof startBenchService>>[] = [];
  for (let index = 0; index < BOXES; index++) {
    const peers = boxes.map(({ url }) => url).join(',');
    boxes.push(await startBenchService({ SIGNAGE_PEERS: peers, SIGNAGE_DISCOVERY: 'off' }, fill));
  }
  const pages = await Promise.all(boxes.map(({ url }) => openPage(url)));
  await sleep(SETTLE_SECONDS * 1000);
  const look = (): Promise<Watched[]> => Promise.all(pages.map(({ page }) => watchedOf(page)));
  await look();
  await sleep(MINUTES * 60_000);
  const watched = await look();
  note(`A playlist in step on ${BOXES} boxes, ${MINUTES} min; how far apart the first and the last of them are:`);
  note(summary('swaps, by the frames of the pages', swapSkews(watched.map(({ swaps }) => swaps))));
  note(summary('videos, by the pictures of the pages', pictureSkews(watched.map(({ pictures }) => pictures))));
  for (const { url } of boxes) {
    const { sync } = (await (await fetch(`${url}/healthz`)).json()) as Health;
    for (const [title, figures] of Object.entries({ swaps: sync.swaps, videos: sync.videos })) {
      const { count = 0, p50, p95, max } = figures ?? {};
      note(`${title}, as a page reports them: ${count}, p50 ${p50}, p95 ${p95}, max ${max} ms`);
    }
  }
  const recordings = await Promise.all(pages.map(({ page }) => record(page)));
  await sleep(SCREENCAST_SECONDS * 1000);
  const frames = await Promise.all(recordings.map((recording) => recording.stop()));
  note(summary('swaps, by screencasts of 40 s', swapSkews(frames.map(changesOf))));
  await Promise.all(pages.map(({ browser }) => browser.close()));
  await Promise.all(boxes.map((box) => box.stop()));
};
