/** A day of an editor, at a site of two boxes with a display on each. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { ContentVersions, EditedContent } from '../../service/contract/console/content.ts';
import { startBox, untilTogether } from '../peers/support.ts';
import { startHeadless } from '../platform/options/process.ts';
import { isSkipped, itBrowser } from '../support/browser.ts';
import { hasFfmpeg, putVideo, type Rgb } from '../support/media.ts';
import { createOperator, operatorSecret } from '../support/operator.ts';
import { openPlayer, patience, waitForColour } from '../support/player.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { isSoak } from '../support/soak.ts';
import { inLan, openConsole, signIn } from './browser.ts';

const nextSecret = 'another secret, set in the afternoon';
const env = { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_SHARED_SECRET: operatorSecret };

const content = {
  screens: [
    { name: 'Lobby', slug: 'lobby', playlist_id: 'welcome', tags: ['public'] },
    { name: 'Bar', slug: 'bar', playlist_id: 'welcome' },
  ],
  playlists: [{ id: 'welcome', slides: [{ id: 'hello', kind: 'text', title: 'Hello', duration_seconds: 3600 }] }],
  templates: [{ id: 'menu', name: 'Menu', html: '<h1>{{ dish }}</h1>' }],
};

const small = { width: 320, height: 180 };
const red: Rgb = [200, 40, 40];
/** From the answer to a publish until it is painted; a busy machine needs longer than the 2 s that are promised. */
const MOST_MS_TO_PAINT = isSoak ? 2_000 : 30_000;
const MOST_MS_TO_AWAY = 45_000;

/** When the slide that plays first has such an element on the screen, ms since the epoch; rejects with what is on instead. */
const paintOf = (page: Page, selector: string): Promise<number> =>
  page.evaluate(
    ([wanted, most]) =>
      new Promise<number>((resolve, reject) => {
        const slides = (): string[] =>
          [...document.querySelectorAll('.slide')].map((each) => each.outerHTML.slice(0, 300));
        setTimeout(() => reject(new Error(`there is only ${slides().join(' and ')}`)), most);
        const look = (): void => {
          const isThere = document.querySelector(wanted) !== null;
          requestAnimationFrame(isThere ? () => resolve(Date.now()) : look);
        };
        look();
      }),
    [`.slide[data-state="playing"] ${selector}`, 2 * MOST_MS_TO_PAINT] as const,
  );

/** An hour ahead of the box. */
const wrongClock = `
  const Right = Date;
  const ahead = 3_600_000;
  globalThis.Date = class extends Right {
    constructor(...given) { super(...(given.length === 0 ? [Right.now() + ahead] : given)); }
    static now() { return Right.now() + ahead; }
  };`;

