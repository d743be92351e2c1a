/** Commands to players, from the command line to the pages of two boxes. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hello, lobby } from '../content/samples.ts';
import { listenOn, untilTogether } from '../peers/support.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { joinSite, secret, shareSite, signageHere } from './support.ts';

const site = shareSite({
  ...lobby,
  screens: [...lobby.screens, { name: 'Bar', slug: 'bar', playlist_id: 'welcome' }],
  playlists: [...lobby.playlists, { id: 'lunch', slides: [{ ...hello, id: 'soup' }] }],
  programmes: [{ id: 'noon', targets: ['bar'], playlist_id: 'lunch', start_time: '11:30', end_time: '14:00' }],
});

test('a command reaches the pages of a screen at both boxes', async () => {
  const { one, other, run } = site();
  const pages = [await joinSite(one, 'lobby'), await joinSite(other, 'lobby', { clientId: 'client-2' })];
  expect(await run(['send', 'lobby', 'next'])).toEqual({ stdout: '', stderr: 'Sent to 2 pages.\n', code: 0 });
  for (const page of pages) await page.message(({ command }) => command === 'next');
  const { stdout, code } = await run(['send', 'lobby', 'blackout', '--on', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ screenSlug: 'lobby', command: 'blackout', sent: 2, degraded: false });
  for (const page of pages) await page.message(({ command, blackout }) => command === 'blackout' && blackout === true);
});

test('all is every screen, and a connection or a client is one page', async () => {
  const { one, other, run } = site();
  const page = await joinSite(one, 'bar');
  await joinSite(other, 'lobby', { clientId: 'client-2' });
  const { stdout, stderr } = await run(['send', 'all', 'refresh']);
  expect(stdout).toBe('SCREEN  SENT\nlobby   1\nbar     1\n');
  expect(stderr).toBe('Sent to 2 pages.\n');
  const json = await run(['send', 'all', 'pause', '--connection', page.connectionId, '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject([{ screenSlug: 'bar', connectionId: page.connectionId, sent: 1 }]);
  expect(await run(['send', 'lobby', 'pause', '--client', 'client-2'])).toMatchObject({ code: 0 });
  const away = await run(['send', 'bar', 'next', '--connection', 'nosuch']);
  expect(away).toMatchObject({ stdout: '', code: 3 });
  expect(away.stderr).toContain('No such page shows bar.');
});

test('an unknown screen or tag is not found, and the known ones are named', async () => {
  const { run } = site();
  const slug = await run(['send', 'nosuch', 'next', '--json']);
  expect(slug.code).toBe(3);
  expect(JSON.parse(slug.stdout)).toMatchObject({ error: { code: 'screen_not_found' } });
  const typo = await run(['show', 'loby']);
  expect(typo).toMatchObject({ stdout: '', code: 3 });
  expect(typo.stderr).toBe('Error: There is no screen loby; did you mean "lobby"? The screens: lobby, bar.\n');
  const tag = await run(['send', 'tag:cafe', 'next']);
  expect(tag).toMatchObject({ code: 3, stderr: 'Error: No screen has the tag cafe. No screen has tags.\n' });
});

test('show --at says in words what a screen plays at a moment, and why', async () => {
  const { run } = site();
  const { stdout, stderr, code } = await run(['show', 'bar', '--at', '2026-11-27T12:30']);
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  const [what, slides, next] = stdout.trimEnd().split('\n');
  expect(what).toMatch(
    /2026.* bar plays the playlist lunch by the programme noon, because no other programme is due\.$/,
  );
  expect(slides).toBe('Slides: soup');
  expect(next).toMatch(/^From .* it plays the playlist welcome\.$/);
  const json = await run(['show', 'bar', '--at', '2026-11-27T15:00', '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ playlist_id: 'welcome', programme_id: null, reason: 'default' });
  expect(await run(['show', 'bar', '--at', '9:30:00'])).toMatchObject({ code: 0 });
  expect(await run(['show', 'bar', '--at', 'soon'])).toMatchObject({ stdout: '', code: 2 });
});

test('a wrong secret and a missing one are told apart, and neither gets through', async () => {
  const { one } = site();
  const wrong = await signageHere(['send', 'lobby', 'next'], {
    SIGNAGE_BOX: one.url,
    SIGNAGE_SHARED_SECRET: 'the secret of other people',
  });
  expect(wrong).toMatchObject({ stdout: '', code: 4 });
  expect(wrong.stderr).toContain('The secret here is not that of the box');
  const none = await signageHere(['send', 'lobby', 'next'], { SIGNAGE_BOX: one.url });
  expect(none).toMatchObject({ stdout: '', code: 4 });
  expect(none.stderr).toContain('Set SIGNAGE_SHARED_SECRET');
});

test('on the day after the secret of the site was changed, the previous one says what to do', async () => {
  const before = { SIGNAGE_SHARED_SECRET: 'the secret of yesterday evening' };
  const box = await startTestService({ content: lobby, env: { SIGNAGE_SHARED_SECRET: secret } });
  for (const args of [['screens'], ['media', 'list'], ['content', 'pull'], ['log', box.url], ['plays', 'export']]) {
    const { stdout, stderr, code } = await signageHere(args, { SIGNAGE_BOX: box.url, ...before });
    expect({ stdout, code }, args.join(' ')).toEqual({ stdout: '', code: 4 });
    expect(stderr, args.join(' ')).toContain('see SIGNAGE_SHARED_SECRET and ~/.config/signage/secret');
  }
});

test('a box without a console says what to do', async () => {
  const box = await startTestService({ content: lobby, env: { SIGNAGE_VARIANT: 'baseline' } });
  for (const args of [['screens'], ['takeover', 'list'], ['audit'], ['plays', 'export']]) {
    const { stdout, stderr, code } = await signageHere(args, { SIGNAGE_BOX: box.url });
    expect({ stdout, code }, args.join(' ')).toEqual({ stdout: '', code: 1 });
    expect(stderr, args.join(' ')).toContain('Name another box with --box.');
  }
  expect(await signageHere(['send', 'lobby', 'next'], { SIGNAGE_BOX: box.url })).toMatchObject({ code: 3 });
});

test("the secret of the operator's own file is taken, and its line end is no part of it", async () => {
  const { one } = site();
  const XDG_CONFIG_HOME = temporaryFolder();
  mkdirSync(join(XDG_CONFIG_HOME, 'signage'));
  writeFileSync(join(XDG_CONFIG_HOME, 'signage', 'secret'), `${secret}\n`);
  chmodSync(join(XDG_CONFIG_HOME, 'signage', 'secret'), 0o600);
  const { code } = await signageHere(['screens', '--box', one.url], { XDG_CONFIG_HOME });
  expect(code).toBe(0);
});

test.each([
  ['is an hour ahead', 3_600_000],
  ['stands in 1970', 300_000 - Date.now()],
])('a box whose clock %s is signed for by its own clock', async (_, ahead) => {
  const box = await startTestService({
    content: lobby,
    env: { SIGNAGE_SHARED_SECRET: secret },
    wall: () => Date.now() + ahead,
  });
  const env = { SIGNAGE_BOX: box.url, SIGNAGE_SHARED_SECRET: secret };
  expect(await signageHere(['send', 'lobby', 'next'], env)).toEqual({
    stdout: '',
    stderr: 'Sent to 0 pages.\nError: No page shows lobby. See: signage screens\n',
    code: 3,
  });
});

test('a box that is not there is not reached, and what is no box is said to be none', async () => {
  const gone = await signageHere(['send', 'lobby', 'next', '--box', 'http://127.0.0.1:1'], {});
  expect(gone).toEqual({
    stdout: '',
    stderr:
      'Error: The box at http://127.0.0.1:1 was not reached: nothing listens there.\n' +
      'Does the player run, and on this port? See: signage discover\n',
    code: 69,
  });
  const page = await listenOn(createServer((_, response) => void response.end('<h1>A printer</h1>')));
  expect(await signageHere(['health', '--box', page], {})).toEqual({
    stdout: '',
    stderr: `Error: What answers at ${page} is not a signage box.\n`,
    code: 69,
  });
});

test('a peer that does not answer makes the answer degraded', async () => {
  const one = await startTestService({ content: lobby, env: { SIGNAGE_SHARED_SECRET: secret } });
  const other = await startTestService({
    content: lobby,
    env: { SIGNAGE_SHARED_SECRET: secret, SIGNAGE_PEERS: one.url },
  });
  const env = { SIGNAGE_BOX: one.url, SIGNAGE_SHARED_SECRET: secret };
  await untilTogether([one, other]);
  await other.close();
  const { stdout, stderr, code } = await signageHere(['send', 'lobby', 'next', '--json'], env);
  expect({ code, degraded: JSON.parse(stdout).degraded }).toEqual({ code: 5, degraded: true });
  expect(stderr).toContain('Some box of the site did not answer');
});
