import { expect, it, onTestFinished } from 'vitest';
import { describeBrowser, launchBrowser } from '../../support/browser.ts';
import { colourOf, isClose, lobby, openPlayer, patience } from '../../support/player.ts';
import { startTestService } from '../../support/service.ts';
import { walk } from '../../support/soak.ts';

const ground = [23, 52, 58] as const;

describeBrowser('the idle screen', () => {
  it('tells the time of the site', async () => {
    const timeZone = 'Asia/Kathmandu';
    const service = await startTestService({ content: lobby([]), env: { SIGNAGE_TIME_ZONE: timeZone } });
    const page = await openPlayer(service, 'lobby');
    const clock = new Intl.DateTimeFormat('en-US', { timeStyle: 'short', timeZone });
    const letters = (text: string | null): string => (text ?? '').replace(/\s/g, '');
    await expect
      .poll(async () => letters(await page.locator('.idle-time').textContent()) === letters(clock.format()), patience)
      .toBe(true);
  });

  it('tells a visitor of an address without a screen, until there is one', async () => {
    const service = await startTestService({ content: lobby([]) });
    const page = await openPlayer(service, 'loby');
    await page.getByText('There is no screen “loby” on this player yet.').waitFor();
    service.writeContent({ ...lobby([]), screens: [{ name: 'Loby', slug: 'loby', playlist_id: 'main' }] });
    await expect.poll(() => page.locator('.idle-note').textContent(), patience).toBe('');
  });

  it('says in other words that a screen was removed, until it is back', walk, async () => {
    const service = await startTestService({ content: lobby([]) });
    const page = await openPlayer(service, 'lobby');
    await page.locator('.idle-time').waitFor();
    service.writeContent({ screens: [], playlists: [] });
    await page.getByText('The screen “Lobby” was removed.').waitFor();
    expect(await page.locator('.idle-time').isVisible()).toBe(false);
    await page.reload();
    await page.getByText('The screen “Lobby” was removed.').waitFor();
    service.writeContent(lobby([]));
    await page.locator('.idle-time').waitFor();
    expect(await page.locator('.idle-note').textContent()).toBe('');
  });

  it('is painted before any script has run', async () => {
    const service = await startTestService({ content: lobby([]) });
    const context = await (await launchBrowser()).newContext({ javaScriptEnabled: false });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(`${service.url}/screen/lobby`);
    expect(isClose(await colourOf(page), ground)).toBe(true);
  });
});