it.skipIf(isSkipped || !hasFfmpeg)(
  'an editor uploads, edits, schedules, previews and publishes on both boxes, merges with a colleague, takes screens over, sees a box die, and loses no draft when the secret changes',
  async () => {
    const first = await startBox([], { content, env });
    const mortal = startHeadless({
      ...env,
      SIGNAGE_PEERS: first.url,
      SIGNAGE_DATA_DIR: temporaryFolder(),
      SIGNAGE_LOG_LEVEL: 'silent',
    });
    const secondUrl = (await mortal.ready()).replace('0.0.0.0', '127.0.0.1');
    await untilTogether([first, { get: (path) => fetch(secondUrl + path) }]);
    // Boxes are together before they have the same content, and a display asks more and more seldom for a screen that is none.
    await expect.poll(async () => (await fetch(`${secondUrl}/screen/bar`)).status, patience).toBe(200);
    const { page, go } = await openConsole(first.url);
    expect(await page.evaluate(() => isSecureContext)).toBe(inLan(first.url) === first.url);
    const click = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();
    const says = (text: string | RegExp) => page.getByText(text).first().waitFor();

    // Without the secret nothing is shown; the name is one that no header takes as it is.
    await signIn(page, 'a secret that was never set here');
    await says('This is not the secret of this site.');
    await signIn(page, operatorSecret, 'Мария');
    await page.getByRole('link', { name: 'Lobby' }).waitFor();
    const [here, there] = [await openPlayer(first, 'lobby', small), await openPlayer({ url: secondUrl }, 'bar', small)];
    const displays = [here, there];
    for (const display of displays) await display.getByText('Hello').waitFor();

    // The browser at the other box is named, and moved to the lobby.
    await go('screens/bar');
    await click('Rename …');
    await page.getByLabel('Name of the display').fill('Window');
    await click('Rename');
    await page.getByRole('heading', { name: 'Window' }).waitFor();
    await click('Move …');
    await page.getByLabel('Move to the screen').selectOption('Lobby');
    await click('Move');
    await expect.poll(() => there.url(), patience).toContain('/screen/lobby');

    await go('media');
    const folder = temporaryFolder();
    putVideo(folder, 'Bäcker.mp4', red, 20);
    const film = join(folder, 'uploads', 'Bäcker.mp4');
    const chooser = page.getByLabel('Upload');
    await chooser.setInputFiles(film);
    await page.getByText('Uploaded', { exact: true }).waitFor();
    await chooser.setInputFiles(film);
    await says('Already there');

    // Files are taken on any page.
    await go('content');
    await page.evaluate(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['Opens at eight.'], 'notes.pdf'));
      dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }));
    });
    await expect.poll(async () => (await first.get('/media/notes.pdf')).status, patience).toBe(200);

    await click('New playlist');
    await page.getByLabel('Name of the playlist').fill('Menu of the day');
    await page.getByLabel('Show it on').selectOption('Lobby');
    await click('Create');
    const add = async (kind: string): Promise<void> => {
      await click('Add slide');
      await click(new RegExp(`^${kind}`));
    };
    const title = page.getByLabel('Title', { exact: true });
    await add('Text');
    await title.fill('Fresh bread');
    await add('Film');
    await click(/Bäcker\.mp4/);
    await add('Template');
    await page.getByLabel('dish').fill('Soup');
    await add('Web page');
    await page.getByLabel('Address').fill(`${inLan(first.url)}/screen/bar`);
    const cards = page.getByRole('list', { name: 'Slides' }).getByRole('button');
    const order = async () => (await cards.allInnerTexts()).map((text) => /\d\. ([\wä]+)/.exec(text)?.[1]).join(' ');
    const host = new URL(inLan(first.url)).host.split('.')[0];
    await expect.poll(order, patience).toBe(`Fresh Bäcker Soup ${host}`);

    // By keyboard, by drag, and back.
    await cards.nth(0).focus();
    await page.keyboard.press('Alt+ArrowRight');
    await page.keyboard.press('Alt+ArrowRight');
    await expect.poll(order, patience).toBe(`Bäcker Soup Fresh ${host}`);
    await cards.nth(3).dragTo(cards.nth(0), { targetPosition: { x: 5, y: 40 } });
    await expect.poll(order, patience).toBe(`${host} Bäcker Soup Fresh`);
    await click('Undo');
    await expect.poll(order, patience).toBe(`Bäcker Soup Fresh ${host}`);

    await cards.nth(2).click();
    await page.getByRole('radio', { name: 'Every week' }).check();
    await page.getByLabel('From', { exact: true }).fill('06:00');
    await page.getByLabel('Until', { exact: true }).fill('06:00');
    await page.getByRole('radio', { name: 'Portrait' }).check();
    await page.frameLocator('iframe[title="Preview"]').getByText('Fresh bread').first().waitFor();
    expect(await here.getByText('Hello').isVisible()).toBe(true);
    await click('Publish …');
    await says('Playlist “Menu of the day”: new');
    const paints = displays.map((display) => paintOf(display, 'video'));
    const answer = page
      .waitForResponse((response) => response.url().endsWith('/publish'))
      .then(async (response) => [await response.finished(), Date.now()] as const);
    await click('Publish now');
    const [, answeredAt] = await answer;
    const delays = (await Promise.all(paints)).map((paintedAt) => paintedAt - answeredAt);
    console.log(`painted ${delays.join(' and ')} ms after the answer, at the box that was asked and at the other`);
    expect(Math.max(...delays)).toBeLessThan(MOST_MS_TO_PAINT);
    for (const display of displays) await waitForColour(display, red);
    const colleague = createOperator(first, operatorSecret);
    const read = async <T>(path = ''): Promise<T> =>
      (await (await colleague('GET', `/console/api/content${path}`)).json()) as T;
    expect((await read<ContentVersions>('/versions')).versions[0]?.operator).toBe('Мария');
    const slidesOf = async () =>
      (await read<EditedContent>()).content.playlists?.find(({ id }) => id === 'menu-of-the-day')?.slides;
    expect(await slidesOf()).toMatchObject([
      { kind: 'video', media_url: '/media/B%C3%A4cker.mp4' },
      { kind: 'template', content: { dish: 'Soup' } },
      { kind: 'text', schedule_mode: 'weekly', schedule_start_time: '06:00', schedule_end_time: '06:00' },
      { kind: 'web' },
    ]);

    // A colleague is faster: both edits are kept, and the one that both made is asked for.
    await title.fill('Fresh rolls');
    const edited = await read<EditedContent>();
    const theirs = JSON.stringify(edited.content).replace('Fresh bread', 'Cakes').replace('Soup', 'Stew');
    await colleague('PUT', '/console/api/content', theirs, { 'If-Match': `"${edited.sha256}"` });
    await click('Changed meanwhile …');
    await says('Playlist “Menu of the day” › “Fresh rolls” › Title');
    await page.getByRole('radio', { name: 'Theirs' }).check();
    await page.getByRole('radio', { name: 'Mine' }).check();
    await click('Go on with both, then publish');
    await click('Publish now');
    await expect
      .poll(slidesOf, patience)
      .toMatchObject([{}, { content: { dish: 'Stew' } }, { title: 'Fresh rolls' }, {}]);

    await go('takeovers');
    await page.getByRole('radio', { name: 'Emergency' }).check();
    await page.getByLabel('Message').fill('Please leave');
    await page.frameLocator('iframe').getByText('Please leave').waitFor();
    await page.getByRole('radio', { name: 'Some' }).check();
    await page.getByRole('checkbox', { name: 'Tag public' }).check();
    await click('Show on 2 displays');
    await page.getByRole('dialog').getByRole('button', { name: 'Show on 2 displays' }).click();
    for (const display of displays) await display.getByText('Please leave').waitFor();
    await says('Shown on 2 of 2 displays');
    await click('End it');
    for (const display of displays) await display.getByText('Please leave').waitFor({ state: 'detached' });

    await go('screens/lobby');
    await page.getByRole('radio', { name: 'Window' }).check();
    await click('Black out');
    await says('Black out: sent to 1 display.');
    await there.locator('#blackout').waitFor();
    expect(await here.locator('#blackout').isVisible()).toBe(false);

    await go('');
    await says('Window');
    expect(await page.getByText(/^Away since/).count()).toBe(0);
    mortal.child.kill('SIGKILL');
    const killedAt = performance.now();
    await page
      .getByText(/^Away since/)
      .first()
      .waitFor({ timeout: MOST_MS_TO_AWAY });
    console.log(`its tile said so ${Math.round(performance.now() - killedAt)} ms after the box was killed`);
    await says('A box did not answer. What you see may be incomplete.');
    await go('boxes');
    await says(/^Away since/);

    // The box is away, and comes back with another secret.
    await go('content/playlists/menu-of-the-day');
    await cards.filter({ hasText: 'Fresh rolls' }).click();
    await title.fill('Typed before');
    await first.close();
    await says(/^The box has not answered since/);
    await title.fill('Typed while it was away');
    const again = await startTestService({
      dataDir: first.dataDir,
      env: { ...env, SIGNAGE_PORT: new URL(first.url).port, SIGNAGE_SHARED_SECRET: nextSecret },
    });
    await says('The secret has changed. Your work is kept.');
    await signIn(page, nextSecret);
    await click('Publish …');
    await click('Publish now');
    const playing = async () => (await again.get('/api/screens/lobby/playlist')).text();
    await expect.poll(playing, patience).toContain('Typed while it was away');

    const { page: off } = await openConsole(again.url, {}, wrongClock);
    await signIn(off, nextSecret);
    await off.getByText('The clock of this computer is 60 mins ahead of the box.').waitFor();
    await off.getByRole('link', { name: 'Lobby' }).waitFor();
  },
  150_000,
);

