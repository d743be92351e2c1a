/** A menu and a room sign in the look of the house are made in the console: chosen by its picture, filled in by a form, without code. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { PlaylistPayload } from '../../service/contract/playlist.ts';
import { isSkipped } from '../support/browser.ts';
import { lobby, patience } from '../support/player.ts';
import { startTestService } from '../support/service.ts';
import { openConsole, violationsOn } from './browser.ts';

const most = { clicks: 25, keys: 80 };
const MENU_CLICKS = 3;

/** Counts what a person does: presses of the pointer and of keys. */
const counter = `
  for (const name of ['pointerdown', 'keydown']) {
    addEventListener(name, (event) => { if (event.isTrusted) sessionStorage[name] = Number(sessionStorage[name] ?? 0) + 1; }, true);
  }`;
const actsOn = (page: Page) =>
  page.evaluate(() => ({
    clicks: Number(sessionStorage['pointerdown'] ?? 0),
    keys: Number(sessionStorage['keydown'] ?? 0),
  }));

it.skipIf(isSkipped)(
  'a menu and a room sign in the look of the house take few clicks and keys, and no code',
  async () => {
    const service = await startTestService({
      content: lobby([{ id: 'hello', kind: 'text', title: 'Hello' }], {
        calendars: [{ id: 'oak', name: 'Oak', url: 'https://calendar.invalid/oak.ics' }],
      }),
      env: { SIGNAGE_HOST: '0.0.0.0' },
    });
    const { page, go } = await openConsole(service.url, {}, counter);
    await go('content/style');
    const background = page.getByLabel('Background');
    await background.click();
    await background.pressSequentially('#1f3d2b');
    await page.frameLocator('iframe').first().locator('.slide-text').first().waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await go('content/playlists/main');
    await page.getByRole('button', { name: 'Add slide' }).click();
    await expect.poll(() => page.locator('.designs li').count(), patience).toBeGreaterThan(9);
    expect(await violationsOn(page)).toEqual([]);
    await page.locator('.designs button', { hasText: 'Menu' }).click();
    const dish = page.getByLabel('Name', { exact: true }).first();
    await dish.click({ clickCount: 3 });
    await dish.pressSequentially('Potato soup');
    const price = page.getByLabel('Price', { exact: true }).first();
    await price.click({ clickCount: 3 });
    await price.pressSequentially('7.5');
    await page.frameLocator('iframe').first().getByText('Potato soup').first().waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Publish …' }).click();
    expect(await page.getByRole('dialog').textContent()).toContain('House style');
    await page.getByRole('button', { name: 'Publish now' }).click();
    const payload = async () => (await (await service.get('/api/screens/lobby/playlist')).json()) as PlaylistPayload;
    await expect.poll(async () => (await payload()).slides.length, patience).toBe(2);
    const { slides, style } = await payload();
    expect(style).toEqual({ colours: { background: '#1f3d2b' } });
    expect(slides[1]).toMatchObject({
      kind: 'template',
      template_id: 'design:menu',
      template: { id: 'design:menu' },
      content: { heading: 'Lunch', items: [{ name: 'Potato soup', price: 7.5 }, {}, {}, {}] },
    });
    const isFew = async (): Promise<void> => {
      const acts = await actsOn(page);
      // The addresses that the test opens are links of the menu to a person.
      expect(acts.clicks + MENU_CLICKS).toBeLessThanOrEqual(most.clicks);
      expect(acts.keys).toBeLessThanOrEqual(most.keys);
      await page.evaluate(() => sessionStorage.clear());
    };
    await isFew();

    // A room sign, with the calendar that there is.
    await page.getByRole('button', { name: 'Add slide' }).click();
    await page.locator('.designs button', { hasText: 'Room' }).click();
    const room = page.getByLabel('Room name', { exact: true });
    await room.click({ clickCount: 3 });
    await room.pressSequentially('Oak');
    await page.getByRole('button', { name: 'Publish …' }).click();
    await page.getByRole('button', { name: 'Publish now' }).click();
    await expect
      .poll(async () => (await payload()).slides[2]?.content, patience)
      .toMatchObject({
        room: 'Oak',
        calendar: 'oak',
      });
    await isFew();
  },
  90_000,
);

it.skipIf(isSkipped)('a template of the house with a schema has a form, too', async () => {
  const schema = {
    type: 'object',
    properties: {
      headline: { type: 'string', title: 'What is on', maxLength: 40 },
      day: { type: 'string', format: 'date', title: 'On which day' },
      seats: { type: 'number', title: 'Seats', default: 6 },
      rows: {
        type: 'array',
        title: 'Rows',
        items: { type: 'object', properties: { label: { type: 'string', title: 'Label' } } },
      },
    },
  };
  const service = await startTestService({
    content: lobby([{ id: 'own', kind: 'template', template_id: 'own', content: { headline: 'Choir' } }], {
      templates: [
        { id: 'own', html: '<h1>{{ headline }}</h1>{% for row in rows %}<p>{{ row.label }}</p>{% endfor %}', schema },
      ],
    }),
    env: { SIGNAGE_HOST: '0.0.0.0' },
  });
  const { page, go } = await openConsole(service.url);
  await go('content/playlists/main');
  await page.getByLabel('On which day').fill('2026-12-24');
  // A default that is deleted does not come back while another value is typed.
  const seats = page.getByLabel('Seats');
  expect(await seats.getAttribute('placeholder')).toBe('6');
  for (const text of ['7', '12']) {
    await seats.press('Backspace');
    await seats.pressSequentially(text);
  }
  await page.getByRole('group', { name: 'Rows' }).getByRole('button', { name: 'Add' }).click();
  await page.getByLabel('Label', { exact: true }).fill('All voices');
  await page.frameLocator('iframe').first().getByText('All voices').first().waitFor();
  await page.getByRole('button', { name: 'Publish …' }).click();
  await page.getByRole('button', { name: 'Publish now' }).click();
  const content = async () =>
    ((await (await service.get('/api/screens/lobby/playlist')).json()) as PlaylistPayload).slides[0]?.content;
  await expect
    .poll(content, patience)
    .toEqual({ headline: 'Choir', day: '2026-12-24', seats: 12, rows: [{ label: 'All voices' }] });
});
