/** A person joins from the command line, and signs with the key that is kept there. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { startHostileBox } from '../support/hostile-box.ts';
import { patience } from '../support/observe.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { secret, signageHere } from './support.ts';

test('a person is made, invited, joins, and is disabled', { timeout: 60_000 }, async () => {
  const box = await startTestService({ content: lobby, env: { SIGNAGE_SHARED_SECRET: secret } });
  const at = ['--box', box.url];
  const env = { SIGNAGE_SHARED_SECRET: secret, SIGNAGE_DATA_DIR: box.dataDir };
  const folder = temporaryFolder();
  const own = { XDG_CONFIG_HOME: folder };
  const added = await signageHere(
    [...at, 'people', 'add', 'maria', '--name', 'Maria', '--role', 'editor', '--tag', 'a'],
    env,
  );
  expect([added.code, added.stdout]).toEqual([0, 'Maria is editor.\n']);
  const invited = await signageHere([...at, 'people', 'invite', 'maria'], env);
  expect(invited.stdout.trim()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console#join=maria\.[A-Z2-7]{26}$/);

  // Without a box the one that runs here is asked, which may make it over http.
  const here = await signageHere(['people', 'invite', 'maria'], env);
  expect([here.code, here.stderr]).toEqual([0, '']);
  const other = await signageHere(['people', 'invite', 'maria'], { ...env, SIGNAGE_BOX: 'http://127.0.0.1:1' });
  expect(other.code).toBe(69);
  const url = here.stdout.trim();

  // The root of another site would count here, too.
  const root = join(folder, 'signage', 'root.pem');
  mkdirSync(join(folder, 'signage'));
  writeFileSync(root, 'of another site');
  const joined = await signageHere(['join', url], own);
  expect(existsSync(root)).toBe(false);
  expect([joined.code, joined.stdout]).toEqual([0, 'You are Maria, editor.\n']);
  const file = join(folder, 'signage', 'key');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ kty: 'OKP', crv: 'Ed25519' });
  expect(existsSync(join(folder, 'signage', 'secret'))).toBe(false);
  // Once.
  const again = await signageHere(['join', url, '--yes'], own);
  expect([again.code, again.stderr]).toEqual([4, expect.stringContaining('invitation')]);
  // Nobody can be asked, so the key stays.
  for (const replacing of [
    ['join', url],
    [...at, 'login'],
  ]) {
    const refused = await signageHere(replacing, own);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--yes')]);
  }

  // A box that lost its power has left its address behind: one is looked for, which takes the root of the site.
  const left = temporaryFolder();
  writeFileSync(join(left, 'address'), 'http://127.0.0.1:1\n');
  const off = await signageHere(['people', 'invite', 'maria'], { ...own, SIGNAGE_DATA_DIR: left });
  expect([off.code, off.stderr]).toEqual([69, expect.stringContaining('so no box is looked for')]);

  const me = await signageHere([...at, 'me', '--json'], own);
  expect(JSON.parse(me.stdout)).toEqual({ person: { id: 'maria', name: 'Maria' }, role: 'editor', tags: ['a'] });
  expect(me.stderr).toContain('https');
  expect((await signageHere([...at, 'screens'], own)).code).toBe(0);
  const low = await signageHere([...at, 'people', 'disable', 'maria', '--yes'], own);
  expect([low.code, low.stderr]).toEqual([4, expect.stringContaining('admin')]);
  // Where both are there the key signs, unless the secret is asked for.
  const both = { ...own, ...env };
  expect(JSON.parse((await signageHere([...at, 'me', '--json'], both)).stdout)).toMatchObject({ role: 'editor' });
  expect(JSON.parse((await signageHere([...at, '--with-secret', 'me', '--json'], both)).stdout)).toMatchObject({
    person: null,
  });
  const listKeys = async (by: NodeJS.ProcessEnv = env) =>
    JSON.parse((await signageHere([...at, 'keys', 'list', '--json'], by)).stdout).people[0].keys;
  const keys = await listKeys(own);
  expect((await signageHere([...at, 'keys', 'list'], own)).stdout).toContain(keys[0].id);

  // What she follows ends with her key.
  const [before] = await listKeys();
  const following = signageHere([...at, 'log', box.nodeId, '--follow'], own);
  const isFollowing = async () => (await listKeys())[0].last_used_at !== before.last_used_at;
  await expect.poll(isFollowing, patience).toBe(true);
  expect((await signageHere([...at, 'people', 'disable', 'maria'], env)).code).toBe(0);
  const ended = await following;
  expect([ended.code, ended.stderr]).toEqual([4, expect.stringContaining('You were disabled')]);
  const refused = await signageHere([...at, 'me'], own);
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('You were disabled')]);
  for (const wrong of ['https://example.com/', 'x', `${url}A`])
    expect((await signageHere(['join', wrong], own)).code).toBe(2);
});

test('a change of a person keeps what it does not name', { timeout: 60_000 }, async () => {
  const box = await startTestService({ content: lobby, env: { SIGNAGE_SHARED_SECRET: secret } });
  const at = ['--box', box.url];
  const env = { SIGNAGE_SHARED_SECRET: secret, SIGNAGE_DATA_DIR: box.dataDir };
  const add = async (...words: string[]) => {
    const { stdout } = await signageHere([...at, '--json', 'people', 'add', 'maria', ...words], env);
    const { name, role, tags } = JSON.parse(stdout);
    return { name, role, tags };
  };
  expect(await add('--name', 'Maria', '--role', 'editor', '--tag', 'a', '--tag', 'b')).toMatchObject({
    tags: ['a', 'b'],
  });
  expect(await add('--role', 'publisher')).toEqual({ name: 'Maria', role: 'publisher', tags: ['a', 'b'] });
  expect(await add('--role', 'publisher', '--name', 'Maria L.')).toMatchObject({ name: 'Maria L.', tags: ['a', 'b'] });
  expect(await add('--role', 'publisher', '--tag', 'c')).toMatchObject({ name: 'Maria L.', tags: ['c'] });
  // An admin acts on the whole site.
  expect(await add('--role', 'admin')).toEqual({ name: 'Maria L.', role: 'admin', tags: [] });
  await add('--role', 'viewer', '--tag', 'a');
  expect(await add('--role', 'viewer', '--no-tag')).toMatchObject({ tags: [] });
});

test('an admin who disables somebody, or themselves, is told of their triggers', { timeout: 60_000 }, async () => {
  const box = await startTestService({ content: lobby, env: { SIGNAGE_SHARED_SECRET: secret } });
  const at = ['--box', box.url];
  const env = { SIGNAGE_SHARED_SECRET: secret, SIGNAGE_DATA_DIR: box.dataDir };
  const keyOf = async (id: string) => {
    const own = { XDG_CONFIG_HOME: temporaryFolder() };
    await signageHere([...at, 'people', 'add', id, '--role', 'admin'], env);
    const { stdout } = await signageHere([...at, 'people', 'invite', id], env);
    expect((await signageHere(['join', stdout.trim()], own)).code).toBe(0);
    return own;
  };
  await keyOf('ada');
  const bob = await keyOf('bob');
  const bell = ['trigger', 'add', 'Door bell', '--send', 'reload', '--target', 'all'];
  expect((await signageHere([...at, ...bell], bob)).code).toBe(0);
  // The key that signs does not count afterwards.
  const disabled = await signageHere([...at, 'people', 'disable', 'bob', '--yes'], bob);
  expect(disabled.stderr).toMatch(/The triggers that they made still work: Door bell \([0-9a-f]{16}\)\./);
  expect(disabled.code).toBe(0);
});

test('an invitation is not used up where its key cannot be kept', async () => {
  let requests = 0;
  const url = await startHostileBox((_, response) => {
    requests += 1;
    response.writeHead(500).end();
  });
  const invitation = `${url}/console#join=maria.${'A'.repeat(26)}`;
  const taken = join(temporaryFolder(), 'taken');
  writeFileSync(taken, '');
  for (const args of [
    ['join', invitation],
    ['--box', url, 'login'],
  ]) {
    const { code, stderr } = await signageHere(args, { XDG_CONFIG_HOME: taken });
    expect([code, stderr, requests]).toEqual([
      2,
      `Error: ${join(taken, 'signage', 'key')} cannot be written (ENOTDIR).\n`,
      0,
    ]);
  }
  const folder = temporaryFolder();
  expect((await signageHere(['join', invitation], { XDG_CONFIG_HOME: folder })).code).toBe(69);
  expect([requests, readdirSync(join(folder, 'signage'))]).toEqual([1, []]);
});
