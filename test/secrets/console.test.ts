/** Secrets of pages in the console: where they go, and never their values. */
import { expect, it } from 'vitest';
import { openConsole, signIn, violationsOn } from '../console/browser.ts';
import { isSkipped } from '../support/browser.ts';
import { createOperator, operatorSecret, secretSettings } from '../support/operator.ts';
import { localHeaders } from '../support/people.ts';
import { lobby, patience } from '../support/player.ts';
import { startTestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';

it.skipIf(isSkipped)(
  'a secret is listed and deleted, and not taken over plain http',
  { ...walk, timeout: 60_000 },
  async () => {
    const service = await startTestService({
      content: lobby([{ kind: 'text', title: 'Hello' }]),
      env: { ...secretSettings(operatorSecret), SIGNAGE_HOST: '0.0.0.0' },
    });
    const body = { origins: ['https://dash.example.com'], headers: { Authorization: 'Bearer 5ecret' } };
    const ask = createOperator(service, operatorSecret);
    expect((await ask('PUT', '/console/api/secrets/dash', body, localHeaders(service))).status).toBe(201);
    const { page, go } = await openConsole(service.url);
    await signIn(page, operatorSecret);
    await page.getByRole('heading', { name: 'Screens' }).waitFor();
    await go('boxes');
    await page.getByText('https://dash.example.com').waitFor();
    expect(await page.content()).not.toContain('5ecret');

    await page.route('**/console/api/secrets', (route) => route.fulfill({ status: 500, json: {} }));
    await go('media');
    await go('boxes');
    await page.locator('.page-secrets .fault').getByText(/./).waitFor();
    await page.unroute('**/console/api/secrets');
    await go('media');
    await go('boxes');
    await page.getByText('https://dash.example.com').waitFor();

    // What is typed there could be read on the way.
    expect(await page.getByRole('button', { name: 'New secret' }).count()).toBe(0);
    expect(await violationsOn(page)).toEqual([]);

    await page.getByRole('button', { name: 'Delete …' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect.poll(() => page.getByText('https://dash.example.com').count(), patience).toBe(0);
  },
);
