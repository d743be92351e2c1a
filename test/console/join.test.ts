/** A person joins in a real Chromium, goes on with the key after a reload, and is removed. */
import type { Page, Route } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { isWithoutCertutil, launchProfile } from '../authority/profile.ts';
import { portOf, rootOf, startBox } from '../authority/support.ts';
import { lobby } from '../content/samples.ts';
import { itBrowser } from '../support/browser.ts';
import { patience } from '../support/observe.ts';
import { createOperator, operatorSecret, secretSettings } from '../support/operator.ts';
import { invite } from '../support/people.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { inLan, openConsole } from './browser.ts';

/** The box has heard of the key, and this browser does not know. */
const loseAnswer = async (route: Route): Promise<void> => {
  await route.fetch();
  await route.abort();
};

/** @param origin of the console, to which the box is known by its certificate or over http */
const joinAndBeRemoved = async (service: TestService, page: Page, origin: string): Promise<void> => {
  const ask = createOperator(service, operatorSecret);
  await ask('PUT', '/console/api/people/maria', { name: 'Maria', role: 'editor' });
  const code = await invite(service, 'maria');
  await page.goto(`${origin}/console#join=maria.${code}`);
  await page.getByLabel('Name of this device').fill('Laptop');
  expect(page.url()).not.toContain(code);
  if (origin.startsWith('http:')) {
    await page.route('**/console/api/join', loseAnswer, { times: 1 });
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByText('The box does not answer.').waitFor();
  }
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByRole('heading', { name: 'Lobby' }).waitFor();
  const keys = async () => (await (await ask('GET', '/console/api/people')).json()).people[0].keys;
  expect(await keys()).toMatchObject([{ device: 'Laptop', last_used_at: expect.any(String) }]);
  await page.goto(`${origin}/console#/`);
  await page.reload();
  await page.getByRole('heading', { name: 'Lobby' }).waitFor();
  expect(await page.getByLabel('Shared secret').count()).toBe(0);

  await ask('DELETE', '/console/api/people/maria', undefined, { 'x-signage-operator': 'Anna' });
  await page.getByText('You were disabled by Anna.').waitFor();
  await expect.poll(() => page.getByLabel('Shared secret').count(), patience).toBe(1);
};

itBrowser('over http: joins by the address of an invitation, and is told who removed the key', async () => {
  const env = { ...secretSettings(operatorSecret), SIGNAGE_HOST: '0.0.0.0' };
  const service = await startTestService({ content: lobby, env });
  const { page } = await openConsole(service.url);
  await page.goto('about:blank');
  await page.route('**/console/api/join', (route) => route.abort(), { times: 1 });
  await page.goto(`${inLan(service.url)}/console#join=maria.${'A'.repeat(26)}`);
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  // A page that was not touched yet cannot prevent it.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  expect(await dialog.count()).toBe(1);
  // What a browser does that does not know `closedby`.
  await page.locator('dialog').evaluate((element: HTMLDialogElement) => element.close());
  await page.getByLabel('Name of this device').fill('Laptop');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByText('The box does not answer.').waitFor();
  await page.goto('about:blank');
  await joinAndBeRemoved(service, page, inLan(service.url));
});

/** The keys that the browser keeps, by what they are for. */
const keptKeys = (page: Page): Promise<unknown[]> =>
  page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const opening = indexedDB.open('signage.console', 1);
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const asking = opening.result.transaction('keys').objectStore('keys').getAllKeys();
          asking.onsuccess = () => resolve(asking.result);
        };
      }),
  );

itBrowser('who signs out leaves no key behind, neither in the browser nor at the box', async () => {
  const service = await startTestService({
    content: lobby,
    env: { ...secretSettings(operatorSecret), SIGNAGE_HOST: '0.0.0.0' },
  });
  const ask = createOperator(service, operatorSecret);
  for (const id of ['maria', 'bob']) await ask('PUT', `/console/api/people/${id}`, { name: id, role: 'editor' });
  const { page } = await openConsole(service.url);
  // Where the page is open already, and asks for the secret.
  await page.getByLabel('Shared secret').waitFor();
  const openInvitation = async (id: string): Promise<void> => {
    await page.goto(`${inLan(service.url)}/console#join=${id}.${await invite(service, id)}`);
    await page.getByText(`“${id}”`).waitFor();
    expect(page.url()).not.toContain('join');
    await page.getByLabel('Name of this device').fill('Laptop');
  };
  const keysOf = async (index: number) =>
    (await (await ask('GET', '/console/api/people')).json()).people[index].keys as unknown[];

  // Maria goes away before the answer: the next one at this computer gets a key of their own.
  await openInvitation('maria');
  await page.route('**/console/api/join', loseAnswer, { times: 1 });
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByText('The box does not answer.').waitFor();
  expect(await keptKeys(page)).toEqual(['joining']);
  await openInvitation('bob');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByRole('heading', { name: 'Lobby' }).waitFor();
  expect(await keptKeys(page)).toEqual(['person']);
  expect([(await keysOf(0)).length, (await keysOf(1)).length]).toEqual([1, 1]);

  const signOut = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
  };
  const away = '**/console/api/people/*/keys/*';
  await page.route(away, (route) => route.abort());
  await signOut();
  await page.getByText('The box does not answer.').first().waitFor();
  expect(await keptKeys(page)).toEqual(['person']);
  await page.unroute(away);
  await page.route(away, loseAnswer, { times: 1 });
  await signOut();
  await page.getByLabel('Shared secret').waitFor();
  await expect.poll(() => keptKeys(page), patience).toEqual([]);
  expect(await page.getByText('This key was removed').count()).toBe(0);
  expect(await keysOf(0)).toEqual([]);
});

test.skipIf(isWithoutCertutil)(
  'over https: joins where the root of the site is installed, and is told who removed the key',
  { ...walk, timeout: 60_000 },
  async () => {
    const service = await startBox({ content: lobby });
    const browser = await launchProfile(await rootOf(service), onTestFinished);
    onTestFinished(() => browser.close());
    const page = await browser.newPage({ locale: 'en-GB' });
    await joinAndBeRemoved(service, page, `https://127.0.0.1:${await portOf(service)}`);
    expect(await page.evaluate(() => isSecureContext)).toBe(true);
  },
);
