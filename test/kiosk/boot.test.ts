/** From nothing to the first slide, the app as it is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { KioskBridge } from '../../service/contract/kiosk.ts';
import { openPhone } from '../devices/browser.ts';
import { describeBrowser, itBrowser as it } from '../support/browser.ts';
import { patience, startKiosk } from '../support/kiosk.ts';
import { lobby } from '../support/player.ts';
import { isProofOf } from './proof.ts';

const content = lobby([{ id: 'hello', kind: 'text', title: 'Good morning' }]);

describeBrowser('the kiosk', { timeout: 120_000 }, () => {
  it('goes from nothing through onboarding to the first slide, and right there the next time', async () => {
    const kiosk = await startKiosk({ content });
    const url = await kiosk.url();
    const landing = await kiosk.page(/\/\?deviceId=/);
    await landing.locator('#device').waitFor({ state: 'attached' });
    const deviceId = new URL(landing.url()).searchParams.get('deviceId') ?? '';
    expect(deviceId).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/);
    const { nodeId } = JSON.parse(readFileSync(join(kiosk.dataDir, 'kiosk-keys.json'), 'utf8'));
    const needs = { nodeId, time: Date.now() };
    const ask = (given: object) =>
      landing.evaluate((wanted) => (globalThis as { kiosk?: KioskBridge }).kiosk?.prove(wanted as never), given);
    const proof = (await ask(needs)) ?? '';
    expect(isProofOf(deviceId, nodeId, proof)).toBe(true);
    expect(await ask(needs)).not.toBe(proof);
    // A box without a battery begins in 1970.
    const early = (await ask({ ...needs, time: 300_000 })) ?? '';
    expect([isProofOf(deviceId, nodeId, early), early]).toEqual([true, expect.stringContaining(';at=0000000300000;')]);
    await expect(ask({ ...needs, nodeId: 'another box' })).rejects.toThrow('this box alone');
    await expect(ask({ ...needs, time: 'now' })).rejects.toThrow();

    const phone = await openPhone(`${url}/onboard?deviceId=${deviceId}`);
    await phone.getByText('Lobby').tap();
    await phone.getByRole('button', { name: 'Start playing' }).tap();
    const player = await kiosk.page(/\/screen\/lobby/);
    await player.getByText('Good morning').first().waitFor();
    const health = async () => (await (await fetch(`${url}/healthz`)).json()).kiosk;
    await expect.poll(health, patience).toMatchObject({
      screens: [{ deviceId, state: 'playing', slide: 'hello' }],
      rendering: 'hardware',
      recoveries: { reload: 0, recreate: 0, fallback: 0, relaunch: 0 },
      lastRecovery: null,
    });
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/^signage_display_info\{display="[^"]+",gpu="hardware",video_decode="[a-z]+"\} 1$/m);
    await kiosk.quit();
    expect(await kiosk.ended()).toBe(0);

    const again = await startKiosk({ dataDir: kiosk.dataDir });
    const page = await again.page(/\/screen\/lobby\?deviceId=/);
    expect(new URL(page.url()).searchParams.get('deviceId')).toBe(deviceId);
    await page.getByText('Good morning').first().waitFor();
    await expect.poll(() => again.pages().length, patience).toBe(1);
  });
});
