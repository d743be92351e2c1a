/** The onboarding form of one player on two phones at once. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { describeBrowser, itBrowser as it } from '../support/browser.ts';
import { openForm, openPhone, shareReachable } from './browser.ts';
import { bind } from './support.ts';

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).tap();

const choose = async (page: Page, screen: string, name: string): Promise<void> => {
  await page.getByText(screen).first().tap();
  await page.getByLabel('Name of the player').fill(name);
  await press(page, 'Start playing');
};

// Of one player, which the first case sets up.
describeBrowser('two phones', { shuffle: false }, () => {
  const reachable = shareReachable();

  it('ask before one moves what the other has just set up, and both know how it ended', async () => {
    const service = reachable();
    const url = `${service.url}/onboard?deviceId=device-1`;
    const [first, second] = [await openForm(service), await openPhone(url)];
    await second.getByText('Gate 4').waitFor();
    // What the second phone knows may be as old as it likes.
    await second.route('**/api/onboarding/status**', async (route) => {
      if (await second.locator('#bind').isEnabled()) await route.abort();
      else await route.continue();
    });
    await choose(first, 'Lobby', 'A');
    await first.getByRole('heading', { name: 'Saved' }).waitFor();

    await choose(second, 'Gate 4', 'C');
    await second.getByText('It shows “Lobby” now. Change it to “Gate 4”?').waitFor();
    await press(second, 'Yes, change it');
    await second.getByText('It is called “A” now. Change its name to “C”?').waitFor();
    await press(second, 'Yes, change it');
    await second.getByRole('heading', { name: 'Saved' }).waitFor();
    await first.getByText('“C” has just been changed from another phone.').waitFor();

    await press(first, 'Change something');
    await first.getByText('“C” shows “Gate 4” now.').waitFor();
    expect(await first.getByRole('radio', { name: 'Gate 4' }).isChecked()).toBe(true);
  });

  it('do not answer a question that is out of date', async () => {
    const service = reachable();
    await bind(service, { deviceId: 'device-2' });
    const phone = await openPhone(`${service.url}/onboard?deviceId=device-2`);
    await choose(phone, 'Gate 4', 'A');
    await phone.getByText('It shows “Lobby” now. Change it to “Gate 4”?').waitFor();
    await bind(service, { deviceId: 'device-2', screenSlug: 'cafe', clientName: 'C' });
    await phone.getByText('“C” shows “Café” now.').waitFor();
    await press(phone, 'Start playing');
    await phone.getByText('It shows “Café” now. Change it to “Gate 4”?').waitFor();
  });
});
