/** The kiosk with nobody there: its displays keep hours, and a version that crashes goes. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Health } from '../../service/contract/health.ts';
import { describeBrowser, itBrowser as it } from '../support/browser.ts';
import { crashPage, type Electron, layersOf } from '../support/electron/ask.ts';
import { displaysOf, itDouble, patience, startKiosk } from '../support/kiosk.ts';
import { lobby } from '../support/player.ts';
import { temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';

const slides = [{ id: 'hello', kind: 'text', title: 'Good morning' }];
const config = { kiosk: { displays: [{ display: 1, screen: 'lobby' }] } };

/** A day on which the lobby is closed, whichever it is here, or one that is like any other. */
const content = (isClosed: boolean) => {
  const days = [-1, 0, 1].map((day) => new Date(Date.now() + day * 86_400_000).toISOString().slice(0, 10));
  const [screen] = lobby(slides).screens;
  return { ...lobby(slides), screens: [{ ...screen, hours: isClosed ? days.map((date) => ({ date })) : null }] };
};

describeBrowser('the appliance', { timeout: 120_000 }, () => {
  it('is black in closed hours, lets the displays sleep, and comes back', async () => {
    const kiosk = await startKiosk({ content: content(true), config });
    const blockers = () => kiosk.evaluate(({ done }: Electron) => [...done.blockers].length);
    const layers = () => layersOf(kiosk.evaluate);
    await kiosk.page(/\/screen\/lobby/);
    await expect
      .poll(async () => [await blockers(), await layers()], patience)
      .toEqual([0, [['/screen/lobby', 'black']]]);
    const { kiosk: health } = (await (await fetch(`${await kiosk.url()}/healthz`)).json()) as Health;
    expect(health).toMatchObject({ displays: { on: false }, updates: { ready: null, onTrial: false, failed: [] } });
    writeFileSync(join(kiosk.dataDir, 'content.json'), JSON.stringify(content(false)));
    await expect.poll(async () => [await blockers(), await layers()], patience).toEqual([1, [['/screen/lobby']]]);
  });

  itDouble(
    'stays black in closed hours, whatever comes to the front and whichever displays there are',
    walk,
    async () => {
      const displays = [1, 2].map((display) => ({ display, screen: 'lobby' }));
      const kiosk = await startKiosk({ content: content(true), config: { kiosk: { displays } } });
      const layers = () => layersOf(kiosk.evaluate);
      const [page, black, maintenancePage] = ['/screen/lobby', 'black', 'kiosk://pages/maintenance.html'];
      await kiosk.page(/\/screen\/lobby/);
      await expect.poll(layers, patience).toEqual([[page, black]]);
      const muted = () =>
        kiosk.evaluate(({ webContents }: Electron) =>
          webContents
            .getAllWebContents()
            .map((contents: Electron) => [contents.getURL().split(':')[0], contents.isMuted]),
        );
      expect(await muted()).toContainEqual(['http', true]);
      expect(await muted()).not.toContainEqual(['http', false]);
      // The person who looks after the box sees the maintenance page.
      await kiosk.pressChord();
      const maintenance = await kiosk.page(/maintenance\.html/);
      await maintenance.getByRole('heading', { name: 'Choose a PIN' }).waitFor();
      await expect.poll(layers, patience).toEqual([[page, black, maintenancePage]]);
      await maintenance.keyboard.press('Escape').catch(() => {});
      await expect.poll(layers, patience).toEqual([[page, black]]);

      await crashPage(kiosk.evaluate);
      const shows = async () => await kiosk.pages().at(-1)?.getByText('Good morning').first().isVisible();
      // A page that has crashed answers with an error, or while it does so never.
      const isShown = () => Promise.race([shows().catch(() => false), wait(2_000, false)]);
      await expect.poll(isShown, patience).toBe(true);
      await expect.poll(layers, patience).toEqual([[page, black]]);
      const plug = displaysOf([
        [960, 540],
        [960, 540],
      ]);
      await kiosk.evaluate(({ screen }: Electron, displays) => screen.become(displays), plug);
      await expect.poll(layers, patience).toEqual([
        [page, black],
        [page, black],
      ]);
    },
  );

  it('orders the version before it where this one has started three times without proving well', async () => {
    const dataDir = temporaryFolder();
    const updates = join(dataDir, 'updates');
    mkdirSync(updates);
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const starts = [Date.now() - 20_000, Date.now() - 10_000];
    const trial = { version, from: '0.0.1', starts };
    writeFileSync(join(updates, 'state.json'), JSON.stringify({ trial, failed: [] }));
    await startKiosk({ dataDir, content: content(false), config }).catch(() => null);
    await expect.poll(() => existsSync(join(updates, 'order')), patience).toBe(true);
    expect(readFileSync(join(updates, 'order'), 'utf8')).toBe('roll-back\n');
    expect(JSON.parse(readFileSync(join(updates, 'state.json'), 'utf8'))).toEqual({ trial: null, failed: [version] });
  });
});
