/** What happens to an editor on the second day: odd names, a full disk, a slow box, a box that is away, a reload. */
import { copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { itBrowser } from '../support/browser.ts';
import { putImage } from '../support/media.ts';
import { lobby, openPlayer, patience } from '../support/player.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { openConsole } from './browser.ts';

const env = { SIGNAGE_HOST: '0.0.0.0' };
const long = 'A picture of the harbour in the morning '.repeat(5).slice(0, 196).trim();
const names = [`${long}.png`, 'שלום עולם.png', '📣 50 % off & more #1.png'];

const content = {
  ...lobby([
    { id: 'hello', kind: 'text', title: 'Hello', duration_seconds: 3600 },
    { id: 'rtl', kind: 'text', title: 'ברוכים הבאים (קומה 2)!' },
    { id: 'long', kind: 'text', title: 'Donaudampfschifffahrtsgesellschaft'.repeat(6) },
  ]),
  screens: [
    { name: 'Lobby', slug: 'lobby', playlist_id: 'main' },
    { name: long, slug: 'long', playlist_id: 'main', tags: ['שלום'] },
  ],
};

/** Takes all the room of a small disk; the result gives it back. */
const fill = (folder: string): (() => void) => {
  for (const size of [256 * 1024, 4096]) {
    try {
      for (let count = 0; ; count++) writeFileSync(join(folder, `fill-${size}-${count}`), Buffer.alloc(size));
    } catch {
      // There is no more room.
    }
  }
  return () => {
    for (const name of readdirSync(folder)) if (name.startsWith('fill-')) rmSync(join(folder, name));
  };
};

itBrowser(
  'nothing typed is lost by a reload, the Back of the browser, a slow box, a full disk, or a box that is away',
  async () => {
    const smallDisk = mountSmallDisk(24);
    const dataDir = smallDisk ?? temporaryFolder();
    putImage(dataDir, 'red.png', [200, 0, 0]);
    const uploads = join(dataDir, 'uploads');
    for (const name of names) copyFileSync(join(uploads, 'red.png'), join(uploads, name));
    const first = await startTestService({ content, env, dataDir });
    const display = await openPlayer(first, 'lobby');
    const { page, go } = await openConsole(first.url);
    const click = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();
    const dialog = page.getByRole('dialog');
    const title = page.getByLabel('Title', { exact: true });
    const isTitle = (text: string) => expect.poll(() => title.inputValue(), patience).toBe(text);
    const playing = async () => (await first.get('/api/screens/lobby/playlist')).text();

    await go('content/playlists/main');
    await title.fill('Typed');
    await page.reload();
    await isTitle('Typed');
    await title.fill('Typed, and gone back');
    await page.goBack();
    await page.getByRole('link', { name: 'Lobby' }).waitFor();
    await page.goForward();
    await isTitle('Typed, and gone back');

    for (const name of names) {
      await click('Add slide');
      await click(/^Picture/);
      await dialog.getByRole('button', { name }).click();
      await dialog.waitFor({ state: 'detached' });
    }
    await page.getByRole('list', { name: 'Slides' }).getByRole('button', { name: /^1\. / }).click();
    await title.fill('The first');

    // The answer comes after the displays and the overview have it, and the editor goes on.
    let answer = (): void => {};
    const isTold = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route('**/console/api/drafts/*/publish', async (route) => {
      const response = await route.fetch();
      await isTold;
      return route.fulfill({ response });
    });
    const submit = page.getByRole('button', { name: 'Publish …' });
    const isLoaded = page.waitForResponse(
      (response) => response.url().endsWith('/console/api/content') && response.request().method() === 'GET',
    );
    await click('Publish …');
    await click('Publish now');
    await click('Continue editing');
    await title.fill('Typed while it was published');
    await (await isLoaded).finished();
    await expect.poll(playing, patience).toContain('The first');
    expect(await submit.isDisabled()).toBe(true);
    answer();
    await expect.poll(() => submit.isEnabled(), patience).toBe(true);
    await click('Undo');
    await isTitle('The first');
    await click('Redo');
    for (const name of names) expect(await playing()).toContain(encodeURIComponent(name));
    await display.getByText('The first').waitFor();
    await page.unroute('**/console/api/drafts/*/publish');
    await isTitle('Typed while it was published');
    await page.getByText('Not published yet.').waitFor();

    // The box fails after the dialog was left.
    await page.route('**/console/api/drafts/*/publish', async (route) => {
      await dialog.waitFor({ state: 'detached' });
      await route.fulfill({ status: 500, json: {} });
    });
    await click('Publish …');
    await click('Publish now');
    await click('Continue editing');
    await page.getByText(/Your draft is kept\.$/).waitFor();
    await page.unroute('**/console/api/drafts/*/publish');

    if (smallDisk !== null) {
      const makeRoom = fill(smallDisk);
      await click('Publish …');
      await click('Publish now');
      // The box keeps some room for that.
      await expect.poll(playing, patience).toContain('Typed while it was published');
      await dialog.waitFor({ state: 'detached' });
      makeRoom();
      await isTitle('Typed while it was published');
    }

    await go('screens/lobby');
    await page.getByRole('heading', { name: 'Lobby', level: 1 }).waitFor();
    await first.close();
    await page.getByText(/^The box has not answered since/).waitFor();
    await page.getByRole('heading', { name: 'Lobby', level: 1 }).waitFor();
    await startTestService({ dataDir, env: { ...env, SIGNAGE_PORT: new URL(first.url).port } });
    await page.getByText(/^The box has not answered since/).waitFor({ state: 'detached' });

    await page.setViewportSize({ width: 390, height: 844 });
    for (const hash of ['', 'media', 'screens/long', 'content/playlists/main']) {
      await go(hash);
      await page.getByRole('heading', { level: 1 }).waitFor();
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect.soft(wider, `${hash} is wider than the phone`).toBeLessThanOrEqual(0);
    }
  },
  90_000,
);