itBrowser('a form stays as it is while an id is typed, and while what was wrong in it is mended', async () => {
  const slides = [
    { kind: 'text', title: 'One' },
    { kind: 'text', title: 'Two' },
  ];
  const service = await startTestService({
    content: {
      screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
      playlists: [{ id: 'main', slides }],
      rssFeeds: [{ id: 'news', url: 'https://example.com/feed' }],
    },
    env: { SIGNAGE_HOST: '0.0.0.0' },
  });
  const { page, go } = await openConsole(service.url);
  await go('content/playlists/main');
  const title = page.getByLabel('Title', { exact: true });
  await title.click();
  await page.keyboard.press('End');
  await page.keyboard.type(' more');
  await expect.poll(() => title.inputValue(), patience).toBe('One more');
  const experts = page.getByText('For experts');
  await experts.click();
  const own = page.locator('.slide-form [data-field~="id"] input');
  await own.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.type('hello');
  await expect.poll(() => own.inputValue(), patience).toBe('hello');
  // Another slide has a form of its own.
  await page.locator('.strip .card').nth(1).getByRole('button').click();
  await expect.poll(() => title.inputValue(), patience).toBe('Two');
  expect(await own.isVisible()).toBe(false);

  await go('content/sources');
  const feed = page.locator('[data-record="rssFeeds news"]');
  await feed.getByText('news').click();
  const address = feed.locator('[data-field~="url"] input');
  await address.fill('none');
  await feed.locator('[aria-invalid="true"]').waitFor();
  await address.fill('https://example.com/news');
  await expect.poll(() => feed.locator('[aria-invalid="true"]').count(), patience).toBe(0);
  expect(await address.isVisible()).toBe(true);
});

