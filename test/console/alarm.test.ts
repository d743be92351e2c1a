/** What the wall tells of displays that somebody changed, and an alarm from a saved message. */
import { expect } from 'vitest';
import type { SiteOverview } from '../../service/contract/console/site.ts';
import { itBrowser } from '../support/browser.ts';
import { joinScreen } from '../support/page.ts';
import { patience } from '../support/player.ts';
import { startTestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { loseAnswer, openConsole } from './browser.ts';

const content = {
  screens: ['Lobby', 'Bar'].map((name) => ({ name, slug: name.toLowerCase(), playlist_id: 'main' })),
  playlists: [{ id: 'main', slides: [{ id: 'hello', kind: 'text', title: 'Hello' }] }],
  messages: [{ id: 'fire', title: 'Please leave the house', level: 'emergency', minutes: null }],
};

itBrowser(
  'the wall names who had a display black, and an alarm takes one tap, stands over every page and is ended',
  async () => {
    const service = await startTestService({ content, env: { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_TIME_ZONE: 'UTC' } });
    const pages = { lobby: await joinScreen(service, 'lobby'), bar: await joinScreen(service, 'bar') };
    const state = {
      type: 'state',
      currentSlide: 0,
      currentSlideId: 'hello',
      currentSlideTitle: 'Hello',
      blackout: false,
    };
    for (const page of Object.values(pages)) page.send(state);
    const { page, go } = await openConsole(service.url);
    const group = (name: string) => page.getByRole('radio', { name: new RegExp(`^${name} \\d`) });
    await page.locator('.chip', { hasText: 'Playing 2' }).waitFor();

    await service.get('/api/screens/bar/commands', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'x-signage-operator': 'Boris' },
      body: JSON.stringify({ command: 'blackout', blackout: true }),
    });
    pages.bar.send({ ...state, blackout: true });
    await page.getByText(/^Black, by command · Boris, \d\d:\d\d$/).waitFor();
    await page.locator('.chip', { hasText: 'Needs attention 1' }).waitFor();
    await page.locator('.chip', { hasText: 'Playing 1' }).waitFor();
    await group('Black').check();
    await expect.poll(() => page.locator('.tile h2').allTextContents(), patience).toEqual(['Bar']);

    await go('takeovers');
    await page.getByRole('button', { name: 'Show everywhere: “Please leave the house”' }).click();
    const takeovers = async () =>
      ((await (await service.get('/console/api/site')).json()) as SiteOverview).takeovers.map(({ id, until }) => [
        id,
        until,
      ]);
    await expect.poll(takeovers, patience).toEqual([['message-fire', null]]);
    await go('media');
    const bar = page.locator('.banner.bad');
    await bar.getByText(/somebody, since \d\d:\d\d, until it is ended/).waitFor();
    await bar.getByRole('button', { name: 'End “Please leave the house”' }).click();
    await expect.poll(takeovers, patience).toEqual([]);

    // A message that is kept for another time lasts until the time that was chosen.
    await go('takeovers');
    const end = new Date(Date.now() + 2 * 3_600_000);
    await page.getByLabel('Message', { exact: true }).fill('Sale');
    await page.getByRole('radio', { name: 'Until …' }).check();
    await page.getByLabel(/^Until, time in/).fill(end.toISOString().slice(0, 16));
    await page.getByRole('button', { name: 'Save as message' }).click();
    const kept = async () => {
      const { drafts } = (await (await service.get('/console/api/drafts')).json()) as { drafts: { id: string }[] };
      const draft = await service.get(`/console/api/drafts/${drafts[0]?.id}`);
      const { content: edited } = (await draft.json()) as { content?: typeof content };
      return edited?.messages.map(({ title, minutes }) => [title, minutes]);
    };
    const minutes = expect.toSatisfy((each: number) => Math.abs(each - 120) <= 1);
    await expect.poll(kept, patience).toEqual([
      ['Please leave the house', null],
      ['Sale', minutes],
    ]);
    await page.getByRole('button', { name: 'Delete the saved message “Please leave the house”' }).click();
    await expect.poll(kept, patience).toEqual([['Sale', minutes]]);
    await page.getByText('Deleted in the draft.').first().waitFor();

    // What a trigger started is named by it, on every page and on the tile.
    const effect = { takeover: { message_id: 'fire', targets: ['lobby'] } };
    const made = await service.get('/console/api/triggers', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'Siren', effect }),
    });
    const { token } = (await made.json()) as { token: string };
    await service.get(`/api/triggers/${token}`, { method: 'POST' });
    pages.lobby.send({ ...state, currentSlideId: 'takeover-message-fire', currentSlideTitle: 'Fire' });
    await go('screens');
    await bar.getByText(/trigger “Siren”, since \d\d:\d\d, until it is ended/).waitFor();
    await page.getByText(/^Shows a takeover · trigger “Siren”, \d\d:\d\d$/).waitFor();
    await go('history');
    await page.getByText('The trigger “Siren” was fired for Lobby').waitFor();
    await bar.getByRole('button', { name: 'End “Please leave the house”' }).click();
    await expect.poll(takeovers, patience).toEqual([]);

    // The tile of a display that is taken over names who did it, too.
    await service.get('/console/api/takeovers/drill', {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json', 'x-signage-operator': 'Clara' },
      body: JSON.stringify({ targets: ['lobby'], level: 'emergency', title: 'Drill', until: null }),
    });
    pages.lobby.send({ ...state, currentSlideId: 'takeover-drill', currentSlideTitle: 'Drill' });
    await go('screens');
    await page.getByText(/^Shows a takeover · Clara, \d\d:\d\d$/).waitFor();
    await service.get('/console/api/takeovers/drill', { method: 'DELETE' });

    // A slide that a display could not show is named on its tile and on the page of its screen, until it is shown.
    pages.lobby.send({ ...state, currentSlideId: 'bye', currentSlideTitle: 'Bye' });
    pages.lobby.send({ type: 'fault', slideId: 'hello', reason: 'the film has no picture' });
    const fault = page.getByText(/^“Hello” could not be shown, \d\d:\d\d: the film has no picture$/);
    await fault.waitFor();
    await go('screens/lobby');
    await fault.waitFor();
    pages.lobby.send(state);
    await expect.poll(() => fault.count(), patience).toBe(0);
    await expect.poll(() => bar.count(), patience).toBe(0);
  },
);

