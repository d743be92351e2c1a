/** Triggers by hand: in the console, and with the command line. */
import { expect, test } from 'vitest';
import type { Trigger } from '../../service/contract/console/triggers.ts';
import { signage } from '../cli/support.ts';
import { loseAnswer, openConsole, violationsOn } from '../console/browser.ts';
import { itBrowser } from '../support/browser.ts';
import { patience, payloadOf } from '../support/observe.ts';
import { startTestService, type TestService } from '../support/service.ts';

const content = {
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
  playlists: [
    { id: 'main', slides: [{ id: 'hello', kind: 'text', title: 'Hello' }] },
    { id: 'party', name: 'Party', slides: [{ id: 'cake', kind: 'text', title: 'Cake' }] },
  ],
  messages: [{ id: 'fire', title: 'Please leave the house', level: 'emergency', minutes: null }],
};
const slidesOf = async (service: TestService) => (await payloadOf(service)).slides.map(({ id }) => id);
const triggersOf = async (service: TestService) =>
  ((await (await service.get('/console/api/triggers')).json()) as { triggers: Trigger[] }).triggers;
const post = (url: string, service: TestService) => service.get(new URL(url).pathname, { method: 'POST' });

itBrowser('the console makes a trigger, tells its address once, tries it and revokes it', async () => {
  const service = await startTestService({ content, env: { SIGNAGE_HOST: '0.0.0.0' } });
  const { page, go } = await openConsole(service.url);
  await go('takeovers');
  await page.getByRole('button', { name: 'New trigger' }).click();
  await page.getByRole('button', { name: 'Make the trigger' }).click();
  await page.getByText('Give it a name.').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Fire panel');
  expect(await violationsOn(page)).toEqual([]);
  await page.getByRole('button', { name: 'Make the trigger' }).click();
  const address = (await page.locator('.trigger-address').textContent()) ?? '';
  await page.getByText('every host on the way can read the address').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  expect(await page.content()).not.toContain(address.slice(-32));

  await page.getByText('Shows “Please leave the house”.').waitFor();
  await page.getByRole('button', { name: 'Try “Fire panel” without showing anything' }).click();
  await page.getByText('It would work, on 0 displays. Nothing was shown.').first().waitFor();
  expect(await slidesOf(service)).toEqual(['hello']);
  expect((await post(address, service)).status).toBe(200);
  expect(await slidesOf(service)).toEqual(['takeover-message-fire', 'hello']);

  await page.getByRole('button', { name: 'Revoke “Fire panel”' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
  await expect.poll(() => triggersOf(service), patience).toEqual([]);
  expect((await post(address, service)).status).toBe(404);
});

itBrowser('a trigger whose answer was lost is in the list once its dialog is closed', async () => {
  const service = await startTestService({ content, env: { SIGNAGE_HOST: '0.0.0.0' } });
  const { page, go } = await openConsole(service.url);
  await go('takeovers');
  await page.getByRole('button', { name: 'New trigger' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Fire panel');
  await loseAnswer(page, '**/console/api/triggers', 'POST');
  await page.getByRole('button', { name: 'Make the trigger' }).click();
  await page.getByText('If it is in the list of triggers by then, revoke it there').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Revoke “Fire panel”' }).waitFor();
});

test('the command line makes triggers of each kind, lists, tries and revokes them', async () => {
  const service = await startTestService({ content });
  const run = (...args: string[]) => signage(['--box', service.url, ...args]);
  const add = async (...args: string[]) => (await run('trigger', 'add', 'A bell', ...args)).stdout.trim();
  const party = await add('--play', 'party', '--for', '45m', '--target', 'lobby');
  expect((await post(party, service)).status).toBe(200);
  expect(await slidesOf(service)).toEqual(['cake']);
  await add('--end', 'fire');
  await add('--send', 'blackout', '--on', '--target', 'all');
  const shows = await add('--show', 'fire', '--target', 'lobby', '--target', 'all');
  expect((await triggersOf(service)).map(({ effect }) => effect)).toEqual([
    { playlist: { targets: ['lobby'], playlist_id: 'party', minutes: 45 } },
    { end: { message_id: 'fire' } },
    { command: { targets: ['all'], command: 'blackout', blackout: true } },
    { takeover: { message_id: 'fire', targets: ['lobby', 'all'] } },
  ]);
  const { stdout } = await run('trigger', 'list');
  expect(stdout).toContain('plays party on lobby for 45 min');
  expect(stdout).not.toContain(shows.slice(-32));

  const id = (await triggersOf(service)).at(-1)?.id ?? '';
  expect(await run('trigger', 'try', id)).toMatchObject({
    code: 0,
    stdout: 'It would work, on 0 displays of 1 screen.\n',
  });
  expect(await run('trigger', 'delete', id, '--yes')).toMatchObject({ code: 0 });
  expect((await post(shows, service)).status).toBe(404);
  expect((await run('trigger', 'delete', id, '--yes')).code).toBe(3);
  for (const args of [['--show', 'fire'], ['--play', 'party', '--target', 'all'], ['--show', 'a', '--end', 'b'], []]) {
    expect((await run('trigger', 'add', 'A', ...args)).code).toBe(2);
  }
});

test('the command line shows and ends saved messages', async () => {
  const service = await startTestService({ content });
  const run = (...args: string[]) => signage(['--box', service.url, 'message', ...args]);
  expect((await run('list')).stdout).toMatch(/fire\s+Please leave the house\s+emergency\s+until ended/);
  expect((await run('start', 'fire', '--yes')).code).toBe(0);
  expect(await slidesOf(service)).toEqual(['takeover-message-fire', 'hello']);
  expect((await run('end', 'fire', '--yes')).code).toBe(0);
  expect(await slidesOf(service)).toEqual(['hello']);
  expect(await run('start', 'fir', '--yes')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('did you mean "fire"?'),
  });
});