itBrowser('a text that is no JSON yet is there again when its tab is, until it is repaired or dropped', async () => {
  const service = await startTestService({
    content: { screens: [{ name: 'Lobby', slug: 'lobby' }] },
    env: { SIGNAGE_HOST: '0.0.0.0' },
  });
  const { page, go } = await openConsole(service.url);
  const text = page.getByLabel('Content as JSON');
  const fault = page.getByText('Not applied to the draft:');
  const leave = async () => {
    await go('content/screens');
    await page.getByLabel('Name of a new screen').waitFor();
    await go('content/json');
    await text.waitFor();
  };
  await go('content/json');
  await text.click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('x');
  await fault.waitFor();
  await leave();
  expect([await fault.count(), (await text.textContent())?.slice(0, 2)]).toEqual([1, 'x{']);
  await text.click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Delete');
  await expect.poll(() => fault.count(), patience).toBe(0);
  await leave();
  expect([await fault.count(), (await text.textContent())?.slice(0, 1)]).toEqual([0, '{']);
  await text.click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('x');
  await leave();
  await page.getByRole('button', { name: 'Drop this text' }).click();
  await expect.poll(async () => (await text.textContent())?.slice(0, 1), patience).toBe('{');
  await leave();
  expect(await fault.count()).toBe(0);
});
