/** A real Chromium for what only a browser can show. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { describe, it } from 'vitest';
import { findProgram } from './program.ts';

/** The Chromium that `npx playwright-core install chromium` brings, for machines that have none. */
const ownChromium = (): string | undefined => {
  try {
    const path = chromium.executablePath();
    return existsSync(path) ? path : undefined;
  } catch {
    // There is none for this platform.
    return undefined;
  }
};

const executablePath =
  findProgram('chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable') ??
  ownChromium();
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
];

let browser: Promise<Browser> | undefined;

/** The browser of this worker: started once, ended with its process. Give each test a context of its own. */
export const launchBrowser = (): Promise<Browser> => {
  if (executablePath === undefined)
    throw new Error('No Chromium, neither on the PATH nor from `npx playwright-core install chromium`');
  browser ??= chromium.launch({ executablePath, args });
  return browser;
};

/** Closes what the tests of a file have left open. */
export const closeContexts = async (): Promise<void> => {
  for (const context of (await browser)?.contexts() ?? []) await context.close();
};

/** Where there is no Chromium these are skipped by name; in CI they fail. */
export const isSkipped = !hasChromium && process.env.CI !== 'true';
export const describeBrowser = describe.skipIf(isSkipped);
export const itBrowser = it.skipIf(isSkipped);
