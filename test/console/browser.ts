/** The console in a real Chromium, over plain http on an address that is no secure context. */
import { networkInterfaces } from 'node:os';
import axe from 'axe-core';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { type OnEnd, startTestService, type TestService } from '../support/service.ts';

const address = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === 'IPv4' && !each.internal)?.address;

/** The address of a box in the LAN; a box that listens on all addresses has it. */
export const inLan = (url: string): string => url.replace(/127\.0\.0\.1|0\.0\.0\.0/, address ?? '127.0.0.1');

export interface ConsolePage {
  page: Page;
  /** Opens the page of a hash, such as `content/versions`. */
  go(hash: string): Promise<unknown>;
}

/** A page in a browser of its own; it closes with the test. @param script runs before any other */
export const newPage = async (
  options: BrowserContextOptions = {},
  script?: string,
  onEnd: OnEnd = onTestFinished,
): Promise<Page> => {
  const context = await (await launchBrowser()).newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    // Nothing moves, so that nothing is drawn again and again.
    reducedMotion: 'reduce',
    ...options,
  });
  onEnd(() => context.close());
  const page = await context.newPage();
  if (script !== undefined) await page.addInitScript(script);
  return page;
};

/** Opens the console of a box in a {@link newPage}. */
export const openConsole = async (url: string, ...options: Parameters<typeof newPage>): Promise<ConsolePage> => {
  const page = await newPage(...options);
  const go = (hash: string): Promise<unknown> => page.goto(`${inLan(url)}/console#/${hash}`);
  await go('');
  return { page, go };
};

/** One service and one page of its console for all tests of a suite, which go on from what the one before has left. */
export const shareConsole = (
  setup: Parameters<typeof startTestService>[0] = {},
  options: BrowserContextOptions = {},
): (() => ConsolePage & { service: TestService }) => {
  const ends: (() => void | Promise<void>)[] = [];
  let shared: ConsolePage & { service: TestService };
  beforeAll(async () => {
    const onEnd: OnEnd = (end) => void ends.unshift(end);
    const service = await startTestService({ ...setup, env: { SIGNAGE_HOST: '0.0.0.0', ...setup.env } }, onEnd);
    shared = { service, ...(await openConsole(service.url, options, undefined, onEnd)) };
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => shared;
};

/** Holds requests of a page back. @returns lets them go on, and those that follow */
export const holdRequests = async (page: Page, url: string | RegExp): Promise<() => void> => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(url, async (route) => {
    await held;
    await route.continue();
  });
  return release;
};

/** Loses the answer of the next request of a kind, which the box carries out. */
export const loseAnswer = async (page: Page, url: string, method: string): Promise<void> => {
  let isLost = false;
  await page.route(url, async (route) => {
    if (isLost || route.request().method() !== method) return route.fallback();
    isLost = true;
    await route.fetch();
    await route.abort();
  });
};

export const signIn = async (page: Page, secret: string, name = ''): Promise<void> => {
  await page.getByLabel('Shared secret').fill(secret);
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('button', { name: 'Open the console' }).click();
};

/**
 * What axe finds in a part of the page as it is: rules of WCAG 2.2 AA, each with the first element that breaks it.
 * @param rules absent: all of them
 */
export const violationsIn = async (
  part: Locator,
  ...rules: string[]
): Promise<[rule: string, element: string | undefined][]> => {
  const page = part.page();
  // It is half a megabyte, and stays until the page is loaded anew.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  return part.evaluate(
    async (element, runOnly) => {
      const { axe: run } = globalThis as unknown as { axe: typeof axe };
      const { violations } = await run.run(element, { runOnly, iframes: false });
      return violations.map(({ id, nodes }): [string, string | undefined] => [id, nodes[0]?.html]);
    },
    rules.length > 0 ? rules : ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  );
};

/** {@link violationsIn} the whole page. */
export const violationsOn = (page: Page, ...rules: string[]): ReturnType<typeof violationsIn> =>
  violationsIn(page.locator('html'), ...rules);
