/** The console in a real Chromium, over plain http on an address that is no secure context. */
import { networkInterfaces } from 'node:os';
import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { launchBrowser } from '../support/browser.ts';

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

/** Opens the console of a box in a browser of its own; it closes with the test. @param script runs before any other */
export const openConsole = async (
  url: string,
  options: BrowserContextOptions = {},
  script?: string,
): Promise<ConsolePage> => {
  const context = await (await launchBrowser()).newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    ...options,
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  if (script !== undefined) await page.addInitScript(script);
  const go = (hash: string): Promise<unknown> => page.goto(`${inLan(url)}/console#/${hash}`);
  await go('');
  return { page, go };
};

export const signIn = async (page: Page, secret: string, name = ''): Promise<void> => {
  await page.getByLabel('Shared secret').fill(secret);
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('button', { name: 'Open the console' }).click();
};

/**
 * What axe finds on the page as it is: rules of WCAG 2.2 AA, each with the first element that breaks it.
 * @param rules absent: all of them
 */
export const violationsOn = async (
  page: Page,
  ...rules: string[]
): Promise<[rule: string, element: string | undefined][]> => {
  // It is half a megabyte, and stays until the page is loaded anew.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  return page.evaluate(
    async (runOnly) => {
      const { axe: run } = globalThis as unknown as { axe: typeof axe };
      const { violations } = await run.run(document, { runOnly, iframes: false });
      return violations.map(({ id, nodes }): [string, string | undefined] => [id, nodes[0]?.html]);
    },
    rules.length > 0 ? rules : ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  );
};
