/** Single sign-on: with npm's OpenID provider in a process of its own, and with hosts that make up tokens. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { roleOf } from '../../service/console/oidc.ts';
import { mostKeys, type SignInBegun, type SignInState } from '../../service/contract/console/people.ts';
import { signageHere } from '../cli/support.ts';
import { lobby } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { createOperator, operatorSecret, refusalOf, secretSettings } from '../support/operator.ts';
import { addPerson, createPerson, invite, joinWith, localHeaders, makeKey } from '../support/people.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { type MakeToken, startFakeProvider } from './fake-provider.ts';

const path = '/console/api/oidc';
const roles = 'groups:signage-editors=editor,groups:signage-admins=admin,groups:guests=viewer';

/** The provider, and whom a code is answered by: `name|group+group`; null: the person says no. */
const startProvider = async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'provider-process.mjs')], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill());
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const issuer = String(line).trim();
  const answer = async (code: string, account: string | null): Promise<void> => {
    const query = new URLSearchParams({ code, ...(account !== null && { account }) });
    const response = await fetch(`${issuer}/test/answer?${query}`);
    if (!response.ok) throw new Error(await response.text());
  };
  return { issuer, answer, stop: () => child.kill() };
};

const startBox = (
  issuer: string,
  more: Record<string, string> = {},
  dataDir?: string,
  wall?: () => number,
): Promise<TestService> =>
  startTestService({
    content: lobby,
    isSynchronized: () => wall !== undefined,
    ...(wall !== undefined && { wall }),
    ...(dataDir !== undefined && { dataDir }),
    env: {
      ...secretSettings(operatorSecret),
      SIGNAGE_OIDC_ISSUER: issuer,
      SIGNAGE_OIDC_ROLES: roles,
      SIGNAGE_TRUST_PROXY: 'on',
      ...more,
    },
  });

