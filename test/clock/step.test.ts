/** Pages of two boxes, whose times of day are an hour apart, with one playlist in step: in real browsers. */
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { Health } from '../../service/contract/health.ts';
import { startBox } from '../peers/support.ts';
import { itBrowser, launchBrowser } from '../support/browser.ts';
import { putImage, putVideo } from '../support/media.ts';
import { patience } from '../support/player.ts';
import { type TestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { pictureSkews, type Sighting, swapSkews, watch, watchedOf } from './onlooker.ts';

const HOUR = 3_600_000;
/** Far more than pages of an idle machine are apart, and far less than they would be out of step. */
const NEAR_MS = 200;

const FILM_SECONDS = 12;
const folderWithMedia = (): string => {
  const dataDir = temporaryFolder();
  putImage(dataDir, 'red.png', [220, 30, 30]);
  putVideo(dataDir, 'film.mp4', [30, 200, 30], FILM_SECONDS, '160x90');
  return dataDir;
};
const red = { kind: 'image', media_url: '/media/red.png', duration_seconds: 1.3 };
const film = { kind: 'video', media_url: '/media/film.mp4', duration_seconds: FILM_SECONDS };

const inStep = (slides: object[]) => ({
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
  playlists: [{ id: 'main', sync: true, fade_between_slides: false, slides }],
});

const startBoxes = async (slides: object[]): Promise<[TestService, TestService]> => {
  const content = inStep(slides);
  const first = await startBox([], { content, dataDir: folderWithMedia() });
  const second = await startBox([first], { content, dataDir: folderWithMedia(), wall: () => Date.now() + HOUR });
  return [first, second];
};

const openWatched = async ({ url }: TestService): Promise<Page> => {
  const context = await (await launchBrowser()).newContext({ viewport: { width: 320, height: 180 } });
  onTestFinished(() => context.close());
  await watch(context);
  const page = await context.newPage();
  await page.goto(`${url}/screen/lobby`);
  return page;
};

const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** How far apart most of the next things are that both pages show; infinity while they have nothing in common. */
const settle = async <T>(
  pages: Page[],
  skews: (lists: T[][]) => number[],
  list: 'swaps' | 'pictures',
  enough: number,
) => {
  const seen = pages.map((): T[] => []);
  await expect
    .poll(async () => {
      for (const [index, page] of pages.entries()) seen[index]?.push(...((await watchedOf(page))[list] as T[]));
      const recent = seen.map((all) => all.slice(-enough * 2));
      const found = skews(recent);
      return found.length < enough ? Number.POSITIVE_INFINITY : middle(found);
    }, patience)
    .toBeLessThan(NEAR_MS);
  return seen;
};

itBrowser(
  'swap at the same moments, and say how well they do',
  async () => {
    const slides = [red, { kind: 'text', title: 'Hello', duration_seconds: 0.9 }, { ...film, duration_seconds: 1.8 }];
    const [first, second] = await startBoxes(slides);
    const pages = [await openWatched(first), await openWatched(second)];
    const [swaps = []] = await settle<Sighting>(pages, swapSkews, 'swaps', 6);
    const names = swaps.map(({ name }) => name).filter((name) => name.startsWith('slide slide-'));
    expect(new Set(names)).toEqual(new Set(['slide slide-image', 'slide slide-text', 'slide slide-video']));
    for (const box of [first, second]) {
      const health = async () => ((await (await box.get('/healthz')).json()) as Health).sync.swaps?.count ?? 0;
      await expect.poll(health, patience).toBeGreaterThan(0);
    }
  },
  60_000,
);

itBrowser(
  'a page that comes late finds its place in a film that others are in the middle of',
  { ...walk, timeout: 60_000 },
  async () => {
    const [first, second] = await startBoxes([film]);
    const early = await openWatched(first);
    await expect.poll(async () => (await watchedOf(early)).pictures.length, patience).toBeGreaterThan(0);
    const late = await openWatched(second);
    await settle([early, late], pictureSkews, 'pictures', 10);
  },
);
