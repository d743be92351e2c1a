/** People in the console: invited by an admin, offered what their role has, and removed while their page is open. */
import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Person } from '../../service/contract/console/people.ts';
import { lobby } from '../content/samples.ts';
import { startFakeProvider } from '../people/fake-provider.ts';
import { itBrowser } from '../support/browser.ts';
import { patience } from '../support/observe.ts';
import { createOperator, operatorSecret, secretSettings } from '../support/operator.ts';
import { addPerson, invite } from '../support/people.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { holdRequests, inLan, loseAnswer, newPage, openConsole, signIn, violationsOn } from './browser.ts';

const join = async (service: TestService, id: string, options = {}): Promise<Page> => {
  const code = await invite(service, id);
  const page = await newPage(options);
  await page.goto(`${inLan(service.url)}/console#join=${id}.${code}`);
  await page.getByLabel('Name of this device').fill('Laptop');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByRole('heading', { name: 'Lobby' }).waitFor();
  return page;
};
const go = (page: Page, hash: string): Promise<unknown> =>
  page.evaluate((to) => {
    location.hash = to;
  }, `#/${hash}`);

itBrowser(
  'an admin makes people and invites them; each is offered what their role has',
  { timeout: 120_000 },
  async () => {
    const service = await startTestService({
      content: { ...lobby, screens: lobby.screens.map((screen) => ({ ...screen, tags: ['front'] })) },
      env: { ...secretSettings(operatorSecret), SIGNAGE_HOST: '0.0.0.0', SIGNAGE_TRUST_PROXY: 'on' },
    });
    const ask = createOperator(service, operatorSecret);
    const { page } = await openConsole(service.url);
    await signIn(page, operatorSecret, 'Operator');
    // Whose ids are taken is not known yet.
    const release = await holdRequests(page, '**/console/api/people');
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor();
    expect(await page.getByRole('button', { name: 'New person' }).count()).toBe(0);
    release();
    await page.getByRole('heading', { name: 'Nobody has a key yet' }).waitFor();
    await page.getByRole('button', { name: 'New person' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Anna Maier');
    await page.getByRole('radio', { name: /^Admin/ }).check();
    await page.getByRole('button', { name: 'Make and invite' }).click();
    // Over plain http the code would be read by others.
    await page.getByRole('heading', { name: 'An invitation is a key' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.setExtraHTTPHeaders({ 'X-Forwarded-Proto': 'https' });
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('heading', { name: 'Invitation for Anna Maier' }).waitFor();
    const link = await page.getByLabel('Link of the invitation').inputValue();
    expect(link).toMatch(/\/console#join=anna-maier\.[A-Z2-7]{26}$/);
    expect(
      await page.getByAltText('QR code of the link').evaluate((code) => (code as HTMLImageElement).naturalWidth),
    ).toBeGreaterThan(0);
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

    const anna = await join(service, 'anna-maier');
    await ask('PUT', '/console/api/people/eve', { name: 'Eve', role: 'editor' });
    await ask('PUT', '/console/api/people/vera', { name: 'Vera', role: 'viewer' });
    await ask('PUT', '/console/api/people/paul', { name: 'Paul', role: 'publisher', tags: ['bar'] });

    await go(anna, 'people');
    const own = anna.locator('.person', { hasText: 'Anna Maier' });
    await own.getByText('The last admin with a key: make another one first.').waitFor();
    expect(await own.getByRole('button', { name: /Disable|Remove/ }).count()).toBe(0);
    expect(await violationsOn(anna)).toEqual([]);
    const shots = process.env['SHOTS'];
    if (shots !== undefined) {
      mkdirSync(shots, { recursive: true });
      await join(service, 'eve');
      for (const [name, width, height] of [
        ['wide', 1440, 900],
        ['phone', 390, 844],
      ] as const) {
        for (const colorScheme of ['light', 'dark'] as const) {
          await anna.emulateMedia({ colorScheme });
          await anna.setViewportSize({ width, height });
          await anna.screenshot({ path: `${shots}/people-${name}-${colorScheme}.png` });
          await anna.getByRole('button', { name: 'New person' }).click();
          await anna.screenshot({ path: `${shots}/new-${name}-${colorScheme}.png` });
          await anna.getByRole('button', { name: 'Cancel' }).click();
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height });
          await page.getByRole('button', { name: 'Invite … Eve' }).click();
          await page.getByRole('heading', { name: /Invitation for/ }).waitFor();
          await page.screenshot({ path: `${shots}/invite-${name}-${colorScheme}.png` });
          await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
        }
      }
      await anna.setViewportSize({ width: 1280, height: 800 });
    }

    // Triggers outlive the person who made them; the dialog lists them.
    const ada = await addPerson(service, 'admin', { id: 'ada', name: 'Ada' });
    const effect = { command: { targets: ['all'], command: 'reload' } };
    expect((await ada.ask('POST', '/console/api/triggers', { name: 'Door bell', effect })).ok).toBe(true);
    await anna.reload();
    for (const [name, triggers] of [
      ['Ada', ['Door bell']],
      ['Eve', []],
    ] as const) {
      await anna.getByRole('button', { name: `Disable … ${name}` }).click();
      const dialog = anna.getByRole('dialog');
      if (triggers.length > 0) await dialog.getByText('The triggers that they made still work:').waitFor();
      expect(await dialog.getByRole('listitem').allTextContents()).toEqual(triggers);
      expect(await violationsOn(anna)).toEqual([]);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
    }

    const offered = async (of: Page): Promise<string[]> => of.locator('.rail nav a').allTextContents();
    const vera = await join(service, 'vera');
    await expect.poll(() => offered(vera), patience).toEqual(['Screens', 'Content', 'Media', 'History', 'Boxes']);
    await go(vera, 'media');
    await vera.getByRole('heading', { name: 'Media', exact: true }).waitFor();
    expect(await vera.getByText('Upload', { exact: false }).count()).toBe(0);
    await go(vera, 'content');
    await vera.getByText('You may look at all of this.').waitFor();
    expect(await vera.getByRole('button', { name: 'Publish' }).count()).toBe(0);
    await go(vera, 'takeovers');
    await vera.getByText('This is not part of your role (Viewer).').waitFor();
    await go(vera, 'history');
    await expect.poll(() => vera.locator('.tabs a').allTextContents(), patience).not.toContain('Changes');

    const paul = await join(service, 'paul');
    await expect.poll(() => offered(paul), patience).toContain('Takeover');
    await go(paul, 'screens/lobby');
    await paul.getByRole('heading', { name: 'Lobby' }).waitFor();
    expect(await paul.locator('.commands').count()).toBe(0);
    // He can neither start nor end a takeover of all screens; screens with his tag are offered.
    const lasting = { targets: ['all'], level: 'info', title: 'Everybody', until: new Date(Date.now() + 3_600_000) };
    await ask('PUT', '/console/api/takeovers/everybody', lasting);
    await go(paul, 'takeovers');
    await paul.getByRole('heading', { name: 'Everybody' }).waitFor();
    expect(await paul.getByRole('radio', { name: 'All screens' }).count()).toBe(0);
    expect(await paul.getByRole('button', { name: /^End/ }).count()).toBe(0);
    expect(await paul.locator('.target-screens li').count()).toBe(0);
    await ask('PUT', '/console/api/people/paul', { name: 'Paul', role: 'publisher', tags: ['front'] });
    await paul.reload();
    await paul.locator('.target-list').getByLabel('front', { exact: false }).waitFor();
    expect(await paul.locator('.target-screens li').count()).toBe(1);

    const eve = await join(service, 'eve');
    await go(eve, 'content/playlists/welcome');
    await eve.getByRole('button', { name: 'Add slide' }).waitFor();
    expect(await eve.getByRole('button', { name: 'Show now' }).count()).toBe(0);
    // On a slow network her role is not known yet.
    const tellRole = await holdRequests(eve, '**/console/api/me');
    await eve.reload();
    await eve.locator('fieldset.looking').waitFor();
    expect(await eve.locator('main .notice').allTextContents()).toEqual(['One moment …']);
    await go(eve, 'takeovers');
    await expect.poll(() => eve.locator('main').textContent(), patience).toBe('One moment …');
    tellRole();
    await eve.getByText('This is not part of your role (Editor).').waitFor();

    // Of two admins who change somebody at the same time, the second one is asked.
    const eveNow = async () => {
      const { people } = (await (await ask('GET', '/console/api/people')).json()) as { people: Person[] };
      return people.flatMap(({ id, name, role }) => (id === 'eve' ? [name, role] : []));
    };
    await anna.getByRole('button', { name: 'Change … Eve' }).click();
    await ask('PUT', '/console/api/people/eve', { name: 'Eve', role: 'viewer' });
    const change = anna.getByRole('dialog');
    await change.getByLabel('Name', { exact: true }).fill('Eva');
    await change.getByRole('button', { name: 'Save' }).click();
    await change.getByText('Somebody else has changed this person meanwhile, to Eve and Viewer.').waitFor();
    expect(await eveNow()).toEqual(['Eve', 'viewer']);
    await change.getByRole('button', { name: 'Save' }).click();
    await expect.poll(eveNow, patience).toEqual(['Eva', 'editor']);
    await ask('DELETE', '/console/api/people/eve');
    const enable = anna.getByRole('button', { name: 'Enable Eva' });
    await enable.waitFor();
    await ask('PUT', '/console/api/people/eve', { name: 'Eve', role: 'viewer' });
    await enable.click();
    await anna.getByRole('button', { name: 'Disable … Eve' }).waitFor();
    expect(await eveNow()).toEqual(['Eve', 'viewer']);
  },
);

itBrowser(
  'an editor submits, and a publisher sees the difference and publishes; who is removed keeps the work',
  {
    timeout: 120_000,
  },
  async () => {
    const service = await startTestService({
      content: lobby,
      env: { ...secretSettings(operatorSecret), SIGNAGE_HOST: '0.0.0.0' },
    });
    const ask = createOperator(service, operatorSecret);
    await ask('PUT', '/console/api/people/eve', { name: 'Eve', role: 'editor' });
    await ask('PUT', '/console/api/people/paul', { name: 'Paul', role: 'publisher' });
    const [eve, paul] = [await join(service, 'eve'), await join(service, 'paul')];
    const slide = lobby.playlists[0]?.slides[0] as { id: string };
    const edit = async (title: string): Promise<void> => {
      await go(eve, `content/playlists/${lobby.playlists[0]?.id}/${slide.id}`);
      await eve.getByLabel('Title', { exact: true }).fill(title);
    };
    await edit('By Eve');
    expect(await eve.getByRole('button', { name: 'Publish' }).count()).toBe(0);
    await eve.getByRole('button', { name: 'Submit' }).click();
    await go(paul, 'content');
    const row = paul.locator('.draft-row');
    await row.getByText('submitted', { exact: false }).waitFor();
    await row.getByRole('button', { name: 'Send back' }).click();
    await paul.getByRole('textbox').last().fill('Shorter, please.');
    await paul.getByRole('dialog').getByRole('button', { name: 'Send back' }).click();
    await eve.getByText('Shorter, please.').waitFor();
    await edit('Eve');
    await eve.getByRole('button', { name: 'Submit' }).click();
    await row.getByText('submitted', { exact: false }).waitFor();
    await row.getByRole('button').first().click();
    await paul.getByRole('button', { name: 'Publish' }).click();
    const dialog = paul.getByRole('dialog');
    await dialog.getByText('Eve', { exact: false }).first().waitFor();
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { versions } = await (await ask('GET', '/console/api/content/versions')).json();
    expect(versions[0]).toMatchObject({ person: { name: 'Eve' }, approved_by: { name: 'Paul' } });

    await edit('Not saved by anybody');
    const removedAt = Date.now();
    await ask('DELETE', '/console/api/people/eve', undefined, { 'x-signage-operator': 'Anna' });
    await eve.getByText('You were disabled by Anna.').waitFor();
    expect(Date.now() - removedAt).toBeLessThan(process.env['CI'] === 'true' ? 6_000 : 2_000);
    // The page behind the question still has what was typed.
    expect(await eve.getByLabel('Title', { exact: true }).inputValue()).toBe('Not saved by anybody');
  },
);

itBrowser('signs in with the account of the house, over https alone', { timeout: 60_000 }, async () => {
  const provider = await startFakeProvider();
  const service = await startTestService({
    content: lobby,
    env: {
      ...secretSettings(operatorSecret),
      ...{ SIGNAGE_HOST: '0.0.0.0', SIGNAGE_TRUST_PROXY: 'on' },
      ...{ SIGNAGE_OIDC_ISSUER: provider.issuer, SIGNAGE_OIDC_ROLES: 'groups:guests=editor' },
    },
  });
  const { page } = await openConsole(service.url);
  await page.getByText('An account works over https alone.').waitFor();
  // A browser counts this machine as secure; the box does where its proxy says so.
  await page.setExtraHTTPHeaders({ 'X-Forwarded-Proto': 'https' });
  await page.goto(`http://localhost:${new URL(service.url).port}/console`);
  await page.getByLabel('Name of this device').fill('Laptop');
  await page.getByRole('button', { name: 'Sign in with the account' }).click();
  await page.getByText('BDWP-HQPK').waitFor();
  expect(await page.getByRole('link', { name: 'Open the sign-in page' }).getAttribute('href')).toBe(
    `${provider.issuer}/u`,
  );
  expect(await violationsOn(page)).toEqual([]);
  // As after a restart of the box, which forgets it.
  const error = { code: 'sign_in_not_found', message: 'There is no sign-in with this id; begin again.' };
  await page.route('**/console/api/oidc/*', (route) => route.fulfill({ status: 404, json: { error } }));
  await page.getByText('Nobody signed in in time.', { exact: false }).waitFor();
  await page.unroute('**/console/api/oidc/*');
  provider.state.token = () => provider.sign(provider.claims({ groups: [] }));
  await page.getByRole('button', { name: 'Sign in with the account' }).click();
  await page.getByText('The sign-in was refused', { exact: false }).waitFor();
  provider.state.token = () => provider.sign(provider.claims());
  await page.getByRole('button', { name: 'Sign in with the account' }).click();
  await page.getByRole('heading', { name: 'Lobby' }).waitFor();
  await expect.poll(() => page.locator('.who').textContent(), patience).toBe('Maria');
});

itBrowser(
  'who signs in again once a key has ended goes on with what the box has not; another person does not',
  { timeout: 60_000 },
  async () => {
    const provider = await startFakeProvider();
    const service = await startTestService({
      content: lobby,
      env: {
        ...secretSettings(operatorSecret),
        ...{ SIGNAGE_TRUST_PROXY: 'on', SIGNAGE_OIDC_ISSUER: provider.issuer },
        SIGNAGE_OIDC_ROLES: 'groups:guests=editor',
      },
    });
    const ask = createOperator(service, operatorSecret);
    const page = await newPage({ extraHTTPHeaders: { 'X-Forwarded-Proto': 'https' } });
    const [playlist] = lobby.playlists;
    await page.route('**/console/api/drafts/*', (route) =>
      route.request().method() === 'PUT' ? route.abort() : route.continue(),
    );
    await page.goto(`http://localhost:${new URL(service.url).port}/console#/content/playlists/${playlist?.id}`);
    const signInAs = async (sub: string, name: string): Promise<void> => {
      provider.state.token = () => provider.sign(provider.claims({ sub, name }));
      await page.getByLabel('Name of this device').fill('Laptop');
      await page.getByRole('button', { name: 'Sign in with the account' }).click();
      await expect.poll(() => page.locator('.who').textContent(), patience).toBe(name);
    };
    const endKeys = async (): Promise<void> => {
      const { people } = (await (await ask('GET', '/console/api/people')).json()) as { people: Person[] };
      for (const { id, keys } of people)
        for (const key of keys) await ask('DELETE', `/console/api/people/${id}/keys/${key.id}`);
      await page.getByLabel('Name of this device').waitFor();
    };
    const title = page.getByLabel('Title', { exact: true });
    await signInAs('maria', 'Maria');
    const before = await title.inputValue();
    await title.fill('Typed on Friday');
    await page.getByText('Not saved yet:').waitFor();
    await endKeys();
    await signInAs('maria', 'Maria');
    await page.getByText('Not saved yet:').waitFor();
    expect(await title.inputValue()).toBe('Typed on Friday');
    await endKeys();
    await signInAs('otto', 'Otto');
    await expect.poll(() => title.inputValue(), patience).toBe(before);
  },
);

itBrowser('a person whose answer was lost is made once, though the admin tries again', async () => {
  const service = await startTestService({
    content: lobby,
    env: { ...secretSettings(operatorSecret), SIGNAGE_HOST: '0.0.0.0' },
  });
  const often = 'const wait = setInterval; window.setInterval = (act, ms) => wait(act, ms / 20);';
  const { page } = await openConsole(service.url, {}, often);
  await signIn(page, operatorSecret, 'Operator');
  await go(page, 'people');
  await page.getByRole('button', { name: 'New person' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Anna');
  await loseAnswer(page, '**/console/api/people/anna', 'PUT');
  await page.getByRole('button', { name: 'Make and invite' }).click();
  await page.getByRole('dialog').getByText('may still happen').waitFor();
  // The page knows by now that the id is taken.
  await page.locator('.person', { hasText: 'Anna' }).waitFor();
  await page.getByRole('button', { name: 'Make and invite' }).click();
  await page.getByRole('heading', { name: 'An invitation is a key' }).waitFor();
  const { people } = await (await createOperator(service, operatorSecret)('GET', '/console/api/people')).json();
  expect(people.map(({ id }: Person) => id)).toEqual(['anna']);
});
