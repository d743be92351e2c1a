/** The two pages of onboarding, each in a browser of its own: the screen's and the phone's. */
import jsqr from 'jsqr';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { expect, onTestFinished } from 'vitest';
import { canonicalDeviceId } from '../../service/contract/readable.ts';
import { launchBrowser } from '../support/browser.ts';
import { type OnEnd, shareTestService, startTestService, type TestService } from '../support/service.ts';

export const patience = { timeout: 25_000 };

/** Screens that can be told apart by what they show. */
export const content = {
  screens: ['Lobby', 'Café', 'Gate 4'].map((name, index) => ({
    name,
    slug: ['lobby', 'cafe', 'gate-4'][index],
    playlist_id: `playlist-${index}`,
  })),
  playlists: ['Welcome', 'Today’s cake', 'Boarding'].map((title, index) => ({
    id: `playlist-${index}`,
    slides: [{ kind: 'text', title }],
  })),
};

/** A service that a phone could reach, too. */
export const startReachable = (env: Record<string, string> = {}, more: Parameters<typeof startTestService>[0] = {}) =>
  startTestService({ content, ...more, env: { SIGNAGE_HOST: '0.0.0.0', ...env } });

/** One for all cases of a file that leave its screens as they are. */
export const shareReachable = () => shareTestService({ content, env: { SIGNAGE_HOST: '0.0.0.0' } });

/** Nothing drifts or breathes: each frame is drawn by the processor. */
const open = async (url: string, options: BrowserContextOptions, onEnd: OnEnd = onTestFinished): Promise<Page> => {
  const context = await (await launchBrowser()).newContext({ reducedMotion: 'reduce', ...options });
  onEnd(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(patience.timeout);
  await page.goto(url);
  return page;
};

/** As small as shows all that there is: each frame, and each picture of a code, is half the work. */
export const openScreen = ({ url }: TestService, options: BrowserContextOptions = {}): Promise<Page> =>
  open(url, { viewport: { width: 800, height: 620 }, locale: 'en-GB', ...options });

/** @param onEnd when it closes; default: with the test */
export const openPhone = (url: string, options: BrowserContextOptions = {}, onEnd?: OnEnd): Promise<Page> => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, locale: 'en-GB' };
  return open(url, { ...phone, ...options }, onEnd);
};

/** Makes a device known, as its own page does. */
export const showUp = async ({ url }: Pick<TestService, 'url'>, deviceId: string): Promise<void> => {
  const headers = { 'x-signage-device': deviceId };
  await fetch(`${url}/api/onboarding/status?deviceId=${deviceId}`, { headers });
};

/** The onboarding form of a device that has shown up. */
export const openForm = async (service: TestService, deviceId = 'device-1', options: BrowserContextOptions = {}) => {
  await showUp(service, deviceId);
  return openPhone(`${service.url}/onboard?deviceId=${deviceId}`, options);
};

/** What a camera reads that is held in front of the code. */
export const scan = async (page: Page): Promise<string> => {
  let read = '';
  const look = async (): Promise<string> => {
    const { data, width, height } = PNG.sync.read(await page.locator('#code').screenshot());
    read = jsqr(new Uint8ClampedArray(data), width, height)?.data ?? '';
    return read;
  };
  await expect.poll(look, patience).not.toBe('');
  return read;
};

/** Resolves once a page plays the screen, by what is to be read on it. */
export const untilPlaying = async (page: Page, slug: string, title: string): Promise<void> => {
  await page.waitForURL(`**/screen/${slug}`);
  await page.getByText(title).first().waitFor();
};

/** The id of the device on the screen, as it stands in addresses and answers. */
export const deviceOn = async (page: Page): Promise<string> => canonicalDeviceId(await textOf(page, '#device'));

/** The address of the form for the device on the screen, as it is read off there. */
export const readOff = async (page: Page): Promise<string> => {
  await page.locator('#code svg').waitFor();
  return `${await textOf(page, 'dd')}?deviceId=${await deviceOn(page)}`;
};

/** What stands in the first element that fits. */
export const textOf = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).first().textContent()) ?? '';
