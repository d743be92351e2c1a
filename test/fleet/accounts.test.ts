/** The accounts of sites: made, renewed and revoked at a running hub, from its files alone. */
import { chownSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type UserKind, userJwt } from '../../service/cli/fleet/accounts.ts';
import { readKeys, readSite, type SiteKeys, writeSite } from '../../service/cli/fleet/key-folder.ts';
import { createKey, credentialsText, type Key, keyOf } from '../../service/cli/fleet/keys.ts';
import { signageHere } from '../cli/support.ts';
import { type Hub, hasNats, startHub } from '../support/nats.ts';
import { patience } from '../support/observe.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { becomes, startMember } from './support.ts';

const claimsOf = (jwt = '') => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
const jwtOf = (file: string): string => /JWT-+\s+(\S+)/.exec(readFileSync(file, 'utf8'))?.[1] ?? '';

test('the files of a hub are made without a server, and made again with the same keys', async () => {
  const folder = join(temporaryFolder(), 'hub');
  const run = (...args: string[]) => signageHere(['fleet', 'hub', folder, ...args], {});
  expect(await run('--listen', '127.0.0.1:4222')).toMatchObject({ code: 0, stdout: `${folder}/nats-server.conf\n` });
  expect(statSync(join(folder, 'keys')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(folder, 'keys')).sort()).toEqual(['head-office.nk', 'operator.nk', 'sites', 'system.nk']);
  expect(statSync(join(folder, 'operator.creds')).mode & 0o777).toBe(0o600);
  const conf = readFileSync(join(folder, 'nats-server.conf'), 'utf8');
  expect(conf).toContain(`store_dir: "${folder}/store", domain: hub`);
  expect(conf).toContain(`dir: "${folder}/accounts"`);
  expect(conf).toContain('write_deadline: "120s"');
  expect(conf).not.toMatch(/\bS[OAU][A-Z2-7]{20}/);
  const keys = () =>
    ['operator', 'system', 'head-office'].map((name) => readFileSync(join(folder, 'keys', `${name}.nk`), 'utf8'));
  const [before, credentials] = [keys(), readFileSync(join(folder, 'operator.creds'), 'utf8')];
  const again = await run();
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('Without --cert and --key') });
  expect(keys()).toEqual(before);
  expect(readFileSync(join(folder, 'operator.creds'), 'utf8')).toBe(credentials);
  expect(await run('--cert', '/nowhere.crt', '--key', '/nowhere.key')).toMatchObject({ code: 2 });
  expect(await run('--cert', join(folder, 'nats-server.conf'))).toMatchObject({ code: 2 });
  expect(await run('--listen', '4222')).toMatchObject({ code: 2 });
});

test('without keys nothing is asked of a hub', async () => {
  const ended = await signageHere(
    ['fleet', 'credentials', 'Wien', '-o', join(temporaryFolder(), 'x'), '--keys', temporaryFolder()],
    { SIGNAGE_FLEET_URL: 'nats://127.0.0.1:9' },
  );
  expect(ended).toMatchObject({ code: 78, stderr: expect.stringContaining('operator.nk is not there') });
});

