/** Takes the pictures of the README from the product itself, and writes them to `resources/pictures`: `npm run pictures`, or a part of them with its name. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { designs } from '../../service/contract/designs.ts';
import { findChromium } from '../support/chromium.ts';
import { nameOf, serveExamples, shownDesigns } from './designs.ts';
import { hotelScreens, root, slideContent } from './house.ts';
import { secret, startBox, startHouse } from './site.ts';

const args = ['--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--autoplay-policy=no-user-gesture-required'];
const folder = join(root, 'resources', 'pictures');

const QUALITY = '80';
const SETTLE_MS = 2_500;
const FETCH_MS = 6_000;

const desk = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };
const landscape = { width: 1280, height: 720 };
const portrait = { width: 720, height: 1280 };

const writeTo = (path: string, png: Buffer): void => {
  const output = ['-quality', QUALITY, '-preset', 'text', path];
  execFileSync('ffmpeg', ['-loglevel', 'error', '-y', '-f', 'png_pipe', '-i', '-', ...output], { input: png });
};

const write = (name: string, png: Buffer): void => writeTo(join(folder, `${name}.webp`), png);

const executablePath = findChromium();
if (executablePath === undefined)
  throw new Error('No Chromium, neither on the PATH nor from `npx playwright-core install chromium`');
const browser: Browser = await chromium.launch({ executablePath, args });

interface View extends BrowserContextOptions {
  /** What is done on the page before it is photographed. */
  act?: (page: Page) => Promise<unknown>;
}

const photograph = async (url: string, { act, ...options }: View): Promise<Buffer> => {
  const context = await browser.newContext({ locale: 'en-GB', deviceScaleFactor: 1.25, ...options });
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForTimeout(SETTLE_MS);
  if (act !== undefined) {
    await act(page);
    await page.waitForTimeout(SETTLE_MS);
  }
  const png = await page.screenshot();
  await context.close();
  return png;
};

/** Pictures side by side, in rows of one height each. */
const arrange = async (
  rows: readonly (readonly Buffer[])[],
  width: number,
  height: number,
  gap = 0,
): Promise<Buffer> => {
  const page = await browser.newPage({ viewport: { width, height: 100 } });
  const image = (png: Buffer): string =>
    `<img src="data:image/png;base64,${png.toString('base64')}" height="${height}">`;
  const row = (pngs: readonly Buffer[]): string => `<div>${pngs.map(image).join('')}</div>`;
  await page.setContent(
    `<style>body { display: grid; gap: ${gap}px; margin: 0; width: max-content } div { display: flex; gap: ${gap}px }
    img { display: block; border-radius: ${gap / 2}px }</style>${rows.map(row).join('')}`,
  );
  await page.waitForFunction(() => [...document.images].every(({ complete }) => complete));
  const png = await page.locator('body').screenshot({ omitBackground: true });
  await page.close();
  return png;
};

const takeSlides = async (): Promise<void> => {
  const { slugs, content } = slideContent();
  const box = await startBox({ content });
  const slides = async (viewport: { width: number; height: number }): Promise<Buffer[]> => {
    const shown = slugs.filter((slug) => !['sentence', 'word'].includes(slug));
    const pngs: Buffer[] = [];
    for (const slug of shown) {
      pngs.push(
        await photograph(`${box.url}/screen/${slug}`, { viewport, timezoneId: box.timeZone, deviceScaleFactor: 1 }),
      );
    }
    return pngs;
  };
  const wide = await slides(landscape);
  write('demo-landscape', await arrange([wide.slice(0, 2), wide.slice(2, 4), wide.slice(4)], 1600, 450));
  write('demo-portrait', await arrange([await slides(portrait)], 1900, 540, 12));
  await box.close();
};

