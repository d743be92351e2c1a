/** What swaps cost: a fade is the compositor's work alone. */
import { expect, it, onTestFinished } from 'vitest';
import { describeBrowser, launchBrowser } from '../support/browser.ts';
import { healthOf } from '../support/observe.ts';
import { colourSlide, colourTemplate, lobby, openPlayer, patience } from '../support/player.ts';
import { startTestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';

interface TraceEvent {
  name: string;
}

const slides = [colourSlide('a', [230, 20, 20], 2), colourSlide('b', [20, 20, 230], 2)];

describeBrowser('a fade', () => {
  it('lays out and paints nothing from frame to frame', { ...walk, timeout: 90_000 }, async () => {
    const content = lobby(slides, { templates: [colourTemplate] });
    content.playlists[0] = { id: 'main', fade_between_slides: true, slides };
    const service = await startTestService({ content });
    const page = await openPlayer(service, 'lobby');
    const swapsOf = async (): Promise<number> => (await healthOf(service)).gaps.count;
    await expect.poll(swapsOf, patience).toBeGreaterThan(1);
    const browser = await launchBrowser();
    await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline', 'devtools.timeline'] });
    await page.evaluate(() => {
      const seen = { frames: 0 };
      Object.assign(globalThis, { seen });
      const look = (): void => {
        if (document.getAnimations().some((animation) => !(animation instanceof CSSAnimation))) seen.frames += 1;
        requestAnimationFrame(look);
      };
      look();
    });
    const fadeFramesOf = () => page.evaluate(() => (globalThis as unknown as { seen: { frames: number } }).seen.frames);
    await expect.poll(fadeFramesOf, { ...patience, timeout: 60_000 }).toBeGreaterThan(40);
    const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as { traceEvents: TraceEvent[] };
    const count = (name: string): number => traceEvents.filter((event) => event.name === name).length;
    const fadeFrames = await fadeFramesOf();
    expect(count('Layout')).toBeLessThan(fadeFrames / 2);
    expect(count('Paint')).toBeLessThan(fadeFrames / 2);
  });

  it('gives way to a cut where frames come too slowly', async () => {
    const content = lobby(slides, { templates: [colourTemplate] });
    content.playlists[0] = { id: 'main', fade_between_slides: true, slides };
    const service = await startTestService({ content });
    const context = await (await launchBrowser()).newContext({ viewport: { width: 640, height: 360 } });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.addInitScript(() => {
      const request = globalThis.requestAnimationFrame.bind(globalThis);
      globalThis.requestAnimationFrame = (callback) =>
        request(() => setTimeout(() => callback(performance.now()), 120));
      const { animate } = Element.prototype;
      Object.assign(globalThis, { fades: 0 });
      Element.prototype.animate = function (...given) {
        Object.assign(globalThis, { fades: 1 });
        return animate.apply(this, given);
      };
    });
    await page.goto(`${service.url}/screen/lobby`);
    await expect.poll(async () => (await healthOf(service)).gaps.count, patience).toBeGreaterThan(1);
    expect(await page.evaluate(() => (globalThis as unknown as { fades: number }).fades)).toBe(0);
  });
});
