/** A café makes its week in the console: twelve screens, three day-parts, one default, and an event on Friday. */
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { PlaylistPayload } from '../../service/contract/playlist.ts';
import type { ScreenDue } from '../../service/contract/programmes.ts';
import { addDays, weekdayOf } from '../../service/domain/wall-time.ts';
import { isSkipped } from '../support/browser.ts';
import { putImage } from '../support/media.ts';
import { patience } from '../support/player.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { openConsole, violationsOn } from './browser.ts';

const MOST_CLICKS_AND_KEYS = 120;
const timeZone = 'Europe/Berlin';

/** Counts what a person does: presses of the pointer and of keys. */
const counter = `
  addEventListener('pointerdown', (event) => { if (event.isTrusted) sessionStorage.acts = Number(sessionStorage.acts ?? 0) + 1; }, true);
  addEventListener('keydown', (event) => { if (event.isTrusted) sessionStorage.acts = Number(sessionStorage.acts ?? 0) + 1; }, true);`;
const actsOn = (page: Page): Promise<number> => page.evaluate(() => Number(sessionStorage['acts']));

/** Presses in the row of a day at one time of it, and releases at another. */
const drawOn = async (page: Page, day: number, from: number, until: number): Promise<void> => {
  const line = page.locator('.programme-line').nth(day - 1);
  await line.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await line.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  const at = (hour: number): [number, number] => [x + (width * hour) / 24, y + height - 3];
  await page.mouse.move(...at(from));
  await page.mouse.down();
  await page.mouse.move(...at(until), { steps: 4 });
  await page.mouse.up();
};

/** Moves the week down or up, as a message does that appears above it. */
const pushDown = (page: Page, by: number): Promise<void> =>
  page.evaluate(
    (px) => document.querySelector<HTMLElement>('.programmes')?.style.setProperty('padding-top', px),
    `${by}px`,
  );

/**
 * Presses on a block, or on an edge of it, and releases some hours later and some days down.
 * @param pushed how far the week is pushed down while the pointer is pressed, px
 */
const drag = async (
  block: Locator,
  where: 'move' | 'start' | 'end',
  hours: number,
  { days = 0, pushed = 0 } = {},
): Promise<void> => {
  const page = block.page();
  await block.scrollIntoViewIfNeeded();
  const [own, line, next] = await Promise.all([
    block.boundingBox(),
    page.locator('.programme-line').nth(0).boundingBox(),
    page.locator('.programme-line').nth(1).boundingBox(),
  ]);
  if (own === null || line === null || next === null) throw new Error('the block is not drawn');
  const x = { move: own.x + own.width / 2, start: own.x + 3, end: own.x + own.width - 3 }[where];
  const y = own.y + own.height / 2;
  await page.mouse.move(x, y);
  await page.mouse.down();
  if (pushed > 0) await pushDown(page, pushed);
  await page.mouse.move(x + (line.width * hours) / 24, y + days * (next.y - line.y), { steps: 4 });
  await page.mouse.up();
  await pushDown(page, 0);
};

