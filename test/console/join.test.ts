/** A person joins in a real Chromium over plain http, goes on with the key after a reload, and is removed. */
import { expect } from 'vitest';
import { lobby } from '../content/samples.ts';
import { itBrowser } from '../support/browser.ts';
import { patience } from '../support/observe.ts';
import { createOperator, operatorSecret, secretSettings } from '../support/operator.ts';
import { invite } from '../support/people.ts';
import { startTestService } from '../support/service.ts';
import { inLan, openConsole } from './browser.ts';

itBrowser('joins by the address of an invitation, and is told who removed the key', async () => {
  const service = await startTestService({
    content: lobby,
    env: { ...secretSettings(operatorSecret), SIGNAGE_HOST: '0.0.0.0' },
  });
  const ask = createOperator(service, operatorSecret);
  await ask('PUT', '/console/api/people/maria', { name: 'Maria', role: 'editor' });
  const code = await invite(service, 'maria');
  const { page, go } = await openConsole(service.url);
  await page.goto('about:blank');
  await page.goto(`${inLan(service.url)}/console#join=maria.${code}`);
  await page.getByLabel('Name of this device').fill('Laptop');
  expect(page.url()).not.toContain(code);
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByRole('heading', { name: 'Lobby' }).waitFor();
  const keys = async () => (await (await ask('GET', '/console/api/people')).json()).people[0].keys;
  expect(await keys()).toMatchObject([{ device: 'Laptop', last_used_at: expect.any(String) }]);
  await go('');
  await page.reload();
  await page.getByRole('heading', { name: 'Lobby' }).waitFor();
  expect(await page.getByLabel('Shared secret').count()).toBe(0);

  await ask('DELETE', '/console/api/people/maria', undefined, { 'x-signage-operator': 'Anna' });
  await page.getByText('You were disabled by Anna.').waitFor();
  await expect.poll(() => page.getByLabel('Shared secret').count(), patience).toBe(1);
});
