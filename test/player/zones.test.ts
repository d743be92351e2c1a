/** Zones beside the main one, in a real browser. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { openPlayer, patience, waitForConnection } from '../support/player.ts';
import { startTestService } from '../support/service.ts';

const text = (id: string) => ({ id, kind: 'text', title: id, duration_seconds: 3600 });
const playlist = (id: string, slides: readonly object[] = [text(id)]) => ({ id, slides });
const content = (zones: object, slides: readonly object[] = [text('offer')]) => ({
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main', layout: 'sidebar-ticker', zones }],
  playlists: [playlist('main'), playlist('offer', slides), playlist('news')],
});
const zones = { sidebar: 'offer', ticker: 'news' };

/** `x y width height` of an element. */
const roomOf = (page: Page, id: string): Promise<number[]> =>
  page.locator(id).evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x, y, width, height].map(Math.round);
  });

it('show the sidebar at the right, the ticker below, and the screen in what is left; without a sidebar it has that too', async () => {
  const service = await startTestService({ content: content(zones) });
  const page = await openPlayer(service, 'lobby', { width: 720, height: 360 });
  await waitForConnection(service, 'lobby', { currentSlideId: 'main' });
  await expect.poll(() => roomOf(page, '#stage'), patience).toEqual([0, 0, 540, 320]);
  expect(await roomOf(page, '#sidebar')).toEqual([540, 0, 180, 320]);
  expect(await roomOf(page, '#ticker')).toEqual([0, 320, 720, 40]);
  expect(await page.locator('#sidebar').textContent()).toContain('offer');
  const before = await roomOf(page, '.ticker-track');
  await expect.poll(async () => (await roomOf(page, '.ticker-track'))[0], patience).not.toBe(before[0]);
  await page.setViewportSize({ width: 360, height: 720 });
  await expect.poll(() => roomOf(page, '#sidebar'), patience).toEqual([0, 460, 360, 180]);
  await page.setViewportSize({ width: 900, height: 180 });
  await expect.poll(() => roomOf(page, '#stage'), patience).toEqual([0, 0, 720, 180]);
  service.writeContent(content(zones, []));
  await expect.poll(() => roomOf(page, '#stage'), patience).toEqual([0, 0, 900, 180]);
});
