import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { PlaylistPayload } from '../../../service/contract/playlist.ts';
import { describeBrowser } from '../../support/browser.ts';
import { openPlayer, patience, waitForConnection } from '../../support/player.ts';
import { startTestService } from '../../support/service.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'resources', 'demo');
const media = [...new Set(readFileSync(join(folder, 'content.json'), 'utf8').match(/(?<=\/media\/)[\w.-]+/g))];

it.each(media)('%s is there, and light enough to ship', (name) => {
  const limit = name.endsWith('.mp4') ? 1_500_000 : 400_000;
  expect(statSync(join(folder, 'media', name)).size).toBeLessThanOrEqual(limit);
});

describeBrowser('the demo', () => {
  it('shows every slide, with no fault and nothing cut off, in landscape, in portrait and in a band', {
    timeout: 90_000,
  }, async () => {
    const viewports = [
      { width: 1280, height: 720 },
      { width: 720, height: 1280 },
      { width: 1920, height: 300 },
    ];
    const service = await startTestService({ isDemoShipped: true });
    const payload = (await (await service.get('/api/screens/demo/playlist')).json()) as PlaylistPayload;
    expect(payload.slides.length).toBeGreaterThanOrEqual(6);
    const page = await openPlayer(service, 'demo', viewports[0]);
    const command = (name: string) => service.post('/api/screens/demo/commands', { command: name });
    const cut = () =>
      page
        .locator('.slide[data-state]')
        .last()
        .evaluate((slide) => {
          const screen = slide.getBoundingClientRect();
          const hasWords = ({ childNodes }: Element): boolean =>
            [...childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== '');
          return [...(slide.shadowRoot ?? slide).querySelectorAll('*:not(style)')]
            .filter(hasWords)
            .filter((element) => {
              const { left, top, right, bottom } = element.getBoundingClientRect();
              return left < screen.left || top < screen.top || right > screen.right || bottom > screen.bottom;
            }).length;
        });
    await waitForConnection(service, 'demo', { currentSlide: 0 });
    await command('pause');
    for (const [at, { id }] of payload.slides.entries()) {
      if (at > 0) await command('next');
      await waitForConnection(service, 'demo', { currentSlideId: id });
      await expect.poll(() => page.locator('.slide[data-state]').count(), patience).toBe(1);
      for (const viewport of viewports) {
        await page.setViewportSize(viewport);
        await expect.poll(cut, { ...patience, message: `${id} at ${viewport.width}x${viewport.height}` }).toBe(0);
      }
    }
    expect(service.log()).not.toContain('"slideId"');
  });
});