/** The pictures by which designs are chosen, and those of the README. */
const takeDesigns = async (): Promise<void> => {
  const examples = await serveExamples((name) => readFileSync(join(root, 'resources', 'demo', 'media', name)));
  const content = JSON.parse(JSON.stringify(examples.content).replaceAll('/media/demo-', '/media/')) as object;
  const box = await startBox({ content });
  // Feeds and sources are fetched after the start.
  await delay(FETCH_MS);
  const pngs = new Map<string, Buffer>();
  for (const name of designs.map(nameOf)) {
    const small = { viewport: { width: 640, height: 360 }, timezoneId: box.timeZone, deviceScaleFactor: 1 };
    writeTo(
      join(root, 'resources', 'designs', name, 'preview.webp'),
      await photograph(`${box.url}/screen/${name}`, small),
    );
    if (!shownDesigns.includes(name)) continue;
    const options = { viewport: landscape, timezoneId: box.timeZone, deviceScaleFactor: 1 };
    pngs.set(name, await photograph(`${box.url}/screen/${name}`, options));
  }
  const rows = [shownDesigns.slice(0, 3), shownDesigns.slice(3)].map((names) =>
    names.flatMap((name) => pngs.get(name) ?? []),
  );
  write('designs', await arrange(rows, 2000, 360, 8));
  await box.close();
  examples.close();
};

/** A landing page, the form on the phone in both schemes, and an upright landing page. */
const takeOnboarding = async (): Promise<void> => {
  const { content } = slideContent();
  const box = await startBox({
    content: { ...content, ...hotelScreens },
    env: { SIGNAGE_PUBLIC_URL: 'http://192.168.1.20:8080' },
  });
  const id = '?deviceId=4k7q-m3x9-ft2w-d0az';
  const form = (colorScheme: 'light' | 'dark') =>
    photograph(`${box.url}/onboard${id}`, { viewport: phone, deviceScaleFactor: 2, colorScheme });
  const pngs = [
    await photograph(`${box.url}/${id}`, { viewport: landscape }),
    await form('light'),
    await form('dark'),
    await photograph(`${box.url}/${id}`, { viewport: portrait }),
  ];
  write('onboarding', await arrange([pngs], 1900, 540, 12));
  await box.close();
};

const signIn = async (page: Page): Promise<void> => {
  await page.getByLabel('Shared secret').fill(secret);
  await page.getByRole('button', { name: 'Open the console' }).click();
  await page.waitForTimeout(SETTLE_MS);
};

const takeConsole = async (): Promise<void> => {
  const box = await startHouse(browser);
  const take = (hash: string, { act, ...options }: View): Promise<Buffer> =>
    photograph(`${box.url}/console#/${hash}`, {
      timezoneId: box.timeZone,
      act: async (page) => {
        await signIn(page);
        await act?.(page);
      },
      ...options,
    });
  write('console-wall', await take('', { viewport: desk }));
  const openWeek = (page: Page) => page.getByRole('button', { name: 'Week', exact: true }).click();
  write('console-editor', await take('content/playlists/day', { viewport: { ...desk, height: 1060 }, act: openWeek }));
  const chooseBlock = (page: Page) => page.getByRole('button', { name: /^Pool and sauna, Fri/ }).click();
  write('console-week', await take('content/week/lobby', { viewport: { ...desk, height: 1160 }, act: chooseBlock }));
  const openLayout = async (page: Page): Promise<void> => {
    await page.getByText('Layout: Full screen').first().click();
    await page.getByRole('radio', { name: 'Sidebar and ticker' }).click();
    await page.getByLabel('The ticker shows').selectOption('For the staff');
    await page.getByLabel('The sidebar shows').selectOption('Breakfast');
  };
  write('console-layout', await take('content/screens', { viewport: desk, act: openLayout }));
  const announce = async (page: Page): Promise<void> => {
    await page.getByRole('radio', { name: 'Warning' }).check();
    await page.getByLabel('Message').fill('The lift is out of order');
    await page.getByLabel('Details').fill('Please take the stairs.');
  };
  const onPhone = { viewport: phone, deviceScaleFactor: 1.5, hasTouch: true, isMobile: true };
  const phones = [
    await take('', onPhone),
    await take('screens/lobby', onPhone),
    await take('takeovers', { ...onPhone, colorScheme: 'dark', act: announce }),
  ];
  write('console-phone', await arrange([phones], 1300, 844, 24));
  await box.close();
};

const parts = { slides: takeSlides, designs: takeDesigns, onboarding: takeOnboarding, console: takeConsole };
const [, , wanted] = process.argv;
for (const [name, take] of Object.entries(parts)) if (wanted === undefined || wanted === name) await take();
await browser.close();
