/** A real Chromium for what only a browser can show. */
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { describe, it } from 'vitest';
import { findChromium } from './chromium.ts';

const executablePath = findChromium();
export const hasChromium = executablePath !== undefined;

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--autoplay-policy=no-user-gesture-required',
  // Pages of one process share what it has compiled: a page costs a fifth less.
  '--renderer-process-limit=1',
  '--disable-features=SpareRendererForSitePerProcess',
];

let browser: Promise<Browser> | undefined;

/** The browser of this worker: started once, ended with its process. Give each test a context of its own. */
export const launchBrowser = (): Promise<Browser> => {
  if (executablePath === undefined)
    throw new Error('No Chromium, neither on the PATH nor from `npx playwright-core install chromium`');
  browser ??= chromium.launch({ executablePath, args });
  return browser;
};

/** Closes pages: what a test still does with their requests ends without an error. */
export const closeContext = async (context: BrowserContext): Promise<void> => {
  for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
  await context.close();
};

/** Closes what the tests of a file have left open. */
export const closeContexts = async (): Promise<void> => {
  for (const context of (await browser)?.contexts() ?? []) await closeContext(context);
};

/** Where there is no Chromium these are skipped by name; in CI they fail. */
export const isSkipped = !hasChromium && process.env.CI !== 'true';
export const describeBrowser = describe.skipIf(isSkipped);
export const itBrowser = it.skipIf(isSkipped);
