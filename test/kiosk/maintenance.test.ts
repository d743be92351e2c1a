/** The maintenance page, as somebody before the box meets it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { describeBrowser, itBrowser as it } from '../support/browser.ts';
import { type Electron, layersOf, passTime } from '../support/electron/ask.ts';
import { patience, startKiosk, type TestKiosk } from '../support/kiosk.ts';
import { temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';

const content = {
  screens: ['Lobby', 'Bar'].map((name) => ({ name, slug: name.toLowerCase(), playlist_id: name })),
  playlists: ['Lobby', 'Bar'].map((id) => ({ id, slides: [{ kind: 'text', title: `Welcome to the ${id}` }] })),
};

/** The file is written a moment after the start. */
const attempt = <Result>(read: () => Result): Result | null => {
  try {
    return read();
  } catch {
    return null;
  }
};

/** Opens the page, and waits until it is in front: one that is loaded again before that counts as failed. */
const openMaintenance = async (kiosk: TestKiosk): Promise<Page> => {
  await kiosk.pressChord();
  const top = async () => (await layersOf(kiosk.evaluate))[0]?.at(-1);
  await expect.poll(top, patience).toMatch(/maintenance\.html$/);
  return kiosk.page(/maintenance\.html/);
};
/** The time in which the box is new has begun. */
const isRecorded = async (kiosk: TestKiosk): Promise<void> => {
  const read = () => JSON.parse(readFileSync(join(kiosk.dataDir, 'kiosk.json'), 'utf8')).body.past;
  await expect.poll(() => attempt(read), patience).toEqual({ started: true, bound: false });
};
const isGone = (kiosk: TestKiosk) =>
  expect.poll(() => kiosk.pages().some((page) => page.url().includes('maintenance')), patience).toBe(false);

/** What closes a page may be over only after the page is. */
const goAway = (action: Promise<void>): Promise<void> => action.catch(() => {});