const begin = async (box: TestService, key = makeKey(), address = '192.0.2.1') => {
  const body = { public_key: key.publicKey, device: 'laptop' };
  const response = await box.post(path, body, { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': address });
  expect(response.status).toBe(201);
  const begun = (await response.json()) as SignInBegun;
  const state = async (): Promise<SignInState> => (await box.get(`${path}/${begun.id}`)).json();
  const ended = async (): Promise<SignInState> => {
    await expect.poll(async () => (await state()).state, { ...patience, timeout: 20_000 }).not.toBe('pending');
    return state();
  };
  return { begun, key, state, ended };
};

test('a person signs in with the provider, for twelve hours, with the role that their groups give', {
  timeout: 60_000,
}, async () => {
  const provider = await startProvider();
  const box = await startBox(provider.issuer);
  const admin = createOperator(box, operatorSecret);
  const body = { public_key: makeKey().publicKey, device: 'laptop' };
  expect(await refusalOf(await box.post(path, body))).toEqual([403, 'secure_required']);
  expect((await box.post(path, body, localHeaders(box))).status).toBe(201);
  expect(await refusalOf(await box.get(`${path}/${'0'.repeat(32)}`))).toEqual([404, 'sign_in_not_found']);

  const maria = await begin(box);
  expect(maria.begun).toMatchObject({ verification_uri: `${provider.issuer}/device`, interval: expect.any(Number) });
  expect(await maria.state()).toEqual({ state: 'pending', key: null, person: null, role: null, tags: null });
  await provider.answer(maria.begun.user_code, 'maria|signage-editors+guests');
  const done = await maria.ended();
  expect(done).toEqual({
    state: 'done',
    key: maria.key.keyId,
    person: { id: expect.stringMatching(/^sso-[0-9a-f]{16}$/), name: 'MARIA' },
    role: 'editor',
    tags: [],
  });
  const ask = createPerson(box, maria.key);
  expect(await (await ask('GET', '/console/api/me')).json()).toMatchObject({ role: 'editor' });
  const { people } = await (await admin('GET', '/console/api/people')).json();
  expect(Date.parse(people[0].keys[0].ends_at) - Date.now()).toBeGreaterThan(11.9 * 3_600_000);
  const { records } = await (await admin('GET', '/console/api/audit')).json();
  expect(records[0]).toMatchObject({ action: 'person.signin', operator: 'MARIA', person: { name: 'MARIA' } });

  // The key of a sign-in is no key of an invitation, which is not used up by it.
  const id = String(done.person?.id);
  const code = await invite(box, id);
  expect(await refusalOf(await joinWith(box, code, id, maria.key))).toEqual([403, 'invitation_invalid']);
  expect((await joinWith(box, code, id, makeKey())).status).toBe(201);

  // The same person again, with another role; an admin has no tags, but keeps them, and stays out once disabled.
  await admin('PUT', `/console/api/people/${id}`, { name: 'Maria', role: 'editor', tags: ['lobby'] });
  const again = await begin(box);
  await provider.answer(again.begun.user_code, 'maria|signage-admins');
  expect(await again.ended()).toMatchObject({ state: 'done', person: done.person, role: 'admin', tags: [] });
  expect((await (await admin('GET', '/console/api/people')).json()).people[0]).toMatchObject({ tags: [] });
  await addPerson(box, 'admin');
  // What they made as an admin ends when they are none any more, also if they are one later.
  await admin('PUT', '/console/api/people/puppet', { name: 'Puppet', role: 'admin' });
  const asAdmin = createPerson(box, again.key);
  const invited = await asAdmin('POST', '/console/api/people/puppet/invitations', undefined, localHeaders(box));
  const lower = await begin(box);
  await provider.answer(lower.begun.user_code, 'maria|signage-editors');
  expect(await lower.ended()).toMatchObject({ state: 'done', role: 'editor', tags: ['lobby'] });
  await admin('PUT', `/console/api/people/${id}`, { name: 'Maria', role: 'admin' });
  const puppet = await joinWith(box, (await invited.json()).code, 'puppet', makeKey());
  expect(await refusalOf(puppet)).toEqual([403, 'invitation_invalid']);
  await admin('DELETE', `/console/api/people/${done.person?.id}`);
  const disabled = await begin(box);
  await provider.answer(disabled.begun.user_code, 'maria|signage-admins');
  expect(await disabled.ended()).toMatchObject({ state: 'denied', key: null });
  expect(await refusalOf(await createPerson(box, disabled.key)('GET', '/console/api/me'))).toEqual([
    401,
    'key_unknown',
  ]);

  const [stranger, declined] = [await begin(box), await begin(box)];
  await provider.answer(stranger.begun.user_code, 'eve|others');
  await provider.answer(declined.begun.user_code, null);
  expect([(await stranger.ended()).state, (await declined.ended()).state]).toEqual(['denied', 'denied']);
  expect(box.log()).not.toMatch(/id_token|access_token|refresh_token|eyJ[\w-]{10}/);
});

test('who has a key goes on while the provider is away', { ...walk, timeout: 60_000 }, async () => {
  const provider = await startProvider();
  const box = await startBox(provider.issuer);
  const { ask } = await addPerson(box, 'editor');
  const maria = await begin(box);
  await provider.answer(maria.begun.user_code, 'maria|guests');
  expect((await maria.ended()).state).toBe('done');
  provider.stop();
  expect((await ask('GET', '/console/api/site')).status).toBe(200);
  expect((await createPerson(box, maria.key)('GET', '/console/api/site')).status).toBe(200);
  const body = { public_key: makeKey().publicKey, device: 'x' };
  expect(await refusalOf(await box.post(path, body, { 'X-Forwarded-Proto': 'https' }))).toEqual([503, 'issuer_away']);
});

test('a key of a sign-in that has ended stays so if the clock is set back, also after a restart', {
  ...walk,
  timeout: 60_000,
}, async () => {
  const provider = await startProvider();
  let offset = 0;
  const wall = () => Date.now() + offset;
  const dataDir = temporaryFolder();
  const box = await startBox(provider.issuer, {}, dataDir, wall);
  const maria = await begin(box);
  await provider.answer(maria.begun.user_code, 'maria|guests');
  expect((await maria.ended()).state).toBe('done');
  const me = async (at: TestService) => createPerson(at, maria.key, wall)('GET', '/console/api/me');
  expect((await me(box)).status).toBe(200);
  offset = 13 * 3_600_000;
  await expect.poll(async () => refusalOf(await me(box)), patience).toEqual([401, 'key_unknown']);
  await expect.poll(() => existsSync(join(dataDir, 'people.over.json')), patience).toBe(true);
  offset = 60_000;
  await box.close();
  const again = await startBox(provider.issuer, {}, dataDir, wall);
  const refused = await me(again);
  expect(await refusalOf(refused)).toEqual([401, 'key_unknown']);
  expect(await refused.text()).toContain('Your sign-in has ended');
});

test('tokens that the provider has not made for this sign-in are refused, and a right one is taken once', {
  ...walk,
  timeout: 120_000,
}, async () => {
  const provider = await startFakeProvider();
  const { issuer, jwk, now, claims, sign } = provider;
  const wrong = await generateKeyPair('RS256');
  const dataDir = temporaryFolder();
  let box = await startBox(issuer, {}, dataDir);
  const beginWith = (make: MakeToken, address?: string) => {
    provider.state.token = make;
    return begin(box, makeKey(), address);
  };
  const stateOf = async (make: MakeToken): Promise<string> => (await (await beginWith(make)).ended()).state;
  const replayed = await sign(claims());
  const attempts: Record<string, MakeToken> = {
    'signed by another key': () => sign(claims(), wrong.privateKey),
    'for another audience': () => sign(claims({ aud: 'other' })),
    expired: () => sign(claims({ iat: now() - 300, exp: now() - 60 })),
    'dated an hour ago': () => sign(claims({ iat: now() - 3_600 })),
    'dated in an hour': () => sign(claims({ iat: now() + 3_600, exp: now() + 7_200 })),
    'of another issuer': () => sign(claims({ iss: 'http://127.0.0.1:1' })),
    'for another sign-in': () => sign(claims({ nonce: 'other' })),
    'without a signature': () => new UnsecuredJWT(claims()).encode(),
    'with an HMAC': () =>
      new SignJWT(claims()).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(JSON.stringify(jwk))),
    'without a role': () => sign(claims({ groups: 'guest' })),
    'no token': () => 'x',
  };
  const begun: [string, Awaited<ReturnType<typeof begin>>][] = [];
  for (const [name, make] of Object.entries(attempts)) {
    // Of an address at most five are open.
    begun.push([name, await beginWith(make, `192.0.2.${10 + begun.length}`)]);
  }
  const states = begun.map(async ([name, { ended }]) => [name, (await ended()).state]);
  expect(await Promise.all(states)).toEqual(Object.keys(attempts).map((name) => [name, 'denied']));
  expect(await stateOf(() => replayed)).toBe('done');
  expect(await stateOf(() => replayed)).toBe('denied');
  await box.close();
  box = await startBox(issuer, {}, dataDir);
  expect(await stateOf(() => replayed)).toBe('denied');
  expect(await stateOf((given) => sign(claims({ nonce: given, sub: 'other' })))).toBe('done');

  // The command line signs in on the box itself.
  provider.state.token = () => sign(claims({ sub: 'cli', name: 'Carl' }));
  const env = { XDG_CONFIG_HOME: temporaryFolder(), SIGNAGE_DATA_DIR: box.dataDir };
  const done = await signageHere(['--box', box.url, 'login'], env);
  expect([done.code, done.stdout]).toEqual([0, 'You are Carl, viewer, for 12 hours.\n']);
  expect(done.stderr).toContain('BDWP-HQPK');
  expect(JSON.parse((await signageHere(['--box', box.url, 'me', '--json'], env)).stdout)).toMatchObject({
    person: { name: 'Carl' },
  });
  provider.state.token = () => sign(claims({ groups: [] }));
  expect((await signageHere(['--box', box.url, 'login', '--yes'], env)).stderr).toContain('was refused');
});

test('a provider that is away for a moment ends no sign-in, and one that nobody answers ends', walk, async () => {
  const { issuer, state, claims, sign } = await startFakeProvider();
  const box = await startBox(issuer);
  state.troubles = [
    (response) => response.destroy(),
    (response) => void response.writeHead(503).end(),
    (response) => void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Back soon</h1>'),
    (response) => void response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"access'),
    (response) => void response.writeHead(429, { 'Content-Type': 'application/json' }).end('{"error":"slow"}'),
  ];
  state.token = () => sign(claims({ jti: randomUUID() }));
  const troubled = await Promise.all(state.troubles.map(() => begin(box)));
  const states = await Promise.all(troubled.map(async ({ ended }) => (await ended()).state));
  expect([states, state.troubles]).toEqual([Array.from({ length: 5 }, () => 'done'), []]);
  state.expiresIn = 2;
  state.token = () => null;
  const late = await begin(box);
  expect((await late.ended()).state).toBe('expired');
  // One refusal of the provider itself is enough.
  state.expiresIn = 60;
  state.troubles = [
    (response) => void response.writeHead(400, { 'Content-Type': 'application/json' }).end('{"error":"invalid_grant"}'),
  ];
  expect((await (await begin(box)).ended()).state).toBe('denied');
});

test(
  'who has as many keys as a person may have signs in all the same: the one that ends first goes',
  walk,
  async () => {
    const { issuer, state, claims, sign } = await startFakeProvider();
    const box = await startBox(issuer);
    state.token = () => sign(claims({ jti: randomUUID() }));
    const signIn = async (address: string) => {
      const { key, ended } = await begin(box, makeKey(), address);
      expect((await ended()).state).toBe('done');
      return key;
    };
    const first = await signIn('192.0.2.1');
    for (let count = 0; count < mostKeys - 1; count += 3)
      await Promise.all([0, 1, 2].map((each) => signIn(`192.0.2.${10 + count + each}`)));
    expect((await createPerson(box, first)('GET', '/console/api/me')).status).toBe(200);
    const last = await signIn('192.0.2.2');
    expect((await createPerson(box, last)('GET', '/console/api/me')).status).toBe(200);
    const refused = await createPerson(box, first)('GET', '/console/api/me');
    expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining('This key was removed.')]);
  },
);

