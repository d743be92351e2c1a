/** Credentials of sites on the second day: replaced, revoked, and signed by the key of an account. */
import { chmodSync, copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Authenticator, nkeyAuthenticator, nkeys } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { withUser } from '../../service/cli/fleet/credentials.ts';
import { signage } from '../cli/support.ts';
import { hasNats, startHub } from '../support/nats.ts';
import { type TestService, temporaryFolder } from '../support/service.ts';
import { becomes, fileOf, healthOf, plays, saying, startMember } from './support.ts';

test('a site is added to the list of users once, and other lines stay as they are', () => {
  const start = 'users: [\n  { user: operator, password: word }\n]\n';
  const first = withUser(start, 'Wien', { nkey: 'UA' });
  expect(first).toBe('users: [\n  { user: operator, password: word }\n  {"nkey":"UA"} # site Wien\n]\n');
  const both = withUser(first, 'Wien-2', { nkey: 'UB' });
  expect(withUser(both, 'Wien', { nkey: 'UC' }).split('\n').slice(2, 4)).toEqual([
    '  {"nkey":"UB"} # site Wien-2',
    '  {"nkey":"UC"} # site Wien',
  ]);
  expect(() => withUser('', 'Wien', {})).toThrow('the end of its list');
});

describe.skipIf(!hasNats)('with a real nats-server', { timeout: 60_000 }, () => {
  const authenticatorOf = (file: string): Authenticator =>
    nkeyAuthenticator(Buffer.from(/SU[A-Z2-7]{56}/.exec(readFileSync(file, 'utf8'))?.[0] ?? ''));
  const disconnectedAt = async (box: TestService): Promise<string> => (await healthOf(box)).fleet?.since ?? '';

  test('a key is replaced without a restart of the box, the old one is refused, and a revoked site is away and plays on', async () => {
    const folder = temporaryFolder();
    const [users, old, renewed, inUse] = ['users.conf', 'old.creds', 'new.creds', 'box.creds'].map((name) =>
      join(folder, name),
    ) as [string, string, string, string];
    writeFileSync(users, 'users: [\n  { user: operator, password: word }\n]\n');
    const makeKey = (file: string) => signage(['fleet', 'credentials', 'Wien', '-o', file, '--users', users]);
    chmodSync(users, 0o604);
    expect(await makeKey(old)).toMatchObject({ code: 0 });
    expect(statSync(users).mode & 0o777).toBe(0o604);
    expect(readdirSync(folder)).not.toContain('users.conf.new');
    expect(await makeKey(old)).toMatchObject({ code: 2, stderr: expect.stringContaining('exists already') });
    const accounts = 'accounts { chain { jetstream: enabled, include users.conf } }';
    const hub = await startHub({ config: accounts, folder });
    const operator = hub.url.replace('//', '//operator:word@');
    expect(await signage(['fleet', 'init', '--fleet', operator])).toMatchObject({ code: 0 });
    copyFileSync(old, inUse);
    const env = { SIGNAGE_SITE: 'Wien', SIGNAGE_FLEET_CREDENTIALS: inUse };
    const box = await startMember(hub, { content: saying('Old'), env });

    expect(await makeKey(renewed)).toMatchObject({ code: 0 });
    copyFileSync(renewed, inUse);
    const before = await disconnectedAt(box);
    hub.reload();
    await expect.poll(() => disconnectedAt(box)).not.toBe(before);
    await becomes(box, { status: 'connected' });
    await expect(hub.client({ authenticator: authenticatorOf(old), reconnect: false })).rejects.toThrow(
      /authorization/i,
    );
    const push = await signage(['fleet', 'push', fileOf(saying('New')), 'Wien', '--yes', '--fleet', operator]);
    expect(push).toMatchObject({ code: 0 });
    await plays(box, 'New');

    writeFileSync(users, readFileSync(users, 'utf8').replace(/.* # site Wien\n/, ''));
    hub.reload();
    await becomes(box, { status: 'away', reason: 'refuses the credentials' });
    await plays(box, 'New');
  });

  test('a hub in operator mode takes a site whose key an account has signed, and refuses it once it is revoked', async () => {
    const [root, account, system] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()];
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const sign = (type: string, subject: string, key: typeof root, claims: object): string => {
      const body = {
        jti: subject,
        iat: Math.floor(Date.now() / 1000),
        iss: key.getPublicKey(),
        name: type,
        sub: subject,
      };
      const text = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode({ ...body, nats: { ...claims, type, version: 2 } })}`;
      return `${text}.${Buffer.from(key.sign(Buffer.from(text))).toString('base64url')}`;
    };
    const all = Object.fromEntries(
      [
        'subs',
        'data',
        'payload',
        'imports',
        'exports',
        'conn',
        'leaf',
        'mem_storage',
        'disk_storage',
        'streams',
        'consumer',
      ].map((name) => [name, -1]),
    );
    const accountWith = (revocations: object) =>
      sign('account', account.getPublicKey(), root, { limits: { ...all, wildcards: true }, revocations });
    const folder = temporaryFolder();
    const resolver = join(folder, 'resolver.conf');
    const writeResolver = (revocations: object): void =>
      writeFileSync(
        resolver,
        `resolver_preload: {
  ${account.getPublicKey()}: ${accountWith(revocations)}
  ${system.getPublicKey()}: ${sign('account', system.getPublicKey(), root, { limits: { ...all, mem_storage: 0, disk_storage: 0 } })}
}`,
      );
    writeResolver({});
    const operatorJwt = sign('operator', root.getPublicKey(), root, { system_account: system.getPublicKey() });
    const hub = await startHub({
      config: `operator: ${operatorJwt}\nsystem_account: ${system.getPublicKey()}\nresolver: MEMORY\ninclude resolver.conf\n`,
      folder,
    });

    const [seed, wien, operator] = [
      join(folder, 'account.nk'),
      join(folder, 'Wien.creds'),
      join(folder, 'operator.creds'),
    ];
    writeFileSync(seed, Buffer.from(account.getSeed()));
    const user = nkeys.createUser();
    const userJwt = sign('user', user.getPublicKey(), account, { subs: -1, data: -1, payload: -1 });
    writeFileSync(
      operator,
      `-----BEGIN NATS USER JWT-----\n${userJwt}\n------END NATS USER JWT------\n
-----BEGIN USER NKEY SEED-----\n${Buffer.from(user.getSeed()).toString()}\n------END USER NKEY SEED------\n`,
    );
    const made = await signage(['fleet', 'credentials', 'Wien', '-o', wien, '--account-key', seed]);
    expect(made).toMatchObject({ code: 0, stdout: '' });
    const run = (...args: string[]) =>
      signage(['fleet', ...args], { env: { SIGNAGE_FLEET_URL: hub.url, SIGNAGE_FLEET_CREDENTIALS: operator } });
    expect(await run('init')).toMatchObject({ code: 0 });
    const env = { SIGNAGE_SITE: 'Wien', SIGNAGE_FLEET_CREDENTIALS: wien };
    const box = await startMember(hub, { content: saying('Old'), env });
    expect(await run('push', fileOf(saying('New')), 'Wien', '--yes')).toMatchObject({ code: 0 });
    await plays(box, 'New');
    const sent = await run('send', 'Wien', 'all', 'next', '--json');
    expect(JSON.parse(sent.stdout)).toMatchObject({ silent: [], failed: [] });
    expect((await healthOf(box)).warnings).toEqual([]);

    const [, jwt = ''] = /JWT-----\n(\S+)/.exec(readFileSync(wien, 'utf8')) ?? [];
    const { sub } = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as { sub: string };
    writeResolver({ [sub]: Math.floor(Date.now() / 1000) });
    hub.reload();
    await becomes(box, { status: 'away', reason: 'refuses the credentials' });
  });
});
