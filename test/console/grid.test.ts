/** Many slides at once: selected by pointer and keys, copied between playlists, timed together, found, and undone by step. */
import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { readSlides } from '../../renderer/console/content/clipboard.ts';
import { moveAll } from '../../renderer/console/model/edit.ts';
import { screensByPlaylist } from '../../renderer/console/model/playable.ts';
import { keysOf, select, selected, settled, touched } from '../../renderer/console/model/selection.ts';
import { itBrowser } from '../support/browser.ts';
import { patience } from '../support/player.ts';
import { startTestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { openConsole, violationsOn } from './browser.ts';

const order = ['a', 'b', 'c', 'd'];

test('a selection grows by toggles and ranges, never becomes empty, and outlives what is deleted', () => {
  const one = select(order, selected([], null), 'b', 'only');
  const range = select(order, one, 'd', 'range');
  expect([...range.keys]).toEqual(['b', 'c', 'd']);
  expect([...select(order, range, 'a', 'range').keys]).toEqual(['a', 'b']);
  const less = select(order, range, 'd', 'toggle');
  expect([[...less.keys], less.lead]).toEqual([['b', 'c'], 'c']);
  expect(select(order, one, 'b', 'toggle')).toBe(one);
  expect([...settled(['a', 'c'], range, 1).keys]).toEqual(['c']);
  expect([...settled(['a'], one, 5).keys]).toEqual(['a']);
  expect([...settled([], one, 0).keys]).toEqual([]);
  expect(keysOf(['a', 'a', 'b'])).toEqual(['a', 'a 2', 'b']);
});

test('slides that are apart move together', () => {
  expect(moveAll(order, new Set([0, 2]), 4)).toEqual(['b', 'd', 'a', 'c']);
  expect(moveAll(order, new Set([1, 3]), 0)).toEqual(['b', 'd', 'a', 'c']);
  expect(moveAll(order, new Set([1]), 2)).toEqual(order);
});

test('a rectangle touches the cards that it overlaps, not the space between them', () => {
  const cells = { columns: 3, width: 100, height: 50, margin: 5 };
  expect(touched({ left: 50, top: 10, right: 150, bottom: 60 }, cells, 5)).toEqual([0, 1, 3, 4]);
  expect(touched({ left: 97, top: 10, right: 103, bottom: 20 }, cells, 5)).toEqual([]);
  expect(touched({ left: 250, top: 60, right: 290, bottom: 90 }, cells, 5)).toEqual([]);
});

test('of a clipboard only slides are taken', () => {
  expect(readSlides('[{"kind":"text"},{"kind":7},null,"x"]')).toEqual([{ kind: 'text' }]);
  for (const text of ['', 'words', '{"kind":"text"}', 'null']) expect(readSlides(text)).toEqual([]);
});

test('a playlist plays where a screen, a zone, a programme or another playlist names it', () => {
  const playlist = (id: string, more: object = {}) => ({ id, slides: [], ...more });
  const screens = screensByPlaylist({
    screens: [
      { name: 'Hall', slug: 'hall', playlist_id: 'own', zones: { ticker: 'zone' } },
      { name: 'Bar', slug: 'bar', tags: ['late'] },
    ],
    playlists: [
      playlist('own', { slides: [{ kind: 'playlist', playlist_id: 'nested' }], insert: { playlist_id: 'ads' } }),
      ...['zone', 'nested', 'ads', 'night', 'spare'].map((id) => playlist(id)),
    ],
    programmes: [{ id: 'p', name: 'Night', playlist_id: 'night', targets: ['tag:late'], days: [1] }],
  });
  expect(Object.fromEntries(screens)).toEqual({
    ...{ own: ['Hall'], zone: ['Hall'], nested: ['Hall'], ads: ['Hall'], night: ['Bar'] },
  });
});

itBrowser(
  'slides are selected together, copied to another playlist, timed, moved and deleted, each in one step that is undone',
  { ...walk, timeout: 60_000 },
  async () => {
    const slides = Array.from({ length: 12 }, (_, index) => ({
      id: `s${index + 1}`,
      kind: 'text',
      title: `S${index + 1}`,
    }));
    const service = await startTestService({
      content: {
        screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
        playlists: [
          { id: 'main', slides },
          { id: 'other', name: 'Other', slides: [{ id: 'x', kind: 'text', title: 'X' }] },
        ],
      },
      env: { SIGNAGE_HOST: '0.0.0.0' },
    });
    const { page, go } = await openConsole(service.url, { viewport: { width: 1280, height: 900 } });
    await go('content/playlists/main');
    const card = (title: string): Locator => page.getByRole('button', { name: new RegExp(`^\\d+\\. ${title}$`) });
    const titles = async (): Promise<string> =>
      (await page.locator('.card .card-title').allTextContents()).map((text) => text.replace(/^\d+\. /, '')).join(' ');
    const chosen = async (): Promise<string> =>
      (await page.locator('.card [aria-pressed="true"] .card-title').allTextContents())
        .map((text) => text.replace(/^\d+\. /, ''))
        .join(' ');
    const show = async (what: () => Promise<string>, wanted: string): Promise<void> =>
      expect.poll(what, patience).toBe(wanted);
    const all = slides.map(({ title }) => title).join(' ');
    await show(titles, all);
    // More than a strip shows at once begin as a grid.
    await page.locator('.grid').waitFor();

    await card('S2').click();
    await card('S4').click({ modifiers: ['Shift'] });
    await card('S6').click({ modifiers: ['ControlOrMeta'] });
    await show(chosen, 'S2 S3 S4 S6');
    expect(await violationsOn(page)).toEqual([]);
    await page.getByLabel('Seconds on the screen').fill('7');
    const weekly = page.getByRole('radio', { name: 'Every week' });
    const monday = page.getByRole('checkbox', { name: 'Mon' });
    await weekly.check();
    await page.getByLabel('From', { exact: true }).fill('08:00');
    await monday.uncheck();
    await page.getByRole('checkbox', { name: 'Tue' }).uncheck();
    // What was chosen last has the focus, and each choice is a step.
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+z');
    await expect.poll(() => monday.isChecked(), patience).toBe(true);
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('08:00');
    await page.keyboard.press('Control+y');
    await expect.poll(() => monday.isChecked(), patience).toBe(false);
    await page.keyboard.press('Control+z');
    await page.getByLabel('From', { exact: true }).focus();
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+z');
    await expect.poll(() => page.getByRole('radio', { name: 'Always' }).isChecked(), patience).toBe(true);
    expect(await page.getByLabel('Seconds on the screen').inputValue()).toBe('7');
    await weekly.check();
    await page.getByLabel('From', { exact: true }).fill('08:00');
    await page.keyboard.press('Escape');

    // By keys: the arrows go from card to card, and with Shift they select.
    await card('S1').click();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowRight');
    await show(chosen, 'S2 S3');
    await page.keyboard.press('Alt+ArrowRight');
    await show(titles, 'S1 S4 S2 S3 S5 S6 S7 S8 S9 S10 S11 S12');
    await page.keyboard.press('Control+z');
    await show(titles, all);
    await page.keyboard.press('Delete');
    await show(titles, 'S1 S4 S5 S6 S7 S8 S9 S10 S11 S12');
    await page.keyboard.press('Control+z');
    await show(titles, all);
    await show(chosen, 'S2 S3');
    // What was deleted comes back beside what was done since.
    await page.keyboard.press('Delete');
    await card('S12').click();
    await page.keyboard.press('Alt+ArrowLeft');
    await show(titles, 'S1 S4 S5 S6 S7 S8 S9 S10 S12 S11');
    await page.locator('.toast', { hasText: '2 slides deleted.' }).getByRole('button', { name: 'Bring back' }).click();
    await show(titles, 'S1 S2 S3 S4 S5 S6 S7 S8 S9 S10 S12 S11');
    for (let step = 0; step < 3; step += 1) await page.keyboard.press('Control+z');
    await show(titles, all);
    await card('S2').click();
    await page.keyboard.press('Control+a');
    await show(chosen, all);
    await page.keyboard.press('Escape');
    await card('S3').click();
    await page.keyboard.press('Control+d');
    await show(titles, all.replace('S3 ', 'S3 S3 '));
    await page.keyboard.press('Control+z');

    // A rectangle around the first row, drawn from the space beside the last card.
    await page.evaluate(() => scrollTo(0, 0));
    const grid = (await page.locator('.grid').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    const first = (await card('S1').boundingBox()) ?? grid;
    await page.mouse.move(grid.x + 4, grid.y + 40);
    await page.mouse.down();
    await page.mouse.move(first.x + 2.5 * first.width, first.y + first.height / 2, { steps: 4 });
    expect(await page.locator('.caught .card-title').allTextContents()).toEqual(['1. S1', '2. S2', '3. S3']);
    await page.mouse.up();
    await show(chosen, 'S1 S2 S3');

    await card('S1').focus();
    await page.keyboard.press('Control+x');
    await show(titles, all.replace('S1 S2 S3 ', ''));
    await go('content/playlists/other');
    await show(titles, 'X');
    await page.keyboard.press('Control+v');
    await show(titles, 'X S1 S2 S3');
    await page.getByRole('button', { name: 'Paste' }).click();
    await show(titles, 'X S1 S2 S3 S1 S2 S3');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Saved on the box.').waitFor();

    await go('content');
    // What cannot be seen here is said.
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone: Playlist “Other”.').waitFor();
    await page.getByRole('button', { name: 'Redo' }).click();
    await page.getByText('Redone: Playlist “Other”.').waitFor();
    await page.getByPlaceholder('Search all slides').fill('s12');
    await page.getByRole('link', { name: '9. S12' }).click();
    await show(chosen, 'S12');

    await page.getByRole('button', { name: 'Publish …' }).click();
    await page.getByRole('button', { name: 'Publish now' }).click();
    await page.getByText('Published. Displays').waitFor();
    const { content } = (await (await service.get('/console/api/content')).json()) as {
      content: { playlists: { slides: { id: string; duration_seconds?: number; schedule_start_time?: string }[] }[] };
    };
    const [main, other] = content.playlists.map((playlist) => playlist.slides.map(({ id }) => id).join(' '));
    expect([main, other]).toEqual(['s4 s5 s6 s7 s8 s9 s10 s11 s12', 'x s1 s2 s3']);
    const timed = content.playlists
      .flatMap((playlist) => playlist.slides)
      .filter((each) => each.duration_seconds === 7);
    expect(timed.map(({ id }) => id).toSorted()).toEqual(['s2', 's3', 's4', 's6']);
    expect(timed.every((each) => each.schedule_start_time === '08:00')).toBe(true);
  },
);

itBrowser('a field that the address names has the focus once, and the arrows go on from slide to slide', async () => {
  const slides = ['one', 'two', 'three'].map((id) => ({ id, kind: 'text', title: id }));
  const service = await startTestService({
    content: {
      screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
      playlists: [{ id: 'main', slides }],
    },
    env: { SIGNAGE_HOST: '0.0.0.0' },
  });
  const { page, go } = await openConsole(service.url);
  const focus = (): Promise<string | null | undefined> =>
    page.evaluate(() => {
      const { activeElement: element } = document;
      return (
        element?.closest('[data-field]')?.getAttribute('data-field') ?? element?.textContent?.match(/\d\. \w+/)?.[0]
      );
    });
  await go('content/playlists/main/two/title');
  await expect.poll(focus, patience).toBe('title');
  await page.getByRole('button', { name: /^1\. one/ }).click();
  for (const wanted of ['2. two', '3. three', '2. two']) {
    await page.keyboard.press(wanted === '2. two' && (await focus()) === '3. three' ? 'ArrowLeft' : 'ArrowRight');
    await page.evaluate(() => new Promise((resume) => requestAnimationFrame(() => requestAnimationFrame(resume))));
    expect(await focus()).toBe(wanted);
  }
});

itBrowser('on a phone all that keys and drags do is done by taps', { ...walk, timeout: 60_000 }, async () => {
  const slides = ['S1', 'S2', 'S3', 'S4'].map((title) => ({ id: title.toLowerCase(), kind: 'text', title }));
  const service = await startTestService({
    content: {
      screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
      playlists: [{ id: 'main', name: 'Main', slides }],
    },
    env: { SIGNAGE_HOST: '0.0.0.0' },
  });
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const { page, go } = await openConsole(service.url, phone);
  await go('content/playlists/main');
  const titles = async (): Promise<string> =>
    (await page.locator('.card .card-title').allTextContents()).map((text) => text.replace(/^\d+\. /, '')).join(' ');
  const show = (wanted: string): Promise<void> => expect.poll(titles, patience).toBe(wanted);
  const tap = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).tap();
  const card = (title: string) => tap(new RegExp(`^\\d+\\. ${title}$`));
  await show('S1 S2 S3 S4');
  await tap('Show as a grid');
  const tops = async (): Promise<number[]> =>
    page.locator('.grid .card').evaluateAll((cards) => cards.map((card) => card.getBoundingClientRect().top));
  await expect.poll(async () => new Set(await tops()).size, patience).toBe(2);
  await tap('Show as a strip');
  const select = async (): Promise<void> => {
    await card('S2');
    await tap('Select several');
    await card('S3');
    await tap('Select several');
    expect(await page.locator('.card [aria-pressed="true"]').count()).toBe(2);
  };
  await select();
  await tap('Move later');
  await show('S1 S4 S2 S3');
  await tap('Move earlier');
  await show('S1 S2 S3 S4');
  await tap('Duplicate');
  await show('S1 S2 S3 S2 S3 S4');
  await tap('Undo');
  await show('S1 S2 S3 S4');
  await select();
  await tap('Copy');
  await tap('Paste');
  await show('S1 S2 S3 S2 S3 S4');
  await tap('Undo');
  await select();
  await tap('Cut');
  await show('S1 S4');
  await card('S4');
  await tap('Paste');
  await show('S1 S4 S2 S3');
  await tap('Delete');
  await show('S1 S4');
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
});
