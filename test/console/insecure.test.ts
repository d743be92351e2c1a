/** The console over plain http says that others can read along, and leads to its secure address. */
import { expect, onTestFinished, test } from 'vitest';
import type { Health } from '../../service/contract/health.ts';
import { describeBrowser, launchBrowser } from '../support/browser.ts';
import { operatorSecret } from '../support/operator.ts';
import { startTestService } from '../support/service.ts';
import { inLan, openConsole, signIn } from './browser.ts';

const env = { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_SHARED_SECRET: operatorSecret };

describeBrowser('the console', { timeout: 60_000 }, () => {
  test('over http in the LAN it offers the secure address, where nothing is said', async () => {
    const service = await startTestService({ env: { ...env, SIGNAGE_HTTPS: 'on', SIGNAGE_HTTPS_PORT: '0' } });
    const healthy = async () => ((await (await service.get('/healthz')).json()) as Health).https?.port;
    await expect.poll(healthy).toEqual(expect.any(Number));
    const { page } = await openConsole(service.url);
    await signIn(page, operatorSecret);
    await page.getByText('This page is not opened securely').click();
    const secure = await page.getByRole('link', { name: 'Open securely' }).getAttribute('href');
    const { hostname } = new URL(inLan(service.url));
    expect(secure).toBe(`https://${hostname}:${await healthy()}/console`);

    const context = await (await launchBrowser()).newContext({ ignoreHTTPSErrors: true, locale: 'en-GB' });
    onTestFinished(() => context.close());
    const there = await context.newPage();
    await there.goto(secure ?? '');
    await signIn(there, operatorSecret);
    await there.getByRole('heading', { level: 1 }).first().waitFor();
    expect(await there.getByText('This page is not opened securely').count()).toBe(0);
  });

  test('where the box has no HTTPS it says how to switch that on', async () => {
    const service = await startTestService({ env });
    const { page } = await openConsole(service.url);
    await signIn(page, operatorSecret);
    await page.getByText('This page is not opened securely').click();
    await page.getByText('Set SIGNAGE_HTTPS=on on this box').waitFor();
    expect(await page.getByRole('link', { name: 'Open securely' }).count()).toBe(0);
  });
});
