/** The console by keyboard alone, and with one hand on a phone. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import type { EditedContent } from '../../service/contract/console/content.ts';
import { describeBrowser } from '../support/browser.ts';
import { putImage } from '../support/media.ts';
import { createOperator } from '../support/operator.ts';
import { joinScreen } from '../support/page.ts';
import { lobby, openPlayer, patience } from '../support/player.ts';
import { temporaryFolder } from '../support/service.ts';
import { shareConsole, violationsOn } from './browser.ts';

const slides = [{ id: 'hello', kind: 'text', title: 'Hello', duration_seconds: 3600 }];
const small = { width: 320, height: 180 };

/** What has the focus, such as `main` or `input Message`. */
const focusOf = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLInputElement | null;
    const name = element?.ariaLabel ?? element?.labels?.[0]?.textContent ?? '';
    return `${element?.localName} ${name}`.trim();
  });

/** Steps with Tab through a page. @returns the names of controls that came to stand beneath others wholly */
const coveredOn = async (page: Page, steps: number): Promise<string[]> => {
  const covered: string[] = [];
  for (let step = 0; step < steps; step++) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement;
      // The player of the preview scrolls by itself.
      if (element === document.body || element instanceof HTMLIFrameElement) return null;
      const seen = element.closest('label') ?? element;
      const { left, top, width, height } = seen.getBoundingClientRect();
      const isSeen = [0.1, 0.5, 0.9].some((part) => {
        const hit = document.elementFromPoint(left + width / 2, top + height * part);
        return hit !== null && (seen.contains(hit) || hit.contains(seen)) && !hit.matches('html, body');
      });
      return isSeen ? null : (element.ariaLabel ?? element.textContent ?? element.localName).trim();
    });
    if (name !== null) covered.push(name);
  }
  return covered;
};

/** Presses Tab until what has the focus is called so. */
const tabTo = async (page: Page, name: string): Promise<void> => {
  const seen: string[] = [];
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement | null;
      return (element?.ariaLabel ?? element?.labels?.[0]?.textContent ?? element?.textContent ?? '').trim();
    });
    if (focused.startsWith(name)) return;
    seen.push(focused);
  }
  throw new Error(`no Tab leads to ${name}, only to ${seen.join(', ')}`);
};

