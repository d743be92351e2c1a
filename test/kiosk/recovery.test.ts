/** What crashes comes back. The pages, their processes and their crashes are real. */
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { limits } from '../../main/windows/recovery-policy.ts';
import { describeBrowser, itBrowser as it } from '../support/browser.ts';
import { crashPage, passTime } from '../support/electron/ask.ts';
import { itDouble, patience, startKiosk } from '../support/kiosk.ts';
import { lobby } from '../support/player.ts';
import { repeats } from '../support/soak.ts';
import { healthOf, plays } from './health.ts';

const KILLS = repeats(2, 60, 'SIGNAGE_TEST_RENDERER_KILLS');

const content = lobby([{ id: 'hello', kind: 'text', title: 'Good morning' }]);
const config = { kiosk: { displays: [{ display: 1, screen: 'lobby' }] } };

describeBrowser('recovery', { timeout: 120_000 + KILLS * 10_000 }, () => {
  it(`brings a page that was killed back, ${KILLS} times, and shows its own page when that is too often`, async () => {
    const kiosk = await startKiosk({ content, config });
    await plays(kiosk, [{ state: 'playing', slide: 'hello' }]);
    const isBack = async (): Promise<boolean> => {
      const [page, ...others] = kiosk.pages();
      return others.length === 0 && ((await page?.getByText('Good morning').first().isVisible()) ?? false);
    };
    for (let kill = 1; kill <= KILLS; kill++) {
      await crashPage(kiosk.evaluate);
      // A page that has crashed answers with an error.
      await expect.poll(() => isBack().catch(() => false), patience).toBe(true);
      await plays(kiosk, [{ state: 'playing', slide: 'hello' }]);
      await passTime(kiosk.evaluate, 61);
    }
    const { recoveries, lastRecovery } = await healthOf(kiosk);
    expect(recoveries.recreate).toBeGreaterThanOrEqual(KILLS);
    expect(recoveries).toMatchObject({ fallback: 0, relaunch: 0 });
    expect(lastRecovery).toMatchObject({ step: 'recreate', reason: expect.stringContaining('gone') });
    expect(kiosk.printed.stderr.match(/recovering the page of a display/g)).toHaveLength(recoveries.recreate);

    for (let kill = 0; kill < 3; kill++) await crashPage(kiosk.evaluate);
    const trouble = await kiosk.page(/trouble\.html\?kind=screen/);
    await trouble.getByRole('heading', { name: 'One moment' }).waitFor();
    expect(await healthOf(kiosk)).toMatchObject({ screens: [{ state: 'fallback' }], recoveries: { fallback: 1 } });
    await passTime(kiosk.evaluate, limits.shortestFallbackMs / 1000);
    await plays(kiosk, [{ state: 'playing', slide: 'hello' }]);
    await (await kiosk.page(/\/screen\/lobby/)).getByText('Good morning').first().waitFor();
  });

  itDouble('restarts without the GPU when that is lost too often, and ends where it cannot go on', async () => {
    const kiosk = await startKiosk({ content, config });
    expect(await healthOf(kiosk)).toMatchObject({ rendering: 'hardware' });
    const loseGpu = () =>
      kiosk.evaluate(({ app }) => {
        app.emit('child-process-gone', {}, { type: 'GPU', reason: 'crashed' });
      });
    // The disk takes nothing: it plays on as it is.
    const record = join(kiosk.dataDir, 'profile', 'software-rendering');
    mkdirSync(record);
    for (let loss = 0; loss < 3; loss++) await loseGpu();
    await expect.poll(() => kiosk.printed.stderr, patience).toContain('the rendering mode could not be saved');
    expect(await healthOf(kiosk)).toMatchObject({ rendering: 'hardware' });
    rmdirSync(record);
    await loseGpu();
    await expect.poll(() => kiosk.relaunches(), patience).toHaveLength(1);
    await expect.poll(() => healthOf(kiosk).catch(() => null), patience).toMatchObject({ rendering: 'software' });
    expect(await kiosk.evaluate(({ done }) => done.hardwareAcceleration)).toBe(false);
    // The log of the next process is in the files alone.
    const written = () => readFileSync(join(kiosk.dataDir, 'logs', 'signage.log'), 'utf8');
    expect(written()).toMatch(/"msg":"the kiosk restarts"[^]*"msg":"content is live"/);

    await kiosk.evaluate(() => {
      setTimeout(() => {
        throw new Error('a bug');
      });
    });
    expect(await kiosk.ended()).toBe(1);
    expect(written()).toMatch(/"level":60.*a bug/);
  });
});
