/** Files that become slides: dropped anywhere on the page of a playlist, pasted, or chosen together. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import { itBrowser } from '../support/browser.ts';
import { putImage } from '../support/media.ts';
import { lobby, patience } from '../support/player.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { holdRequests, openConsole } from './browser.ts';
import { type GivenFile, giveFiles, pasteFiles } from './files.ts';

itBrowser(
  'files dropped on a playlist become slides at that place, and what is no medium is refused',
  { timeout: 60_000 },
  async () => {
    const slides = ['one', 'two'].map((id) => ({ id, kind: 'text', title: id }));
    const { screens, ...rest } = lobby(slides);
    const content = { screens: screens.map((screen) => ({ ...screen, tags: ['ground'] })), ...rest };
    const service = await startTestService({ content, env: { SIGNAGE_HOST: '0.0.0.0' } });
    const folder = temporaryFolder();
    const picture = (name: string, colour: [number, number, number]): GivenFile => {
      putImage(folder, name, colour);
      return { name, type: 'image/png', base64: readFileSync(join(folder, 'uploads', name)).toString('base64') };
    };
    const { page, go } = await openConsole(service.url);
    await go('content/playlists/main');
    const cards = page.locator('.strip .card');
    const titles = async (): Promise<string[]> =>
      (await cards.locator('.card-title').allTextContents()).map((text) => text.replace(/, has.*/, ''));
    await expect.poll(titles, patience).toEqual(['1. one', '2. two']);

    const program = { name: 'setup.exe', type: 'application/octet-stream', base64: 'TVo=' };
    await giveFiles(
      page,
      [picture('hall.png', [9, 9, 90]), picture('door.png', [90, 9, 9]), program],
      '.card[aria-posinset="2"]',
    );
    await expect.poll(titles, patience).toEqual(['1. one', '2. hall.png', '3. door.png', '4. two']);
    await page.getByText('setup.exe is no picture, film, sound, font or PDF, and was not uploaded.').waitFor();
    const pasted = { ...picture('pasted.png', [9, 90, 9]), name: 'image.png' };
    // A text of an office program has a picture beside it, which is not meant in a field.
    const field = page.getByLabel('Name of the playlist');
    expect(await pasteFiles(field, [pasted], 'Prices')).toBe(false);
    expect(await pasteFiles(field, [pasted])).toBe(true);
    await expect.poll(async () => (await titles())[3], patience).toMatch(/^4\. pasted-\d{8}-\d{6}\.png$/);
    await giveFiles(page, [picture('end.png', [9, 90, 90])], 'h1');
    await expect.poll(async () => (await titles()).at(-1), patience).toBe('6. end.png');
    // Each is there, so none waits.
    await expect.poll(() => page.locator('.card-arrival').count(), patience).toBe(0);

    await page.getByRole('button', { name: 'Publish …' }).click();
    await page.getByRole('button', { name: 'Publish now' }).click();
    const playing = async () => (await service.get('/api/screens/lobby/playlist')).text();
    await expect.poll(playing, patience).toContain('/media/end.png');

    await page.getByRole('button', { name: 'Add slide' }).click();
    await page.getByRole('button', { name: /^Picture/ }).click();
    for (const name of ['hall.png', 'door.png']) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
    await page.getByRole('button', { name: 'Add 2 slides' }).click();
    await expect.poll(async () => (await titles()).length, patience).toBe(8);
    await page.keyboard.press('Control+z');
    await expect.poll(async () => (await titles()).length, patience).toBe(6);

    // A file that is there already becomes another slide.
    await giveFiles(page, [picture('hall.png', [9, 9, 90])], 'h1');
    await expect.poll(async () => (await titles()).at(-1), patience).toBe('7. hall.png');
    await page.keyboard.press('Control+z');
    await expect.poll(async () => (await titles()).length, patience).toBe(6);

    // Equal name and size do not make it the same file; the wall has not loaded the list of media.
    const hall = picture('hall.png', [9, 9, 90]);
    const changed = Buffer.from(hall.base64, 'base64');
    changed[changed.length - 1] = 1;
    const other = { ...hall, base64: changed.toString('base64') };
    const bytesOf = async (name: string): Promise<[number, string]> => {
      const answer = await service.get(`/media/${name}?original`);
      return [answer.status, Buffer.from(await answer.arrayBuffer()).toString('base64')];
    };
    const wall = await openConsole(service.url);
    await wall.page.locator('.tile').first().waitFor();
    await giveFiles(wall.page, [other], 'h1');
    await expect.poll(() => bytesOf('hall-2.png'), patience).toEqual([200, other.base64]);
    expect(await bytesOf('hall.png')).toEqual([200, hall.base64]);
    await service.get('/api/media/hall-2.png', { method: 'DELETE' });

    await go('media');
    await page.getByRole('checkbox', { name: 'Unused only' }).waitFor();
    await expect.poll(() => page.locator('.medium').count(), patience).toBe(4);
    await giveFiles(page, [picture('spare.png', [1, 2, 3])], 'h1');
    await expect.poll(() => page.locator('.medium .display-name').first().textContent(), patience).toBe('spare.png');
    await page.getByRole('combobox', { name: 'Folder' }).selectOption('Screens tagged ground');
    await expect.poll(() => page.locator('.medium').count(), patience).toBe(4);
    // A slide is called by its name, not by its id.
    await page.getByRole('button', { name: 'Delete hall.png' }).click();
    await page.getByText('These slides show it and would be skipped: hall.png.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Folder' }).selectOption('All folders');
    await page.getByRole('checkbox', { name: 'Unused only' }).check();
    await page.getByRole('checkbox', { name: 'Select spare.png' }).check();
    await page.getByRole('button', { name: 'Delete 1 file' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => page.locator('.medium').count(), patience).toBe(0);
  },
);

