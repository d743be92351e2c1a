import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { PlaylistPayload } from '../../../service/contract/playlist.ts';
import { describeBrowser } from '../../support/browser.ts';
import { connectionOf, openPlayer, patience } from '../../support/player.ts';
import { startTestService } from '../../support/service.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'resources', 'demo');
const media = [...new Set(readFileSync(join(folder, 'content.json'), 'utf8').match(/(?<=\/media\/)[\w.-]+/g))];

it.each(media)('%s is there, and light enough to ship', (name) => {
  const limit = name.endsWith('.mp4') ? 1_500_000 : 400_000;
  expect(statSync(join(folder, 'media', name)).size).toBeLessThanOrEqual(limit);
});

describeBrowser('the demo', () => {
  it.each([
    ['landscape', { width: 1280, height: 720 }],
    ['portrait', { width: 720, height: 1280 }],
    ['a band', { width: 1920, height: 300 }],
  ])('in %s shows every slide, with no fault and nothing cut off', { timeout: 90_000 }, async (_, viewport) => {
    const service = await startTestService();
    const payload = (await (await service.get('/api/screens/demo/playlist')).json()) as PlaylistPayload;
    expect(payload.slides.length).toBeGreaterThanOrEqual(6);
    const page = await openPlayer(service, 'demo', viewport);
    const next = () => service.post('/api/screens/demo/commands', { command: 'next' });
    let previous: string | null = null;
    for (const { id } of payload.slides) {
      const shown = async (): Promise<string | null> => {
        const { currentSlideId = null } = (await connectionOf(service, 'demo')) ?? {};
        // A slide that ended by itself just before the command was passed over: once more around.
        if (currentSlideId !== id && currentSlideId !== previous) await next();
        return currentSlideId;
      };
      await expect.poll(shown, { ...patience, interval: 300 }).toBe(id);
      previous = id;
      const cut = await page
        .locator('.slide[data-state="playing"]')
        .first()
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
      expect(cut, id).toBe(0);
      await next();
    }
    expect(service.log()).not.toContain('"slideId"');
  });
});
