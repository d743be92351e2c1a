/** Every page and dialog of the console is clean for axe, by day and by night, and dialogs give the focus back; dialogs by night, and with the page behind them, in `npm run soak`. */
import { expect } from 'vitest';
import { openLanding } from '../devices/support.ts';
import { itBrowser } from '../support/browser.ts';
import { putImage } from '../support/media.ts';
import { createOperator, operatorSecret } from '../support/operator.ts';
import { joinScreen, protocolsOf } from '../support/page.ts';
import { lobby } from '../support/player.ts';
import { startTestService } from '../support/service.ts';
import { isSoak } from '../support/soak.ts';
import { openConsole, signIn, violationsIn, violationsOn } from './browser.ts';

const slides = [
  { id: 'hall', kind: 'image', media_url: '/media/hall.png' },
  { id: 'hello', kind: 'text', title: 'Hello', schedule_mode: 'weekly', schedule_start_time: '08:00' },
  { id: 'gone', kind: 'image', media_url: '/media/gone.png' },
];

/** Pages, and the buttons that open a dialog on them. */
const pages: readonly [hash: string, heading: string, ...dialogs: string[]][] = [
  ['', 'Screens', 'Connect … hall-display'],
  ['screens/lobby', 'Lobby', 'Show a page …', 'Rename …', 'Forget …', 'Move …'],
  ['content', 'Content', 'New playlist', 'Delete main'],
  ['content/playlists/main', 'Content', 'Add slide', 'Choose'],
  ['content/screens', 'Content', 'Delete Lobby', 'Change the address of Lobby'],
  ['content/sources', 'Content'],
  ['content/versions', 'Content', 'Plays now'],
  ['content/json', 'Content'],
  ['media', 'Media', 'Delete hall.png'],
  ['takeovers', 'Takeover', 'Show on 1 display'],
  ['history', 'History'],
  ['history/shown', 'History'],
  ['history/figures', 'Plays'],
  ['boxes', 'Boxes', 'Log', 'Restart …', 'Machine …'],
];

itBrowser(
  'every page and dialog is clean for axe in both schemes',
  async () => {
    const service = await startTestService({
      content: { ...lobby(slides), screens: [...lobby([]).screens, { name: 'Bar', slug: 'bar', tags: ['public'] }] },
      env: { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_SHARED_SECRET: operatorSecret },
    });
    putImage(service.dataDir, 'hall.png', [20, 90, 60]);
    const binding = { deviceId: 'door-display', clientName: 'Door', screenSlug: 'lobby' };
    await createOperator(service, operatorSecret)('POST', '/api/onboarding', binding);
    const protocols = await protocolsOf(service, 'lobby', operatorSecret);
    await joinScreen(service, 'lobby', binding, { protocols });
    const landing = await openLanding(service, 'hall-display', { protocols });
    const { page, go } = await openConsole(service.url);
    expect(await violationsOn(page)).toEqual([]);
    await signIn(page, operatorSecret);
    await page.getByRole('link', { name: 'Lobby' }).waitFor();
    const check = async (what: string): Promise<void> => {
      const open = page.getByRole('dialog');
      if (!isSoak && (await open.count()) > 0)
        // The page behind it was clean a moment before.
        return expect.soft(await violationsIn(open), what).toEqual([]);
      expect.soft(await violationsOn(page), what).toEqual([]);
      // The colours are all that differs at night.
      await page.emulateMedia({ colorScheme: 'dark' });
      expect.soft(await violationsOn(page, 'color-contrast'), `${what} at night`).toEqual([]);
      await page.emulateMedia({ colorScheme: 'light' });
    };
    for (const [hash, heading, ...dialogs] of pages) {
      await go(hash);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await check(hash);
      if (hash === 'takeovers') await page.getByLabel('Message').fill('The lift is out of order');
      if (hash === 'content/playlists/main') {
        await page.getByRole('button', { name: 'Week' }).click();
        await page.getByText('2 slides are always on.').waitFor();
        await check('week');
      }
      for (const dialog of dialogs) {
        const opener = page.getByRole('button', { name: dialog, exact: dialog !== 'Plays now' }).first();
        await opener.click();
        await page.getByRole('dialog').waitFor();
        await check(`${hash}: ${dialog}`);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        const isBack = await opener.evaluate((element) => element === document.activeElement);
        expect.soft(isBack, `the focus after ${hash}: ${dialog}`).toBe(true);
      }
    }

    await go('');
    await page.getByRole('button', { name: 'Connect … hall-display' }).click();
    const dialog = page.getByRole('dialog', { name: 'Connect hall-display' });
    await dialog.getByLabel('Screen').selectOption('Bar');
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Bar');
    await dialog.getByLabel('Name').fill('Door');
    await dialog.getByRole('button', { name: 'Connect' }).click();
    await dialog.getByText('Another display is called “Door” already.').waitFor();
    await dialog.getByLabel('Name').fill('Bar');
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    expect(await landing.message(({ onboarded }) => onboarded === true)).toMatchObject({ screenSlug: 'bar' });
    await page.getByRole('heading', { name: 'Waiting displays' }).waitFor({ state: 'detached' });
  },
  90_000,
);