itBrowser(
  'a drop that is interrupted leaves its slide in the draft, which waits for the file until it is there',
  { ...walk, timeout: 60_000 },
  async () => {
    const dataDir = temporaryFolder();
    const start = () =>
      startTestService({
        dataDir,
        content: lobby([{ id: 'one', kind: 'text', title: 'one' }]),
        env: { SIGNAGE_HOST: '0.0.0.0' },
      });
    const folder = temporaryFolder();
    putImage(folder, 'hall.png', [9, 9, 90]);
    const base64 = readFileSync(join(folder, 'uploads', 'hall.png')).toString('base64');
    const hall: GivenFile = { name: 'hall.png', type: 'image/png', base64 };

    const first = await start();
    const { page, go } = await openConsole(first.url);
    // The first bytes are on their way when the tab is closed.
    await page.route('**/api/media/hall.png', () => undefined);
    await go('content/playlists/main');
    await page.locator('.strip .card').waitFor();
    await giveFiles(page, [hall], 'h1');
    await page.locator('.card-arrival progress').waitFor();
    await page.getByText('Saved on the box.').waitFor();
    await page.close();
    await first.close();

    const second = await start();
    const again = await openConsole(second.url);
    await again.go('content');
    const goOn = again.page.getByRole('button', { name: 'Go on with it' });
    await goOn.click();
    await goOn.waitFor({ state: 'detached' });
    await again.go('content/playlists/main');
    await again.page.getByText('Waiting for hall.png').waitFor();
    const cards = again.page.locator('.strip .card');
    expect(await cards.count()).toBe(2);
    // The file alone was missing, and somebody else has it.
    const other = await openConsole(second.url);
    await other.page.locator('.tile').first().waitFor();
    await giveFiles(other.page, [hall], 'h1');
    await expect.poll(() => again.page.locator('.card-arrival').count(), patience).toBe(0);
    expect(await cards.count()).toBe(2);
  },
);