describeBrowser('at a desk', { timeout: 60_000 }, () => {
  const desk = shareConsole({
    content: lobby([{ id: 'hall', kind: 'image', title: 'Hall', media_url: '/media/hall.png' }]),
  });
  beforeAll(() => {
    for (const name of ['hall.png', 'yard.png']) putImage(desk().service.dataDir, name, [20, 90, 60]);
  });

  test('a screen without a display tells the address that other machines open, as a code and to copy', async () => {
    const { service, page, go } = desk();
    await go('screens/lobby');
    const code = page.getByRole('img', { name: 'QR code of the address' });
    await expect
      .poll(() => code.evaluate((image) => (image as HTMLImageElement).naturalWidth), patience)
      .toBeGreaterThan(0);
    const address = await page.getByLabel('Address of the screen').inputValue();
    const site = (await (await service.get('/console/api/site')).json()) as { boxes: { url: string }[] };
    expect(address).toBe(new URL('/screen/lobby', site.boxes[0]?.url).href);
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Copy the address' }).click();
    await page.getByText('The address is copied.').waitFor();
  });

  test('the focus stays on the page where what had it vanishes or is used up', async () => {
    const { page, go } = desk();
    await go('content/screens');
    await page.getByRole('button', { name: 'Delete Lobby' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
    await page.getByText('“Lobby” is deleted.').waitFor();
    await expect.poll(() => focusOf(page), patience).toBe('main');
    await page.getByRole('button', { name: 'Undo', exact: true }).press('Enter');
    await page.getByRole('button', { name: 'Delete Lobby' }).waitFor();
    await expect.poll(() => focusOf(page), patience).toBe('main');
  });

  test('the week of each screen is reached by the arrow keys', async () => {
    const { page, go } = desk();
    await go('content/week');
    const target = page.getByLabel('Week of');
    await target.focus();
    for (const [key, value] of [
      ['ArrowDown', 'lobby'],
      ['ArrowUp', 'all'],
      ['ArrowDown', 'lobby'],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(() => page.url(), patience).toContain(`#/content/week/${value}`);
      expect([await focusOf(page), await target.inputValue()]).toEqual(['select Week of', value]);
    }
  });

  test('what is announced while a dialog is open stands in it', async () => {
    const { page, go } = desk();
    await go('takeovers');
    await page.getByRole('button', { name: 'Choose' }).click();
    const dialog = page.getByRole('dialog');
    await dialog
      .locator('input[type=file]')
      .setInputFiles({ name: 'setup.exe', mimeType: 'application/octet-stream', buffer: Buffer.from('x') });
    const notice = page.locator('[role=status]').getByText('setup.exe is no picture');
    await notice.waitFor();
    expect(await dialog.locator('[role=status]').getByText('setup.exe').count()).toBe(1);
    expect(await notice.count()).toBe(1);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await notice.waitFor();
    await page.locator('.toast').getByRole('button', { name: 'Dismiss' }).click();
  });

  test('what is chosen differs where the person has colours of their own', async () => {
    const { page, go } = desk();
    await page.emulateMedia({ forcedColors: 'active' });
    const groundOf = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => getComputedStyle(element).backgroundColor);
    await go('takeovers');
    await page.getByLabel('Message').waitFor();
    expect(await groundOf('.chip :checked + span')).not.toBe(await groundOf('.chip :not(:checked) + span'));
    expect(await groundOf('.rail nav [aria-current]')).not.toBe(await groundOf('.rail nav a:not([aria-current])'));
    await go('content');
    await page.locator('.tabs').waitFor();
    expect(await groundOf('.tabs [aria-current]')).not.toBe(await groundOf('.tabs a:not([aria-current])'));
    await page.emulateMedia({ forcedColors: 'none' });
  });

  test('at twice the size no bar covers what has the focus', async () => {
    const { page, go } = desk();
    await page.setViewportSize({ width: 640, height: 400 });
    for (const hash of ['content/playlists/main', 'content/week', 'takeovers', 'history']) {
      await go(hash);
      await page.locator('main h1').waitFor();
      expect.soft(await coveredOn(page, 40), hash).toEqual([]);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('an editor uploads, adds a slide and publishes with the keyboard alone', async () => {
    const { service, page, go } = desk();
    const folder = temporaryFolder();
    putImage(folder, 'door.png', [20, 90, 60]);
    await go('');
    await page.getByRole('link', { name: 'Lobby' }).waitFor();
    const press = async (name: string, key = 'Enter'): Promise<void> => {
      await tabTo(page, name);
      await page.keyboard.press(key);
    };
    await press('Media');
    await page.getByRole('heading', { name: 'Media', level: 1 }).waitFor();
    const chooser = page.waitForEvent('filechooser');
    await press('Upload', 'Space');
    await (await chooser).setFiles(join(folder, 'uploads', 'door.png'));
    await page.getByText('Uploaded', { exact: true }).waitFor();
    await press('Content');
    await press('main');
    await press('Add slide');
    await press('Picture');
    await page.getByRole('dialog').getByText('door.png').waitFor();
    await press('door.png');
    await page.getByText('Not published yet.').waitFor();
    await press('Publish …');
    await page.getByRole('dialog').waitFor();
    await press('Publish now');
    const playing = async () => (await service.get('/api/screens/lobby/playlist')).text();
    await expect.poll(playing, patience).toContain('/media/door.png');
  });

  test('a file is renamed in its card by keyboard; slides, drafts and the open page follow', async () => {
    const { service, page, go } = desk();
    await go('media');
    const card = page.getByRole('listitem').filter({ hasText: 'hall.png' });
    await card.getByRole('link').focus();
    await page.keyboard.press('F2');
    const field = page.getByLabel('New name of hall.png');
    await field.waitFor();
    // The ending is not selected.
    await page.keyboard.type('yard');
    await page.keyboard.press('Enter');
    await page.getByText('There is a file with this name already').waitFor();
    await field.fill('great hall.png');
    await page.keyboard.press('Enter');
    await page.getByText('hall.png is called great hall.png now').waitFor();
    await page.getByText('great hall.png', { exact: true }).waitFor();
    const playing = async () => (await service.get('/api/screens/lobby/playlist')).text();
    expect(await playing()).toContain('/media/great%20hall.png');
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Rename yard.png' }).click();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByLabel('New name of yard.png').count(), patience).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('A');
  });
});

describeBrowser('on a phone', { timeout: 90_000 }, () => {
  const phone = shareConsole({ content: lobby(slides) }, { viewport: { width: 390, height: 844 }, hasTouch: true });

  test('the slides come first, and a blackout stands apart and is undone with one tap', async () => {
    const { service, page, go } = phone();
    const display = await openPlayer(service, 'lobby', small);
    await display.getByText('Hello').waitFor();
    await go('content/playlists/main');
    const card = page.locator('.card').first();
    await card.waitFor();
    const top = async (): Promise<number> => (await card.boundingBox())?.y ?? 999;
    await expect.poll(top, patience).toBeLessThan(300);
    await page.getByLabel('Title', { exact: true }).fill('Good morning');
    await page.getByText('Saved on the box.').waitFor();
    await page.evaluate(() => scrollTo(0, 0));
    expect(await top()).toBeLessThan(300);

    await go('screens/lobby');
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await button('Black out').scrollIntoViewIfNeeded();
    const [black, next] = [await button('Black out').boundingBox(), await button('Page forward').boundingBox()];
    expect((black?.y ?? 0) - (next?.y ?? 0) - (next?.height ?? 0)).toBeGreaterThan(80);
    await button('Black out').tap();
    await button('End blackout').waitFor();
    await button('Undo').tap();
    await button('Black out').waitFor();

    // With text of twice the size nothing is cut, and all is reached.
    for (const hash of [
      '',
      'screens/lobby',
      'content',
      'content/playlists/main',
      'media',
      'takeovers',
      'history',
      'boxes',
    ]) {
      await go(hash);
      await page.locator('main h1').waitFor();
      await page.evaluate(() => {
        document.documentElement.style.fontSize = '200%';
      });
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect.soft(wider, `${hash} at 200 %`).toBeLessThanOrEqual(0);
    }
    await page.evaluate(() => {
      document.documentElement.style.fontSize = '';
    });
  });

  test('what keeps a takeover from being shown has the focus, and no bar covers a field', async () => {
    const { page, go } = phone();
    await go('takeovers');
    const show = page.getByRole('button', { name: /^Show on/ });
    await show.tap();
    await page.getByText('Write a message, or choose a picture.').waitFor();
    await expect.poll(() => focusOf(page), patience).toBe('input Message');
    await page.getByLabel('Message').fill('The lift is out of order');
    await page.getByRole('radio', { name: 'Some' }).check();
    await show.tap();
    await expect.poll(() => focusOf(page), patience).toBe('input All screens');
    await page.getByRole('radio', { name: 'All screens' }).check();
    await page.getByRole('radio', { name: 'Until …' }).check();
    const until = page.getByLabel(/^Until, time in/);
    await until.fill('');
    await show.tap();
    await expect.poll(() => focusOf(page), patience).toMatch(/^input Until, time in/);
    const described = await until.evaluate(
      (element) => document.getElementById(element.getAttribute('aria-describedby') ?? '')?.textContent,
    );
    expect(described).not.toBe('');
    await page.evaluate(() => scrollTo(0, 0));
    expect(await coveredOn(page, 40)).toEqual([]);
  });

  test('the dialogs that publish, merge and take over are clean for axe, a picture takes the screens over, and the plays are drawn', async () => {
    const { service, page, go } = phone();
    putImage(service.dataDir, 'evacuation.png', [160, 20, 20]);
    const display = await openPlayer(service, 'lobby', small);
    await display.getByText('Hello').waitFor();
    const tap = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).tap();
    const dialog = page.getByRole('dialog');
    const check = async (what: string): Promise<void> => {
      await dialog.waitFor();
      expect.soft(await violationsOn(page), what).toEqual([]);
      // The colours are all that differs at night.
      await page.emulateMedia({ colorScheme: 'dark' });
      expect.soft(await violationsOn(page, 'color-contrast'), `${what} at night`).toEqual([]);
      await page.emulateMedia({ colorScheme: 'light' });
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect.soft(wider, `${what} is wider than the phone`).toBeLessThanOrEqual(0);
    };

    await go('content/playlists/main');
    const title = page.getByLabel('Title', { exact: true });
    await title.fill('Mine');
    await tap('Publish …');
    await check('publish');
    await tap('Continue editing');

    const colleague = createOperator(service, null);
    const edited = (await (await colleague('GET', '/console/api/content')).json()) as EditedContent;
    const theirs = JSON.stringify(edited.content).replace('Hello', 'Theirs');
    await colleague('PUT', '/console/api/content', theirs, { 'If-Match': `"${edited.sha256}"` });
    await tap('Changed meanwhile …');
    await check('merge');
    await page.keyboard.press('Escape');

    await go('takeovers');
    await page.getByRole('radio', { name: 'Emergency' }).check();
    await page.getByRole('radio', { name: 'Some' }).check();
    await page.getByRole('checkbox', { name: 'Lobby' }).check();
    await tap('Choose');
    await check('media of a takeover');
    await page.getByRole('button', { name: /evacuation\.png/ }).tap();
    await tap('Show on 1 display');
    await check('takeover');
    await dialog.getByRole('button', { name: 'Show on 1 display' }).tap();
    await display.locator('img.picture').first().waitFor();
    await page.getByText('Shown on 1 of 1 displays').waitFor();
    await tap('End it');
    await display.getByText('Theirs').waitFor();

    const { send, message } = await joinScreen(service, 'lobby', { deviceId: '4K7QM3X9FT2WD0AZ' });
    const started = Date.now() - 60_000;
    const play = {
      ...{ play_id: 'a-play-of-this-test', device_id: '4K7QM3X9FT2WD0AZ', client_name: null, screen: 'lobby' },
      ...{ slide_id: 'hello', slide_title: 'Hello', kind: 'text', media_url: null, media_sha256: null, revision: null },
      ...{ started_at: new Date(started).toISOString(), ended_at: new Date(started + 50_000).toISOString() },
      ...{ duration_ms: 50_000, expected_ms: 50_000, result: 'played', reason: null, clock: 'synced' },
    };
    send({ type: 'plays', plays: [play] });
    await message(({ type }) => type === 'ack');
    await go('history/figures');
    const canvas = page.locator('canvas').first();
    await canvas.waitFor();
    /** Pixels of the chart in a colour: bars, not its grey grid. */
    const coloured = () =>
      canvas.evaluate((element) => {
        const { width, height } = element as HTMLCanvasElement;
        const pixels = (element as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height).data ?? [];
        let count = 0;
        for (let at = 0; at < pixels.length; at += 4) {
          const [red = 0, green = 0, blue = 0, alpha = 0] = pixels.slice(at, at + 4);
          if (alpha > 200 && Math.max(red, green, blue) - Math.min(red, green, blue) > 40) count++;
        }
        return count;
      });
    await expect.poll(coloured, patience).toBeGreaterThan(20);
  });
});
