/** The order of a playlist, and the slides of another one between its own, are set in the editor. */
import { expect, test } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
import { patience } from '../support/player.ts';
import { startTestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { openConsole, violationsOn } from './browser.ts';

const text = (title: string) => ({ id: title, kind: 'text', title });

describeBrowser('the order of a playlist', { timeout: 60_000 }, () => {
  test('is set with the slides that are inserted, and plays', walk, async () => {
    const service = await startTestService({
      content: {
        screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
        playlists: [
          { id: 'main', name: 'Main', slides: [text('one'), text('two'), text('three')] },
          { id: 'ads', name: 'Ads', slides: [text('ad')] },
        ],
      },
      env: { SIGNAGE_HOST: '0.0.0.0' },
    });
    const { page, go } = await openConsole(service.url);
    await go('content/playlists/main');
    await page.getByText('Order', { exact: true }).click();
    await page.getByLabel('Order of the slides').selectOption('Shuffled');
    const inserted = page.getByLabel('Insert slides of');
    expect(await inserted.locator('option').allInnerTexts()).not.toContain('Main');
    await inserted.selectOption('Ads');
    const every = page.getByLabel('After every … slides');
    await every.fill('0');
    await every.fill('1');
    await page.getByLabel('Slides that are inserted each time').fill('2');
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: /^Publish/ }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Publish/ })
      .click();
    const stored = async () => {
      const { content } = (await (await service.get('/console/api/content')).json()) as {
        content: { playlists: { order?: string; insert?: object }[] };
      };
      return content.playlists[0];
    };
    await expect
      .poll(stored, patience)
      .toMatchObject({ order: 'shuffled', insert: { playlist_id: 'ads', every: 1, count: 2 } });
    await inserted.selectOption('');
    expect(await page.getByLabel('After every … slides').count()).toBe(0);
  });
});
