/** Which Chromium is used; here, as what is run without vitest cannot load the rest of `browser.ts`. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
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

/** The path of the Chromium of this machine; undefined: there is none. */
export const findChromium = (): string | undefined =>
  findProgram('chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable') ??
  ownChromium();
