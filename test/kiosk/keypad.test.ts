/** The lock of the maintenance page, as its files show it on small and on narrow displays. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { describeBrowser, itBrowser as it, launchBrowser } from '../support/browser.ts';

const page = pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'main', 'pages', 'maintenance.html')).href;

describeBrowser('the PIN keypad', () => {
  it.each([
    [800, 480],
    [960, 540],
    [640, 360],
    [600, 600],
    [480, 800],
    [390, 844],
    [3840, 600],
    [1920, 1080],
  ])('is in sight with all its keys at %i by %i', async (width, height) => {
    const context = await (await launchBrowser()).newContext({ viewport: { width, height }, locale: 'de' });
    onTestFinished(() => context.close());
    await context.addInitScript(() => {
      const call = async () => ({ state: 'locked', ask: 'new pin', waitMs: 0, wasWrong: false });
      Object.assign(globalThis, { maintenance: { call } });
    });
    const lock = await context.newPage();
    await lock.goto(page);
    await lock.locator('#keys button').last().waitFor();
    const outside = await lock
      .locator('#ask, #note, #leave, #keys button')
      .evaluateAll((parts) =>
        parts
          .map((part) => part.getBoundingClientRect())
          .filter(({ top, bottom, left, right }) => top < 0 || left < 0 || bottom > innerHeight || right > innerWidth),
      );
    expect(outside).toStrictEqual([]);
  });
});