test('twenty open sign-ins of four addresses keep nobody else out, and one that nobody asks after gives way', async () => {
  const { issuer } = await startFakeProvider();
  let offset = 0;
  const box = await startBox(issuer, {}, undefined, () => Date.now() + offset);
  const beginAt = (address: number) => begin(box, makeKey(), `192.0.2.${address}`);
  const refusalAt = async (address: number) =>
    refusalOf(
      await box.post(
        path,
        { public_key: makeKey().publicKey, device: 'x' },
        { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': `192.0.2.${address}` },
      ),
    );
  const many: Awaited<ReturnType<typeof begin>>[] = [];
  for (let count = 0; count < 20; count += 1) many.push(await beginAt(1 + Math.floor(count / 5)));
  const other = await beginAt(9);
  expect((await other.state()).state).toBe('pending');
  const states = await Promise.all(many.map(async ({ state }) => (await state()).state));
  expect(states).toEqual(['expired', ...Array.from({ length: 19 }, () => 'pending')]);
  for (const address of [1, 2]) expect(await refusalAt(address)).toEqual([429, 'too_many_requests']);

  offset = 31_000;
  // Its page still asks.
  await many[5]?.state();
  await beginAt(2);
  expect((await many[5]?.state())?.state).toBe('pending');
  expect((await many[6]?.state())?.state).toBe('expired');
});

test('at most five sign-ins of an address are open, and without a provider none is', async () => {
  const { issuer } = await startFakeProvider();
  const box = await startBox(issuer);
  for (let count = 0; count < 5; count += 1) await begin(box);
  const body = { public_key: makeKey().publicKey, device: 'x' };
  const secure = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '192.0.2.1' };
  expect(await refusalOf(await box.post(path, body, secure))).toEqual([429, 'too_many_requests']);
  const without = await startTestService({
    content: lobby,
    env: { ...secretSettings(operatorSecret), SIGNAGE_TRUST_PROXY: 'on' },
  });
  expect(await refusalOf(await without.post(path, body, secure))).toEqual([404, 'sign_on_unavailable']);
  const open = await startTestService({
    content: lobby,
    env: { SIGNAGE_OIDC_ISSUER: issuer, SIGNAGE_TRUST_PROXY: 'on' },
  });
  expect(await refusalOf(await open.post(path, body, secure))).toEqual([409, 'secret_required']);
  expect(await refusalOf(await open.get(`${path}/${'0'.repeat(32)}`))).toEqual([409, 'secret_required']);
  for (const wrong of ['http://login.example.com', 'https://user@login.example.com', 'x']) {
    await expect(startTestService({ env: { SIGNAGE_OIDC_ISSUER: wrong } })).rejects.toThrow('SIGNAGE_OIDC_ISSUER');
  }
  // A role by what people choose themselves would be everybody's.
  for (const wrong of ['editors', 'email:anna@example.com=admin', 'name:Anna=admin', 'preferred_username:anna=admin'])
    await expect(startTestService({ env: { SIGNAGE_OIDC_ROLES: wrong } })).rejects.toThrow('SIGNAGE_OIDC_ROLES');
});

test('the highest role of all claims counts', () => {
  const rules = roles.split(',');
  expect(roleOf({ groups: ['guests', 'signage-admins', 'signage-editors'] }, rules)).toBe('admin');
  expect(roleOf({ groups: 'signage-editors' }, rules)).toBe('editor');
  expect(roleOf({ groups: ['signage'], role: 'guests' }, rules)).toBe(null);
  expect(roleOf({ 'https://a/b': 'c' }, ['https://a/b:c=viewer'])).toBe('viewer');
  expect(roleOf({ 'urn:house:groups': ['c'], urn: 'house:groups:c' }, ['urn:house:groups:c=viewer'])).toBe('viewer');
  expect(roleOf({ urn: 'house:groups:c' }, ['urn:house:groups:c=viewer'])).toBe(null);
});
