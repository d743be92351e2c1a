/** The console over plain http says that others can read along, and leads to its secure address. */
import { expect, test } from 'vitest';
import type { Health } from '../../service/contract/health.ts';
import { lobby } from '../content/samples.ts';
import { describeBrowser } from '../support/browser.ts';
import { patience } from '../support/observe.ts';
import { createOperator, operatorSecret } from '../support/operator.ts';
import { invite } from '../support/people.ts';
import { shareTestService, startTestService } from '../support/service.ts';
import { inLan, newPage, openConsole, signIn, violationsOn } from './browser.ts';

const env = { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_SHARED_SECRET: operatorSecret };

describeBrowser('the console', { timeout: 60_000 }, () => {
  const secureService = shareTestService({
    content: lobby,
    env: { ...env, SIGNAGE_HTTPS: 'on', SIGNAGE_HTTPS_PORT: '0' },
  });
  const securePort = async (): Promise<number> => {
    const port = async () => ((await (await secureService().get('/healthz')).json()) as Health).https?.port;
    await expect.poll(port, patience).toEqual(expect.any(Number));
    return (await port()) ?? 0;
  };

  test('over http in the LAN it offers the secure address, where nothing is said', async () => {
    const [service, port] = [secureService(), await securePort()];
    const { page } = await openConsole(service.url, { ignoreHTTPSErrors: true });
    await signIn(page, operatorSecret);
    await page.getByText('This page is not opened securely').click();
    const secure = await page.getByRole('link', { name: 'Open securely' }).getAttribute('href');
    const { hostname } = new URL(inLan(service.url));
    expect(secure).toBe(`https://${hostname}:${port}/console`);

    await page.goto(secure ?? '');
    await signIn(page, operatorSecret);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    expect(await page.getByText('This page is not opened securely').count()).toBe(0);
  });

  test('a person goes on at the secure address with a key that is made there, and that of the http page is removed', async () => {
    const [service, port] = [secureService(), await securePort()];
    const ask = createOperator(service, operatorSecret);
    await ask('PUT', '/console/api/people/maria', { name: 'Maria', role: 'viewer' });
    const code = await invite(service, 'maria');
    const page = await newPage({ ignoreHTTPSErrors: true });
    await page.goto(`${inLan(service.url)}/console#join=maria.${code}`);
    await page.getByLabel('Name of this device').fill('Laptop');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('heading', { name: 'Lobby' }).waitFor();
    const keys = async (): Promise<{ id: string; device: string }[]> =>
      (await (await ask('GET', '/console/api/people')).json()).people[0].keys;
    const [first] = await keys();

    // Over http the clock of the box is no proof: it is told, and what the box refuses for it ends here.
    const late = await page.context().newPage();
    await late.addInitScript(() => {
      const now = Date.now.bind(Date);
      Date.now = () => now() + 600_000;
    });
    await late.goto(`${inLan(service.url)}/console`);
    await late.getByText('The clock of this computer is 10 mins off that of the box').waitFor();
    const safe = late.getByRole('status').getByRole('link', { name: 'Open securely' });
    expect(await safe.getAttribute('href')).toMatch(/^https:.*\/console$/);
    await late.close();

    // A link from elsewhere brings nobody's key.
    await page.goto('about:blank');
    await page.goto(`${inLan(service.url)}/console#add=${'A'.repeat(43)}`);
    await page.getByText('a key that this tab did not ask for').waitFor();
    expect(await page.getByRole('button', { name: 'Add the key' }).count()).toBe(0);
    expect(page.url()).toBe(`${inLan(service.url)}/console`);

    await page.getByText('This page is not opened securely').click();
    await page.getByRole('link', { name: 'Open securely' }).click();
    await page.getByRole('heading', { name: 'Go on securely' }).waitFor();
    expect(page.url()).toBe(`${inLan(service.url)}/console`);
    expect(await violationsOn(page)).toEqual([]);
    await page.getByLabel('Name of this device').fill('Laptop, securely');
    const fingerprint = (await page.locator('dialog code').textContent())?.replaceAll(' ', '');
    await page.getByRole('button', { name: 'Add the key' }).click();
    await page.waitForURL(/^https:/);
    await page.getByRole('heading', { name: 'Lobby' }).waitFor();
    await expect.poll(keys, patience).toMatchObject([{ id: fingerprint, device: 'Laptop, securely' }]);
    expect(first?.id).not.toBe(fingerprint);
    await page.reload();
    await page.getByRole('heading', { name: 'Lobby' }).waitFor();
    // An address alone adds nothing, and removes nothing, though a key that nobody added was left here.
    await page.evaluate(
      () =>
        new Promise<void>((resolve) => {
          const opening = indexedDB.open('signage.console', 1);
          opening.onsuccess = () => {
            const change = opening.result.transaction('keys', 'readwrite');
            const left = { publicKey: 'A'.repeat(43), privateKey: new Uint8Array(32) };
            change.objectStore('keys').put(left, 'pending');
            change.oncomplete = () => {
              opening.result.close();
              resolve();
            };
          };
        }),
    );
    await page.goto('about:blank');
    await page.goto(`https://${new URL(inLan(service.url)).hostname}:${port}/console#added=${fingerprint}`);
    await page.getByRole('heading', { name: 'Lobby' }).waitFor();
    expect(await keys()).toHaveLength(1);
    await page.reload();
    await page.getByRole('heading', { name: 'Lobby' }).waitFor();
    await page.goto('about:blank');
    await page.goto(`${inLan(service.url)}/console`);
    await page.getByText('This key was removed', { exact: false }).waitFor();
    // Anybody on the way may say so: the key stays until it is certain.
    await page.getByText('Over http this is not proven', { exact: false }).waitFor();
    await page.reload();
    await page.getByText('This key was removed', { exact: false }).waitFor();
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