itBrowser(
  'an upload that fails tells why on its slide and is tried again there; a tab with uploads asks',
  walk,
  async () => {
    const service = await startTestService({
      content: lobby([{ id: 'one', kind: 'text', title: 'one' }]),
      env: { SIGNAGE_HOST: '0.0.0.0' },
    });
    const folder = temporaryFolder();
    putImage(folder, 'hall.png', [9, 9, 90]);
    const base64 = readFileSync(join(folder, 'uploads', 'hall.png')).toString('base64');
    const { page, go } = await openConsole(service.url);
    await page.route('**/api/media/hall.png', (route) => route.abort());
    await go('content/playlists/main');
    await page.locator('.strip .card').waitFor();
    await giveFiles(page, [{ name: 'hall.png', type: 'image/png', base64 }], 'h1');
    await page.locator('.card-arrival').getByText('The box does not answer.').waitFor();
    // A phone calls each picture that is taken for a page the same; the name belongs to the one that waits.
    const other = Buffer.concat([Buffer.from(base64, 'base64'), Buffer.alloc(1)]).toString('base64');
    await giveFiles(page, [{ name: 'hall.png', type: 'image/png', base64: other }], 'h1');
    await page.locator('.strip .card-title', { hasText: '3. hall-2.png' }).waitFor();
    await expect.poll(() => page.locator('.card-arrival').count(), patience).toBe(1);
    await page.unroute('**/api/media/hall.png');
    const release = await holdRequests(page, '**/api/media/hall.png');
    await page.locator('.card-arrival').getByRole('button', { name: 'Try again' }).click();
    await page.locator('.card-arrival progress').waitFor();
    await page.getByText('Saved on the box.').waitFor();
    const [dialog] = await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })]);
    expect(dialog.type()).toBe('beforeunload');
    await dialog.dismiss();
    release();
    await expect.poll(() => page.locator('.card-arrival').count(), patience).toBe(0);
    await page.locator('.strip .miniature-picture img').waitFor();
  },
);

itBrowser('files that are dragged over a playlist show their place, and a folder gives its files by name', async () => {
  const slides = ['one', 'two'].map((id) => ({ id, kind: 'text', title: id }));
  const service = await startTestService({ content: lobby(slides), env: { SIGNAGE_HOST: '0.0.0.0' } });
  const folder = temporaryFolder();
  for (const name of ['day 10.png', 'day 9.png']) putImage(folder, name, [9, 9, 90]);
  const dropped = join(folder, 'uploads');
  for (const name of ['.DS_Store', 'Thumbs.db']) writeFileSync(join(dropped, name), 'view');
  const { page, go } = await openConsole(service.url);
  await go('content/playlists/main');
  const card = page.locator('.card[aria-posinset="2"]');
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [dropped], dragOperationsMask: 1 };
  const drag = async (on: Locator, ...types: ('dragEnter' | 'dragOver' | 'drop')[]): Promise<void> => {
    const { x, y } = (await on.boundingBox()) ?? { x: 0, y: 0 };
    for (const type of types) await session.send('Input.dispatchDragEvent', { type, x: x + 9, y: y + 9, data });
  };
  await drag(page.locator('h1'), 'dragEnter', 'dragOver');
  await page.getByText('Drop the files: they become slides at the end.').waitFor();
  expect(await card.getAttribute('data-edge')).toBe('after');
  // The browser says first that it is over another element.
  await drag(card, 'dragOver', 'dragOver');
  await page.getByText('Drop the files here: they become slides from number 2 on.').waitFor();
  expect(await card.getAttribute('data-edge')).toBe('before');
  expect(await page.locator('.drop-note').count()).toBe(0);
  await drag(card, 'drop');
  const titles = (): Promise<string[]> => page.locator('.strip .card-title').allTextContents();
  await expect.poll(titles, patience).toEqual(['1. one', '2. day 9.png', '3. day 10.png', '4. two']);
  expect(await page.locator('.drop-place').count()).toBe(0);
  await expect.poll(() => page.locator('.card-arrival').count(), patience).toBe(0);
});