describeBrowser('the maintenance page', { timeout: 120_000 }, () => {
  it('asks for a PIN, sets what there is to set, and goes away again', async () => {
    const kiosk = await startKiosk({ content });
    const landing = await kiosk.page(/\?deviceId=/);
    await landing.locator('#device').waitFor({ state: 'attached' });

    const fresh = await openMaintenance(kiosk);
    await fresh.getByRole('heading', { name: 'Choose a PIN' }).waitFor();
    await fresh.keyboard.type('2468');
    await fresh.keyboard.press('Enter');
    await fresh.getByRole('heading', { name: 'Once more' }).waitFor();
    for (const digit of ['2', '4', '6', '8', 'Enter'])
      await fresh.getByRole('button', { name: digit, exact: true }).click();
    await fresh.getByRole('heading', { name: 'Maintenance' }).waitFor();
    await goAway(fresh.keyboard.press('Escape'));
    await isGone(kiosk);
    expect(readFileSync(join(kiosk.dataDir, 'kiosk.json'), 'utf8')).not.toContain('2468');

    const page = await openMaintenance(kiosk);
    await page.getByRole('heading', { name: 'PIN' }).waitFor();
    await page.keyboard.type('1111');
    await page.keyboard.press('Enter');
    await page.getByText('Wrong PIN.').waitFor();
    // Only the client that sent the PIN is unlocked.
    const answer = await page.evaluate(() =>
      (globalThis as unknown as { maintenance: { call(call: object): Promise<object> } }).maintenance.call({
        order: { do: 'quit' },
      }),
    );
    expect(answer).toMatchObject({ state: 'locked', ask: 'pin' });
    await page.keyboard.type('2468');
    await page.keyboard.press('Enter');
    await page.getByText('Display A, 960 × 540').waitFor();
    await page.getByText('content is live').waitFor();

    await page.getByText('Nothing yet').waitFor();
    await page.getByText('None waiting').waitFor();
    await page.getByText('Bar', { exact: true }).click();
    const player = await kiosk.page(/\/screen\/bar/);
    await player.getByText('Welcome to the Bar').first().waitFor();

    await page.getByText('270°').click();
    await expect
      .poll(() => JSON.parse(readFileSync(join(kiosk.dataDir, 'config.json'), 'utf8')), patience)
      .toEqual({ kiosk: { rotation: 270 } });
    await expect.poll(() => player.isClosed(), patience).toBe(true);
    const turned = await kiosk.page(/\/screen\/bar/);
    await expect
      .poll(() => turned.evaluate(() => getComputedStyle(document.documentElement).transform), patience)
      .not.toBe('none');
    // It lies the way that its display is turned, and what was used last has the focus still.
    const way = () => page.evaluate(() => getComputedStyle(document.documentElement).transform);
    await expect.poll(way, patience).toMatch(/^matrix\(0, -1, 1, 0,/);
    expect(await page.evaluate(() => document.activeElement?.id)).toMatch(/^rotation-\d+-270$/);
    await page.getByText('0°', { exact: true }).click();
    await expect.poll(way, patience).toMatch(/^matrix\(1, 0, 0, 1,/);
    await page.getByText('270°').click();
    await expect.poll(way, patience).toMatch(/^matrix\(0, -1, 1, 0,/);
    await goAway(page.getByRole('button', { name: 'Done' }).click());
    await isGone(kiosk);

    await expect.poll(() => kiosk.pages().length, patience).toBe(1);

    const last = await openMaintenance(kiosk);
    await last.getByRole('heading', { name: 'PIN' }).waitFor();
    await last.keyboard.type('2468');
    await last.keyboard.press('Enter');
    const quit = last.getByRole('button', { name: 'Quit' });
    await quit.click();
    await goAway(last.getByRole('button', { name: 'Sure? Once more' }).click());
    expect(await kiosk.ended()).toBe(0);
  });

  it(
    'lets anybody choose a PIN only while the box is new, and later who knows the secret of the site',
    walk,
    async () => {
      const secret = 'a secret of sixteen';
      const kiosk = await startKiosk({
        content,
        env: { SIGNAGE_SHARED_SECRET: secret, SIGNAGE_PUBLIC_URL: 'http://10.0.0.5:8080' },
      });
      await kiosk.page(/\?deviceId=/);
      await isRecorded(kiosk);
      await passTime(kiosk.evaluate, 601);
      const page = await openMaintenance(kiosk);
      await page.getByRole('heading', { name: 'The secret of this site' }).waitFor();
      const call = (body: object) =>
        page.evaluate(
          (given) =>
            (globalThis as unknown as { maintenance: { call(call: object): Promise<object> } }).maintenance.call(given),
          body,
        );
      expect(await call({ pin: '2468' })).toMatchObject({ state: 'locked', ask: 'secret' });
      await page.locator('#secret').fill('not the secret');
      await page.keyboard.press('Enter');
      await page.getByText('This is not the secret of this site.').waitFor();
      await page.locator('#secret').fill(secret);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Choose a PIN' }).waitFor();
      for (const _ of [1, 2]) {
        await page.keyboard.type('2468');
        await page.keyboard.press('Enter');
      }
      await page.getByRole('heading', { name: 'Maintenance' }).waitFor();
      // The person who chose the PIN on the page may not know the secret.
      await page.getByRole('button', { name: 'Make an admin' }).click();
      await page.getByText('This is not the secret of this site.').waitFor();
      expect(await page.locator('#shown').isVisible()).toBe(false);
      await page.locator('#site-secret').fill(secret);
      await page.keyboard.press('Enter');
      await page.getByText(/\/console#join=admin\.[A-Z2-7]{26}$/).waitFor();
      const isDrawn = () => page.locator('#shown img').evaluate((code) => (code as HTMLImageElement).naturalWidth > 0);
      await expect.poll(isDrawn, patience).toBe(true);
    },
  );

  it('without a secret it can be chosen once more when the box has its first screen', walk, async () => {
    const kiosk = await startKiosk({ content });
    const landing = await kiosk.page(/\?deviceId=/);
    await landing.locator('#device').waitFor({ state: 'attached' });
    const deviceId = new URL(landing.url()).searchParams.get('deviceId');
    await isRecorded(kiosk);
    await passTime(kiosk.evaluate, 601);
    const page = await openMaintenance(kiosk);
    await page.getByRole('heading', { name: 'This box has no PIN' }).waitFor();
    expect(await page.locator('#keys').isVisible()).toBe(false);
    const response = await fetch(`${await kiosk.url()}/api/onboarding`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ deviceId, clientName: 'Window', screenSlug: 'lobby' }),
    });
    expect(response.ok).toBe(true);
    await goAway(page.keyboard.press('Escape'));
    await isGone(kiosk);
    await (await openMaintenance(kiosk)).getByRole('heading', { name: 'Choose a PIN' }).waitFor();
  });

  it('resets the machine when that is pressed twice, and says so where the system takes no order', walk, async () => {
    const config = { kiosk: { pin: '1234' } };
    const kiosk = await startKiosk({ content, config, env: { NOTIFY_SOCKET: join(temporaryFolder(), 'none') } });
    await (await kiosk.page(/\?deviceId=/)).locator('#device').waitFor({ state: 'attached' });
    const page = await openMaintenance(kiosk);
    await page.getByRole('heading', { name: 'PIN' }).waitFor();
    await page.keyboard.type('1234');
    await page.keyboard.press('Enter');
    const updates = join(kiosk.dataDir, 'updates');
    const waiting = () => attempt(() => readFileSync(join(updates, 'order'), 'utf8'));
    await page.getByRole('button', { name: 'Restart the machine' }).waitFor();
    await page.getByRole('button', { name: 'Reset it' }).click();
    await page.getByRole('button', { name: 'Sure? Once more' }).waitFor();
    // As long as an order takes that is given at once.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(waiting()).toBeNull();
    await page.getByRole('button', { name: 'Sure? Once more' }).click();
    await expect.poll(waiting, patience).toBe('reset\n');
    // Nobody is there who would take it.
    await page.getByText('The system did not take the order.').waitFor();
    expect(waiting()).toBeNull();
    const audit = () =>
      attempt(() => readFileSync(join(kiosk.dataDir, 'audit.jsonl'), 'utf8'))
        ?.split('\n')
        .filter((line) => line.includes('box.action'));
    expect(audit()).toHaveLength(1);
  });

  it('takes the PIN of config.json, and goes by itself when nobody is there', walk, async () => {
    const config = { site: 'hotel', kiosk: { pin: '13579', displays: [{ display: 1, screen: 'lobby' }] } };
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, 'updates'));
    writeFileSync(join(dataDir, 'updates', 'state.json'), JSON.stringify({ trial: null, failed: ['9.8.7'] }));
    const kiosk = await startKiosk({ dataDir, content, config });
    const player = await kiosk.page(/\/screen\/lobby/);
    await player.getByText('Welcome to the Lobby').first().waitFor();
    await (await openMaintenance(kiosk)).getByRole('heading', { name: 'PIN' }).waitFor();
    // Alt+F4.
    await kiosk.evaluate(({ BaseWindow }: Electron) => BaseWindow.getAllWindows()[0].close());
    await isGone(kiosk);
    const page = await openMaintenance(kiosk);
    await page.clock.install();
    await page.reload();
    await page.getByRole('heading', { name: 'PIN' }).waitFor();
    await page.keyboard.type('13579');
    await page.keyboard.press('Enter');
    await page.getByText('Set in config.json').waitFor();
    await page.getByText('9.8.7 failed here').waitFor();
    await page.getByText('90°').click();
    await expect
      .poll(() => JSON.parse(readFileSync(join(kiosk.dataDir, 'config.json'), 'utf8')), patience)
      .toEqual({ ...config, kiosk: { ...config.kiosk, displays: [{ display: 1, screen: 'lobby', rotation: 90 }] } });
    await page.getByRole('button', { name: 'Protect this site' }).click();
    await page.getByRole('button', { name: 'Sure? Once more' }).click();
    const secret = await page.locator('#shown .large').textContent();
    expect(JSON.parse(readFileSync(join(kiosk.dataDir, 'config.json'), 'utf8'))).toMatchObject({
      sharedSecret: secret,
    });
    await page.clock.fastForward('03:01');
    await isGone(kiosk);
    // The player starts again with it.
    await expect.poll(() => kiosk.relaunches().length, patience).toBe(1);
  });
});