itBrowser(
  'a takeover is asked for and confirmed without another file, which a box that was updated has no more',
  walk,
  async () => {
    const service = await startTestService({ content, env: { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_TIME_ZONE: 'UTC' } });
    const { page, go } = await openConsole(service.url);
    await go('takeovers');
    await page.getByLabel('Message', { exact: true }).fill('Leave the house');
    await page.route('**/assets/*.js', (route) => route.fulfill({ status: 404 }));
    await page.getByRole('radio', { name: 'Until …' }).check();
    await page.getByRole('button', { name: /^Show on/ }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Show on/ })
      .click();
    await page.getByText('It is being shown.').waitFor();
  },
);

itBrowser('a takeover that starts later is said to start then, and not to be shown now', walk, async () => {
  const service = await startTestService({ content, env: { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_TIME_ZONE: 'UTC' } });
  const { page, go } = await openConsole(service.url);
  await go('takeovers');
  const dialog = page.getByRole('dialog');
  const ask = async (start: string): Promise<void> => {
    await page.getByLabel('Message', { exact: true }).fill('Inventory');
    await page.getByLabel(/^Start, time in/).fill(start);
    await page.getByRole('button', { name: /^Show on/ }).click();
  };
  const inADay = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  await ask(`${inADay}T09:00`);
  await dialog.getByRole('heading', { name: 'Show it later?' }).waitFor();
  await dialog.getByText(/^It will be shown from .+, 09:00\.$/).waitFor();
  await dialog.getByRole('button', { name: /^Show on/ }).click();
  await page.locator('.toast', { hasText: /It will be shown from .+, 09:00\./ }).waitFor();
  // A start that is over is now.
  await ask('2020-01-01T09:00');
  await dialog.getByRole('heading', { name: 'Show it now?' }).waitFor();
});

itBrowser('a takeover whose answer was lost is shown once, though it is sent again', async () => {
  const service = await startTestService({ content, env: { SIGNAGE_HOST: '0.0.0.0' } });
  const { page, go } = await openConsole(service.url);
  await go('takeovers');
  const compose = (title: string) => page.getByLabel('Message', { exact: true }).fill(title);
  const show = async (): Promise<void> => {
    await page.getByRole('button', { name: /^Show on/ }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Show on/ })
      .click();
  };
  const titles = async () =>
    ((await (await service.get('/console/api/site')).json()) as SiteOverview).takeovers.map(({ title }) => title);
  await loseAnswer(page, '**/console/api/takeovers/*', 'PUT');
  await compose('Sale');
  await show();
  await page.getByText('may still happen').waitFor();
  await show();
  await page.getByText('It is being shown.').waitFor();
  expect(await titles()).toEqual(['Sale']);
  await compose('Closing');
  await show();
  await expect.poll(async () => (await titles()).toSorted(), patience).toEqual(['Closing', 'Sale']);
});