itBrowser('a file that is uploaded for a slide that is left meanwhile takes nothing back', walk, async () => {
  const slides = ['one', 'two'].map((id) => ({ id, kind: 'image', title: id, media_url: '/media/none.png' }));
  const service = await startTestService({ content: lobby(slides), env: { SIGNAGE_HOST: '0.0.0.0' } });
  const folder = temporaryFolder();
  putImage(folder, 'hall.png', [9, 9, 90]);
  const { page, go } = await openConsole(service.url);
  await go('content/playlists/main');
  await page.getByRole('button', { name: 'Choose' }).first().click();
  await page.getByRole('dialog').waitFor();
  const release = await holdRequests(page, '**/console/api/media');
  await page
    .getByRole('dialog')
    .getByLabel('Upload')
    .setInputFiles(join(folder, 'uploads', 'hall.png'));
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await page.locator('.strip .card').nth(1).getByRole('button').click();
  const title = page.getByLabel('Title', { exact: true });
  await title.fill('Typed');
  const sent = page.waitForResponse((response) => response.url().includes('hall.png'));
  release();
  await (await sent).finished();
  await page.getByText('Saved on the box.').waitFor();
  expect(await title.inputValue()).toBe('Typed');
});

itBrowser('before media are deleted, who uses them by now is asked', { timeout: 60_000 }, async () => {
  const dataDir = temporaryFolder();
  for (const name of ['a.png', 'b.png', 'c.png']) putImage(dataDir, name, [9, 9, 90]);
  const slides = [{ id: 'one', kind: 'text', title: 'One' }];
  const service = await startTestService({ dataDir, content: lobby(slides), env: { SIGNAGE_HOST: '0.0.0.0' } });
  const put = async (path: string, body: unknown, headers = {}) => {
    const all = { 'Content-Type': 'application/json', ...headers };
    const response = await service.get(`/console/api/${path}`, {
      method: 'PUT',
      headers: all,
      body: JSON.stringify(body),
    });
    expect(response.ok).toBe(true);
  };
  const { page, go } = await openConsole(service.url);
  await go('media');
  const card = (name: string) => page.locator('.medium', { hasText: name });
  await expect.poll(() => card('a.png').locator('.medium-foot').textContent(), patience).toContain('Not used');
  await put('content', lobby([{ id: 'one', kind: 'image', title: 'One', media_url: '/media/a.png' }]), {
    'If-Match': '*',
  });
  await expect.poll(() => card('a.png').locator('.medium-foot').textContent(), patience).toContain('Used by 1 slide');

  const until = new Date(Date.now() + 600_000).toISOString();
  await put('takeovers/look', { targets: ['all'], level: 'info', title: 'Look', media_url: '/media/b.png', until });
  const draft = lobby([{ id: 'one', kind: 'image', title: 'One', media_url: '/media/c.png' }]);
  await put('drafts/easter', { title: 'Easter', base_sha256: null, content: draft });
  for (const [name, caution] of [
    ['b.png', 'These slides show it and would be skipped: Look.'],
    ['c.png', 'These drafts show it and would lose it: Easter.'],
  ] as const) {
    await page.getByRole('button', { name: `Delete ${name}` }).click();
    await page.getByRole('dialog').getByText(caution).waitFor();
    await page.keyboard.press('Escape');
  }
  await expect.poll(() => card('c.png').locator('.medium-foot').textContent(), patience).toContain('In 1 draft');
});

itBrowser(
  'a takeover shows the picture that was given for it, also where a second box has one of its name',
  async () => {
    const service = await startTestService({ content: lobby([]), env: { SIGNAGE_HOST: '0.0.0.0' } });
    const folder = temporaryFolder();
    putImage(folder, 'image.png', [9, 9, 90]);
    const { page, go } = await openConsole(service.url);
    const body = JSON.stringify({ error: { code: 'precondition_failed', message: 'It is there.' } });
    await page.route('**/api/media/image.png', (route) => route.fulfill({ status: 412, body }));
    await go('takeovers');
    await page.getByRole('button', { name: 'Choose' }).click();
    await page
      .getByRole('dialog')
      .getByLabel('Upload')
      .setInputFiles(join(folder, 'uploads', 'image.png'));
    await expect.poll(() => page.getByLabel('Picture').inputValue(), patience).toBe('/media/image-2.png');
    await expect.poll(async () => (await service.get('/media/image-2.png')).status, patience).toBe(200);
  },
);