describe.skipIf(!hasNats)('with a real nats-server', () => {
  const ends: (() => void | Promise<void>)[] = [];
  let hub: Hub;
  let keys: string;
  beforeAll(async () => {
    hub = await startHub({}, (end) => void ends.unshift(end));
    keys = join(hub.folder, 'keys');
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  const run = (...args: string[]) => signageHere(['fleet', ...args], hub.env);

  test('a site has a key of its own, is renewed without a disconnection of others, and is revoked', walk, async () => {
    const [first, second] = [join(hub.folder, 'Wien-1'), join(hub.folder, 'Wien-2')];
    expect(await run('credentials', 'Wien', '-o', first, '--keys', keys)).toMatchObject({ code: 0 });
    expect(statSync(first).mode & 0o777).toBe(0o600);
    const claims = claimsOf(jwtOf(first));
    expect(claims).toMatchObject({ name: 'Wien', nats: { allowed_connection_types: ['STANDARD', 'WEBSOCKET'] } });
    const accounts = readdirSync(join(hub.folder, 'accounts')).map((name) =>
      claimsOf(readFileSync(join(hub.folder, 'accounts', name), 'utf8')),
    );
    const account = accounts.find(({ name }) => name === 'Wien');
    expect(account.nats.limits).toMatchObject({ conn: 50, subs: 2_000, leaf: 0, exports: 0 });
    expect(account.nats.exports).toBeUndefined();
    expect(account.nats.imports).toHaveLength(11);
    expect(account.nats.imports.every((each: object) => !('local_subject' in each) && !('to' in each))).toBe(true);

    // Something else is not replaced, and nothing is changed.
    const notes = join(hub.folder, 'notes');
    writeFileSync(notes, 'notes');
    for (const file of [notes, hub.folder, await hub.credentials('Graz')]) {
      const before = readSite(keys, 'Wien');
      expect(await run('credentials', 'Wien', '-o', file, '--keys', keys)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('exists already, and is no key of Wien'),
      });
      expect(readSite(keys, 'Wien')).toEqual(before);
    }
    const other = await startMember(hub, { env: { SIGNAGE_SITE: 'Graz' } });
    const box = await startMember(hub, { env: { SIGNAGE_SITE: 'Wien', SIGNAGE_FLEET_CREDENTIALS: first } });
    expect(await run('credentials', 'Wien', '-o', second, '--keys', keys)).toMatchObject({ code: 0 });
    await becomes(box, { status: 'away', reason: 'refuses the credentials' });
    // The file of the older key is replaced.
    const renewed = await run('credentials', 'Wien', '-o', first, '--keys', keys);
    expect(renewed).toMatchObject({ code: 0, stdout: `${first}\n` });
    expect(statSync(first).mode & 0o777).toBe(0o600);
    expect(readdirSync(hub.folder).filter((name) => name.endsWith('.part'))).toEqual([]);
    await becomes(box, { status: 'connected' });
    expect(await run('revoke', 'Wien', '--keys', keys)).toMatchObject({ code: 0 });
    await becomes(box, { status: 'away', reason: 'refuses the credentials' });
    expect(existsSync(join(keys, 'sites', 'Wien'))).toBe(false);
    expect(await run('revoke', 'Wien', '--keys', keys)).toMatchObject({ code: 3 });
    const { fleet } = (await (await other.get('/healthz')).json()) as { fleet: { status: string; since: string } };
    expect(fleet.status).toBe('connected');
    expect(other.log().match(/"connected to the hub of the fleet"/g)).toHaveLength(1);
  });

  test('keys that were made by a clock that was ahead, or revoked by one that was behind, are refused', async () => {
    const [first, second] = [join(hub.folder, 'Bonn-1'), join(hub.folder, 'Bonn-2')];
    const renew = async (file: string) =>
      expect(await run('credentials', 'Bonn', '-o', file, '--keys', keys)).toMatchObject({ code: 0 });
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 30 * 86_400_000);
    await renew(first).finally(() => clock.mockRestore());
    await hub.as(first);
    await renew(second);
    await expect(hub.as(first)).rejects.toThrow(/authorization/i);
    await hub.as(second);
    const stored = readSite(keys, 'Bonn') as SiteKeys;
    writeSite(keys, 'Bonn', {
      ...stored,
      revoked: Object.fromEntries(Object.keys(stored.revoked).map((key) => [key, 1])),
    });
    await renew(first);
    const times = Object.values(readSite(keys, 'Bonn')?.revoked ?? {});
    expect(times.map((time) => time > Date.now() / 1_000)).toEqual([true, true]);
  });

  test('credentials of a site, expired and damaged ones are told from those of the head office', async () => {
    const site = await hub.credentials('Linz');
    const as = (...args: string[]) => signageHere(['fleet', ...args, '--credentials', site], hub.env);
    for (const command of [['sites'], ['init'], ['plays']]) {
      expect(await as(...command)).toMatchObject({ code: 4, stderr: expect.stringContaining('those of a site') });
    }
    const expired = join(hub.folder, 'expired.creds');
    const expire = (account: Key, kind: UserKind): void => {
      const [user, now] = [createKey('user'), Math.floor(Date.now() / 1_000)];
      const jwt = userJwt(account, { user: user.publicKey, name: 'Linz', kind, expiresAt: now - 60 }, now - 120);
      writeFileSync(expired, credentialsText(jwt, user.seed));
    };
    expire(readKeys(keys).headOffice, 'program');
    expect(await signageHere(['fleet', 'sites', '--credentials', expired], hub.env)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('refuses the credentials: they have expired'),
    });
    expire(keyOf(readSite(keys, 'Linz')?.account ?? ''), 'box');
    const env = { SIGNAGE_FLEET_URL: hub.url, SIGNAGE_SITE: 'Linz', SIGNAGE_FLEET_CREDENTIALS: expired };
    const box = await startTestService({ env });
    await becomes(box, { status: 'away', reason: 'refuses the credentials: they have expired' });

    const damaged = join(hub.folder, 'damaged.creds');
    writeFileSync(damaged, readFileSync(site, 'utf8').replace(/SU[A-Z2-7]{10}/, 'SUAAAAAAAAAA'));
    const ended = await signageHere(['fleet', 'sites', '--credentials', damaged], hub.env);
    expect(ended).toMatchObject({ code: 78, stderr: expect.stringContaining('is damaged') });
  });

  test('a hub that has lost its accounts gets them again from its keys', async () => {
    const own = await startHub({ init: false });
    const credentials = await own.credentials('Wien');
    await own.kill();
    const accounts = join(own.folder, 'accounts');
    rmSync(accounts, { recursive: true });
    // The user of nats-server, which root alone can set.
    const isRoot = process.getuid?.() === 0;
    const { uid } = isRoot ? { uid: 65_534 } : statSync(own.folder);
    if (isRoot) chownSync(join(own.folder, 'store'), uid, uid);
    const [, listen = ''] = /^listen: "(.*)"/m.exec(readFileSync(join(own.folder, 'nats-server.conf'), 'utf8')) ?? [];
    const made = await signageHere(['fleet', 'hub', own.folder, '--listen', listen], {});
    expect(made.stderr).toContain('The accounts of 1 site were written again.');
    const owners = ['.', ...readdirSync(accounts)].map((name) => statSync(join(accounts, name)).uid);
    expect(owners).toEqual([uid, uid]);
    await own.start();
    await expect
      .poll(
        () =>
          own.as(credentials).then(
            (nats) => nats.isClosed(),
            () => null,
          ),
        patience,
      )
      .toBe(false);
  });
});