it.skipIf(isSkipped)(
  'a café makes its week with few clicks and keys, drags and resizes it by pointer and keyboard, and its screens play it',
  async () => {
    const dataDir = temporaryFolder();
    for (const name of ['house', 'breakfast', 'lunch', 'evening', 'jazz'])
      putImage(dataDir, `${name}.png`, [200, 90, 40]);
    const service = await startTestService({
      dataDir,
      env: { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_TIME_ZONE: timeZone },
      content: { screens: [] },
    });
    const { page } = await openConsole(service.url, {}, counter);
    const click = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();
    const follow = (name: string, navigation = 'Content') =>
      page.getByRole('navigation', { name: navigation }).getByRole('link', { name, exact: true }).click();

    await follow('Content', 'Console');
    for (const name of ['House', 'Breakfast', 'Lunch', 'Evening', 'Jazz']) {
      await click('New playlist');
      await page.getByLabel('Name of the playlist').click();
      await page.keyboard.type(name);
      await page.keyboard.press('Enter');
      await click('Add slide');
      await click(/^Picture/);
      await page.getByRole('button', { name: new RegExp(`^${name.toLowerCase()}\\.png`) }).click();
      await follow('Playlists');
    }
    await follow('Screens');
    await page.getByLabel('Name of a new screen').click();
    await page.keyboard.type('Bar');
    await page.keyboard.press('Tab');
    await page.keyboard.type('12');
    await page.keyboard.press('Enter');
    await follow('Week');
    const brush = (name: string) => page.getByRole('radio', { name, exact: true }).click();
    await brush('Breakfast');
    await drawOn(page, 1, 7, 11);
    await brush('Lunch');
    await drawOn(page, 1, 11, 15);
    await brush('Evening');
    await drawOn(page, 1, 17, 23);
    await click('Copy Mon to other days');
    await page.getByRole('dialog').getByRole('button', { name: 'Copy', exact: true }).click();
    await brush('Jazz');
    await drawOn(page, 5, 19, 22);
    await click(/^Only on/);
    await click('Publish …');
    await click('Publish now');
    await page.getByText('Nothing to publish.').waitFor();
    const acts = await actsOn(page);
    console.log(`the café was made with ${acts} clicks and keys`);
    expect(acts).toBeLessThanOrEqual(MOST_CLICKS_AND_KEYS);

    const due = async (slug: string, at: string) =>
      (await (await service.get(`/console/api/screens/${slug}/programme?at=${at}`)).json()) as ScreenDue;
    const today = new Intl.DateTimeFormat('sv', { timeZone }).format(Date.now());
    const monday = addDays(today, 1 - weekdayOf(today));
    const playing = async (slug: string, day: number, ...times: string[]) =>
      Promise.all(times.map(async (time) => (await due(slug, `${addDays(monday, day - 1)}T${time}`)).playlist_id));
    for (const slug of ['bar-1', 'bar-12']) {
      expect(await playing(slug, 2, '06:59', '07:00', '11:00', '16:00', '19:30')).toEqual([
        'house',
        'breakfast',
        'lunch',
        'house',
        'evening',
      ]);
      expect(await playing(slug, 5, '18:59', '19:00', '21:59', '22:00')).toEqual([
        'evening',
        'jazz',
        'jazz',
        'evening',
      ]);
      expect(await playing(slug, 12, '19:00')).toEqual(['evening']);
    }

    // The same in words, and before it is published.
    const why = page.locator('.programme-why');
    const ask = (day: number, time: string) => why.getByLabel('At').fill(`${addDays(monday, day - 1)}T${time}`);
    await ask(2, '11:40');
    await why.getByText('11:40 plays “Lunch”, because no other programme is due.').waitFor();
    await ask(5, '19:40');
    await why.getByText('plays “Jazz”, because it was added after “Evening”.').waitFor();

    // A drag changes all days of a programme, and the day of one.
    const block = (name: RegExp) => page.getByRole('button', { name });
    await drag(block(/^Lunch, Tue/), 'move', 1, { pushed: 60 });
    await block(/^Lunch, Sun 12:00 to 16:00/).waitFor();
    // The blocks above it begin to overlap meanwhile.
    await drag(block(/^Lunch, Sun/), 'start', -1.5);
    await block(/^Breakfast, Tue 07:00 to 11:00 \(partly covered by others\)/).waitFor();
    await drag(block(/^Lunch, Tue/), 'end', 0.25);
    await block(/^Lunch, Tue 10:30 to 16:15/).waitFor();
    await drag(block(/^Jazz, Fri/), 'move', 0, { days: 1 });
    await block(/^Jazz, Sat 19:00 to 22:00/).waitFor();
    await block(/^Lunch, Thu/).focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'Shift+ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key);
    await block(/^Lunch, Thu 10:45 to 16:15/).waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toMatch(/^Lunch, Thu/);
    await click('Separate Thu');
    await page.keyboard.press('Tab');
    await block(/^Lunch, Thu/).focus();
    await page.keyboard.press('Delete');
    await expect.poll(() => block(/^Lunch, Thu/).count(), patience).toBe(0);
    expect(await block(/^Lunch, Wed/).count()).toBe(1);
    await click('Undo');
    await block(/^Lunch, Thu/).click();
    await page.getByLabel('Priority').fill('3');
    await page.getByLabel('On', { exact: true }).selectOption('Bar 3');
    expect(await violationsOn(page)).toEqual([]);
    await click('Publish …');
    await page.getByText(/^Programme “lunch.*”: new/).waitFor();
    await click('Publish now');
    await page.getByText('Nothing to publish.').waitFor();
    expect(await playing('bar-3', 4, '10:45')).toEqual(['lunch']);
    expect(await playing('bar-2', 4, '10:45', '12:00')).toEqual(['breakfast', 'house']);
    expect(await playing('bar-3', 6, '19:00')).toEqual(['jazz']);

    await follow('Screens');
    await page.getByText('Layout: Full screen').first().click();
    await page.getByRole('radio', { name: 'Sidebar', exact: true }).click();
    await page.getByLabel('The sidebar shows').selectOption('Jazz');
    const preview = page.frameLocator('iframe[title="Preview"]');
    await preview.locator('body[data-zones="sidebar"] #sidebar img').waitFor();
    await page.getByRole('radio', { name: 'Strip' }).click();
    await expect
      .poll(() => preview.locator('#sidebar').evaluate(({ clientWidth }) => clientWidth), patience)
      .toBe(1920 / 5);
    await click('Publish …');
    await click('Publish now');
    await page.getByText('Nothing to publish.').waitFor();
    const { zones } = (await (await service.get('/api/screens/bar-1/playlist')).json()) as PlaylistPayload;
    expect(zones?.map(({ zone, playlist }) => [zone, playlist.id])).toEqual([['sidebar', 'jazz']]);
  },
  120_000,
);
