/** People: made, invited, joined, signed in with a key, removed. */
import { createHmac, hkdfSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { sha256Hex, signAnswer } from '../../service/auth/sign.ts';
import { joinInfo } from '../../service/domain/joining.ts';
import { lobby } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { createOperator, operatorSecret, refusalOf, secretSettings } from '../support/operator.ts';
import {
  addPerson,
  createPerson,
  holdBody,
  invite,
  joinWith,
  localHeaders,
  makeKey,
  proofOf,
} from '../support/people.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { testTempo } from '../support/tempo.ts';

const env = secretSettings(operatorSecret);
const api = '/console/api';

const start = async (more: Record<string, string> = {}, tempo = testTempo) => {
  const box = await startTestService({ content: lobby, env: { ...env, ...more }, tempo });
  return { box, admin: createOperator(box, operatorSecret) };
};

test('a person is made, invited, joins with a key, and signs with it', async () => {
  const { box, admin } = await start();
  const put = (body: object) => admin('PUT', `${api}/people/maria`, body);
  const made = await put({ name: 'Maria', role: 'editor', tags: ['lobby'] });
  expect(made.status).toBe(201);
  expect(await made.json()).toMatchObject({
    id: 'maria',
    name: 'Maria',
    role: 'editor',
    tags: ['lobby'],
    keys: [],
    disabled_at: null,
  });
  expect((await put({ name: 'Maria L.', role: 'editor', tags: ['lobby'] })).status).toBe(200);

  const invited = await admin('POST', `${api}/people/maria/invitations`, undefined, localHeaders(box));
  expect(invited.status).toBe(201);
  const { code, url, expires_at } = await invited.json();
  expect(code).toMatch(/^[A-Z2-7]{26}$/);
  expect(url).toContain(`/console#join=maria.${code}`);
  expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(23.9 * 3_600_000);

  const key = makeKey();
  const proof = proofOf(code, 'maria', key.publicKey, 'phone');
  const joined = await joinWith(box, code, 'maria', key);
  expect(joined.status).toBe(201);
  const text = await joined.text();
  expect(JSON.parse(text)).toEqual({
    key: key.keyId,
    person: { id: 'maria', name: 'Maria L.' },
    role: 'editor',
    tags: ['lobby'],
    root: null,
  });
  const proofKey = new Uint8Array(hkdfSync('sha256', code, '', joinInfo, 32));
  const clock = joined.headers.get('x-signage-clock') ?? '';
  expect(joined.headers.get('x-signage-answer-signature')).toBe(
    signAnswer(proofKey, { request: proof, status: 201, sha256: sha256Hex(text), clock }),
  );
  // Once.
  expect(await refusalOf(await joinWith(box, code, 'maria', makeKey()))).toEqual([403, 'invitation_invalid']);

  const maria = createPerson(box, key);
  expect(await (await maria('GET', `${api}/me`)).json()).toEqual({
    person: { id: 'maria', name: 'Maria L.' },
    role: 'editor',
    tags: ['lobby'],
  });
  expect(await (await admin('GET', `${api}/me`)).json()).toEqual({ person: null, role: 'admin', tags: [] });
  const { people } = await (await maria('GET', `${api}/people`)).json();
  expect(people).toMatchObject([
    { id: 'maria', keys: [{ id: key.keyId, device: 'phone', invited_by: null, last_used_at: expect.any(String) }] },
  ]);
  expect(await refusalOf(await maria('PUT', `${api}/people/eve`, { name: 'Eve', role: 'admin' }))).toEqual([
    403,
    'role_required',
  ]);

  const draft = { title: 'Easter', base_sha256: null, content: { screens: [] } };
  const saved = await maria('PUT', `${api}/drafts/easter`, draft, { 'x-signage-operator': 'Somebody' });
  expect(await saved.json()).toMatchObject({ author: { id: 'maria', name: 'Maria L.' } });
  await maria('DELETE', `${api}/drafts/easter`);
  const { records } = await (await admin('GET', `${api}/audit`)).json();
  expect(records[0]).toMatchObject({
    action: 'draft.delete',
    operator: 'Maria L.',
    person: { id: 'maria', name: 'Maria L.' },
  });
  expect(records.find(({ action }: { action: string }) => action === 'person.invite')).toMatchObject({
    target: 'maria',
    person: null,
  });
});

test('without a secret there are no people', async () => {
  const box = await startTestService({ content: lobby });
  const ask = createOperator(box, null);
  expect(await (await ask('GET', `${api}/me`)).json()).toEqual({ person: null, role: 'admin', tags: [] });
  const key = makeKey();
  const join_ = { person: 'a', public_key: key.publicKey, device: 'x', proof: '0'.repeat(64) };
  for (const [method, path, body] of [
    ['GET', '/people'],
    ['PUT', '/people/a', { name: 'A', role: 'admin' }],
    ['DELETE', '/people/a'],
    ['POST', '/people/a/invitations'],
    ['POST', '/people/a/keys', { public_key: key.publicKey, device: 'x' }],
    ['DELETE', `/people/a/keys/${key.keyId}`],
    ['POST', '/join', join_],
  ] as const) {
    expect([method, path, ...(await refusalOf(await ask(method, api + path, body, localHeaders(box))))]).toEqual([
      method,
      path,
      409,
      'secret_required',
    ]);
  }
});

test('an invitation is told over https or to the box itself alone, ends with the next one, and after 24 hours', async () => {
  let ahead = 0;
  const box = await startTestService({
    content: lobby,
    env: { ...env, SIGNAGE_TRUST_PROXY: 'on' },
    wall: () => Date.now() + ahead,
  });
  const admin = createOperator(box, operatorSecret, () => Date.now() + ahead);
  await admin('PUT', `${api}/people/maria`, { name: 'Maria', role: 'viewer' });
  const ask = (headers?: Record<string, string>) =>
    admin('POST', `${api}/people/maria/invitations`, undefined, headers);
  expect(await refusalOf(await ask())).toEqual([403, 'secure_required']);
  const { code: first } = await (await ask({ 'X-Forwarded-Proto': 'https' })).json();
  const { code } = await (await ask(localHeaders(box))).json();
  expect(await refusalOf(await joinWith(box, first, 'maria', makeKey()))).toEqual([403, 'invitation_invalid']);
  ahead = 24 * 3_600_000 + 1_000;
  expect(await refusalOf(await joinWith(box, code, 'maria', makeKey()))).toEqual([403, 'invitation_invalid']);
  expect(
    await refusalOf(await admin('POST', `${api}/people/nobody/invitations`, undefined, localHeaders(box))),
  ).toEqual([404, 'person_not_found']);
});

test('an invitation that was made by a clock years ahead is refused once the clock is right, and stays so', async () => {
  let ahead = 2 * 365 * 86_400_000;
  const wall = () => Date.now() + ahead;
  const box = await startTestService({ env, content: lobby, wall, isSynchronized: () => ahead === 0 });
  const ask = createOperator(box, operatorSecret, wall);
  await ask('PUT', `${api}/people/maria`, { name: 'Maria', role: 'viewer' });
  const { code } = await (await ask('POST', `${api}/people/maria/invitations`, undefined, localHeaders(box))).json();
  ahead = 0;
  expect(await refusalOf(await joinWith(box, code, 'maria', makeKey()))).toEqual([403, 'invitation_invalid']);
  await expect.poll(() => existsSync(join(box.dataDir, 'people.over.json')), patience).toBe(true);
  ahead = 2 * 365 * 86_400_000;
  expect(await refusalOf(await joinWith(box, code, 'maria', makeKey()))).toEqual([403, 'invitation_invalid']);
});

test('an invitation that has ended stays so if the clock is set back, also after a restart', async () => {
  let ahead = 0;
  const setup = { env, dataDir: temporaryFolder(), wall: () => Date.now() + ahead };
  const box = await startTestService({ ...setup, content: lobby });
  await createOperator(box, operatorSecret)('PUT', `${api}/people/maria`, { name: 'Maria', role: 'viewer' });
  const code = await invite(box, 'maria');
  ahead = 24 * 3_600_000 + 1_000;
  const isMarked = () => existsSync(join(box.dataDir, 'people.over.json'));
  await expect.poll(isMarked, patience).toBe(true);
  ahead = 0;
  expect(await refusalOf(await joinWith(box, code, 'maria', makeKey()))).toEqual([403, 'invitation_invalid']);
  await box.close();
  const again = await startTestService(setup);
  expect(await refusalOf(await joinWith(again, code, 'maria', makeKey()))).toEqual([403, 'invitation_invalid']);
  expect((await joinWith(again, await invite(again, 'maria'), 'maria', makeKey())).status).toBe(201);
  // Another box may still have the first one, which the second has replaced here.
  ahead = 24 * 3_600_000 + 1_000;
  const marks = () => JSON.parse(readFileSync(join(box.dataDir, 'people.over.json'), 'utf8')).body.over;
  await expect.poll(marks, patience).toHaveLength(2);
});

test.each([
  ['is disabled', 'DELETE', '', undefined, 403, undefined],
  ['is lowered', 'PUT', '', { name: 'Eve', role: 'viewer' }, 201, 'viewer'],
  ['loses a key', 'DELETE', '/keys/KEY', undefined, 201, 'admin'],
] as const)('invitations of somebody who %s end: those that they made, and what would let them in', async (...row) => {
  const [, method, path, body, own, role] = row;
  const { box, admin } = await start();
  const eve = await addPerson(box, 'admin', { id: 'eve' });
  const codeFor = async (ask: typeof admin, id: string): Promise<string> => {
    await admin('PUT', `${api}/people/${id}`, { name: id, role: 'admin' });
    return (await (await ask('POST', `${api}/people/${id}/invitations`, undefined, localHeaders(box))).json()).code;
  };
  await addPerson(box, 'admin');
  const [forEve, theirs, others] = [
    await codeFor(admin, 'eve'),
    await codeFor(eve.ask, 'mallory'),
    await codeFor(admin, 'olga'),
  ];
  const ended = await admin(method, `${api}/people/eve${path.replace('KEY', eve.key.keyId)}`, body);
  expect(ended.status).toBeLessThan(300);
  // Who was lowered comes back with the lower role; who lost a phone, by what an admin sends them.
  const back = await joinWith(box, forEve, 'eve', makeKey());
  expect([back.status, (await back.json()).role]).toEqual([own, role]);
  // Also when their maker is an admin again.
  await admin('PUT', `${api}/people/eve`, { name: 'Eve', role: 'admin', disabled: false });
  expect(await refusalOf(await joinWith(box, theirs, 'mallory', makeKey()))).toEqual([403, 'invitation_invalid']);
  expect((await joinWith(box, others, 'olga', makeKey())).status).toBe(201);
});

test('an admin invites themselves for a second phone, also where they then leave the first one', async () => {
  const { box } = await start();
  await addPerson(box, 'admin');
  const eve = await addPerson(box, 'admin', { id: 'eve' });
  const invited = await eve.ask('POST', `${api}/people/eve/invitations`, undefined, localHeaders(box));
  expect((await eve.ask('DELETE', `${api}/people/eve/keys/${eve.key.keyId}`)).status).toBe(204);
  expect((await joinWith(box, (await invited.json()).code, 'eve', makeKey())).status).toBe(201);
});

test('ten wrong proofs a minute are too many, and a right one never is', async () => {
  const { box, admin } = await start();
  await admin('PUT', `${api}/people/maria`, { name: 'Maria', role: 'viewer' });
  const code = await invite(box, 'maria');
  const wrong = async () => refusalOf(await joinWith(box, 'A'.repeat(26), 'maria', makeKey()));
  for (let count = 0; count < 10; count += 1) expect(await wrong()).toEqual([403, 'invitation_invalid']);
  expect(await wrong()).toEqual([429, 'too_many_requests']);
  const weak = { ...makeKey(), publicKey: Buffer.alloc(32).toString('base64url') };
  expect(await refusalOf(await joinWith(box, code, 'maria', weak))).toEqual([400, 'invalid_field']);
  expect((await joinWith(box, code, 'maria', makeKey())).status).toBe(201);
});

test('the proof is made over the name of the device as it is sent, of at most 64 characters', async () => {
  const { box, admin } = await start();
  await admin('PUT', `${api}/people/maria`, { name: 'Maria', role: 'viewer' });
  const code = await invite(box, 'maria');
  for (const device of ['x'.repeat(65), '📱'.repeat(65), '  ', '', 'a\nb']) {
    expect(await refusalOf(await joinWith(box, code, 'maria', makeKey(), device))).toEqual([400, 'invalid_field']);
  }
  expect((await joinWith(box, code, 'maria', makeKey(), ' her phone ')).status).toBe(201);
  const emoji = '📱'.repeat(64);
  expect((await joinWith(box, await invite(box, 'maria'), 'maria', makeKey(), emoji)).status).toBe(201);
  const { people } = await (await admin('GET', `${api}/people`)).json();
  expect(people[0].keys.map(({ device }: { device: string }) => device).sort()).toEqual(['her phone', emoji].sort());
});

test('a removed key and a disabled person are refused at once, and told by whom', async () => {
  // What is under way with a key goes on for a while.
  const { box, admin } = await start({}, { ...testTempo, people: { ...testTempo.people, end: 60_000 } });
  const boss = await addPerson(box, 'admin', { id: 'anna', name: 'Anna' });
  const maria = await addPerson(box, 'editor', { id: 'maria' });
  const second = makeKey();
  const added = await maria.ask('POST', `${api}/people/maria/keys`, { public_key: second.publicKey, device: 'laptop' });
  expect([added.status, await added.json()]).toEqual([201, { key: second.keyId }]);
  const other = createPerson(box, second);
  expect((await other('GET', `${api}/me`)).status).toBe(200);
  expect((await maria.ask('DELETE', `${api}/people/maria/keys/${second.keyId}`)).status).toBe(204);
  expect(await refusalOf(await other('GET', `${api}/me`))).toEqual([401, 'key_unknown']);
  // Never again, neither for this person nor for another one.
  const again = { public_key: second.publicKey, device: 'laptop' };
  expect(await refusalOf(await maria.ask('POST', `${api}/people/maria/keys`, again))).toEqual([
    403,
    'invitation_invalid',
  ]);
  expect(await refusalOf(await boss.ask('POST', `${api}/people/maria/keys`, again))).toEqual([403, 'person_required']);
  expect(await refusalOf(await admin('POST', `${api}/people/maria/keys`, again))).toEqual([403, 'person_required']);
  const stolen = { public_key: boss.key.publicKey, device: 'x' };
  expect(await refusalOf(await maria.ask('POST', `${api}/people/maria/keys`, stolen))).toEqual([
    403,
    'invitation_invalid',
  ]);
  expect(await refusalOf(await maria.ask('DELETE', `${api}/people/anna/keys/${boss.key.keyId}`))).toEqual([
    403,
    'role_required',
  ]);

  const open = await invite(box, 'maria');
  expect((await boss.ask('DELETE', `${api}/people/maria`)).status).toBe(204);
  const refused = await maria.ask('GET', `${api}/me`);
  expect(Math.abs(Number(refused.headers.get('x-signage-clock')) - Date.now())).toBeLessThan(60_000);
  expect(await refused.json()).toEqual({ error: { code: 'key_unknown', message: 'You were disabled by Anna.' } });
  expect((await boss.ask('PUT', `${api}/people/maria`, { name: 'Maria', role: 'editor' })).status).toBe(200);
  expect(await refusalOf(await maria.ask('GET', `${api}/me`))).toEqual([401, 'key_unknown']);
  await boss.ask('PUT', `${api}/people/maria`, { name: 'Maria', role: 'editor', disabled: false });
  // What was open then stays ended.
  expect(await refusalOf(await joinWith(box, open, 'maria', makeKey()))).toEqual([403, 'invitation_invalid']);
  expect((await maria.ask('GET', `${api}/me`)).status).toBe(200);

  // Who asks is judged when the change is made, not when its body was announced.
  const eve = await addPerson(box, 'admin', { id: 'eve' });
  const third = makeKey();
  const adding = { public_key: third.publicKey, device: 'x' };
  const add = await holdBody(box, eve.key, ['POST', `${api}/people/eve/keys`, adding]);
  expect((await boss.ask('DELETE', `${api}/people/eve/keys/${eve.key.keyId}`)).status).toBe(204);
  expect(await add()).toEqual([401, 'key_unknown']);
  expect(await refusalOf(await createPerson(box, third)('GET', `${api}/me`))).toEqual([401, 'key_unknown']);
  const paul = await addPerson(box, 'admin', { id: 'paul' });
  const make = await holdBody(box, paul.key, ['PUT', `${api}/people/puppet`, { name: 'P', role: 'admin' }]);
  await boss.ask('PUT', `${api}/people/paul`, { name: 'Paul', role: 'viewer' });
  expect(await make()).toEqual([403, 'role_required']);
});

test('a device whose clock is 31 s or a year off is refused, and told the time of the box', async () => {
  const { box } = await start();
  const { key } = await addPerson(box, 'viewer');
  const off = (ms: number) => createPerson(box, key, () => Date.now() + ms)('GET', `${api}/me`);
  expect((await off(25_000)).status).toBe(200);
  for (const ms of [-31_000, 31_000, -365 * 86_400_000, 365 * 86_400_000]) {
    const answer = await off(ms);
    expect([ms, ...(await refusalOf(answer))]).toEqual([ms, 401, 'signature_stale']);
    expect(Math.abs(Number(answer.headers.get('x-signage-clock')) - Date.now())).toBeLessThan(10_000);
  }
});

test('a key that was copied is that of the person on both devices, until it is removed', async () => {
  const { box } = await start();
  const { key, ask } = await addPerson(box, 'editor', { id: 'maria' });
  const copy = createPerson(box, { ...key });
  expect(await (await copy('GET', `${api}/me`)).json()).toMatchObject({ person: { id: 'maria' } });
  const { people } = await (await ask('GET', `${api}/people`)).json();
  expect(people[0].keys).toMatchObject([{ id: key.keyId, last_used_at: expect.any(String) }]);
  expect((await ask('DELETE', `${api}/people/maria/keys/${key.keyId}`)).status).toBe(204);
  for (const each of [ask, copy]) expect(await refusalOf(await each('GET', `${api}/me`))).toEqual([401, 'key_unknown']);
});

test('who makes a person changes nobody who was made meanwhile', async () => {
  const { admin } = await start();
  const put = (role: string) => admin('PUT', `${api}/people/maria`, { name: 'Maria', role }, { 'If-None-Match': '*' });
  expect((await put('admin')).status).toBe(201);
  expect(await refusalOf(await put('viewer'))).toEqual([412, 'precondition_failed']);
  expect(await (await admin('GET', `${api}/people`)).json()).toMatchObject({
    people: [{ id: 'maria', role: 'admin' }],
  });
});

test('the last admin with a key is neither disabled nor lowered, nor loses the last key', async () => {
  const { box, admin } = await start();
  await admin('PUT', `${api}/people/b`, { name: 'B', role: 'admin' });
  expect((await admin('DELETE', `${api}/people/b`)).status).toBe(204);
  const anna = await addPerson(box, 'admin', { id: 'anna' });
  const attempts = async () => [
    await refusalOf(await admin('DELETE', `${api}/people/anna`)),
    await refusalOf(await admin('PUT', `${api}/people/anna`, { name: 'Anna', role: 'editor' })),
    await refusalOf(await anna.ask('DELETE', `${api}/people/anna/keys/${anna.key.keyId}`)),
  ];
  expect(await attempts()).toEqual(Array.from({ length: 3 }, () => [409, 'last_admin']));
  await addPerson(box, 'admin', { id: 'carl' });
  expect((await admin('PUT', `${api}/people/anna`, { name: 'Anna', role: 'editor' })).status).toBe(200);
  expect(await refusalOf(await admin('PUT', `${api}/people/x`, { name: 'X', role: 'admin', tags: ['a'] }))).toEqual([
    400,
    'invalid_field',
  ]);
});

test('with SIGNAGE_REQUIRE_PEOPLE the secret opens nothing once an admin has joined, but on the box itself', async () => {
  const { box, admin } = await start({ SIGNAGE_REQUIRE_PEOPLE: 'on' });
  await addPerson(box, 'editor', { id: 'eve' });
  expect((await admin('GET', `${api}/site`)).status).toBe(200);
  const anna = await addPerson(box, 'admin', { id: 'anna' });
  expect(await refusalOf(await admin('GET', `${api}/site`))).toEqual([403, 'person_required']);
  expect((await admin('GET', `${api}/site`, undefined, localHeaders(box))).status).toBe(200);
  expect((await admin('GET', `${api}/me`)).status).toBe(200);
  expect((await anna.ask('GET', `${api}/site`)).status).toBe(200);
  await expect(startTestService({ env: { SIGNAGE_REQUIRE_PEOPLE: 'on' } })).rejects.toThrow('SIGNAGE_REQUIRE_PEOPLE');
});

test('with SIGNAGE_REQUIRE_PEOPLE who joined with a lower role closes it to the secret as an admin, and it stays so', async () => {
  const { box, admin } = await start({ SIGNAGE_REQUIRE_PEOPLE: 'on' });
  const eve = await addPerson(box, 'editor', { id: 'eve' });
  const adam = await addPerson(box, 'editor', { id: 'adam' });
  expect((await admin('PUT', `${api}/people/eve`, { name: 'Eve', role: 'admin' })).status).toBe(200);
  const required = [403, 'person_required'];
  expect(await refusalOf(await admin('GET', `${api}/site`))).toEqual(required);
  expect((await eve.ask('PUT', `${api}/people/adam`, { name: 'Adam', role: 'admin' })).status).toBe(200);
  expect((await adam.ask('PUT', `${api}/people/eve`, { name: 'Eve', role: 'editor' })).status).toBe(200);
  expect(await refusalOf(await admin('GET', `${api}/site`))).toEqual(required);
});

test('no code, proof or key of an invitation is in a log, the audit, /healthz, /metrics or a file that is not sealed', async () => {
  const { box, admin } = await start();
  await admin('PUT', `${api}/people/maria`, { name: 'Maria', role: 'admin' });
  const code = await invite(box, 'maria');
  const key = makeKey();
  const proof = proofOf(code, 'maria', key.publicKey, 'phone');
  const derived = Buffer.from(hkdfSync('sha256', code, '', joinInfo, 32));
  await joinWith(box, code, 'maria', makeKey());
  const open = await invite(box, 'maria');
  const derivedOpen = Buffer.from(hkdfSync('sha256', open, '', joinInfo, 32));
  const markers = [
    code,
    open,
    proof,
    ...[derived, derivedOpen].flatMap((each) => [each.toString('base64url'), each.toString('hex')]),
  ];
  const texts = [box.log()];
  for (const path of ['/healthz', '/metrics']) texts.push(await (await box.get(path)).text());
  for (const path of ['/audit', '/people', '/site']) texts.push(await (await admin('GET', api + path)).text());
  // What it is writing at the moment has a name that goes.
  await box.close();
  const read = (folder: string): void => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (statSync(path).isDirectory()) read(path);
      else texts.push(readFileSync(path, 'latin1'));
    }
  };
  read(box.dataDir);
  for (const marker of markers) expect(texts.some((text) => text.includes(marker))).toBe(false);
  expect(createHmac('sha256', derived).update('x').digest()).toHaveLength(32);
});

test('sockets of a key end with it, and an upload does', async () => {
  const { box } = await start();
  await addPerson(box, 'admin', { id: 'anna' });
  const admin = createOperator(box, operatorSecret);
  const eve = await addPerson(box, 'editor', { id: 'eve' });
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  async function* endless() {
    for (; !isOver; await pause(20)) yield new Uint8Array(1024);
  }
  const { signAsPerson } = await import('../../service/auth/sign.ts');
  const url = `${box.url}/api/media/long.bin`;
  const headers = await signAsPerson(eve.key, { method: 'PUT', url, body: '', recipient: box.nodeId });
  const upload = fetch(url, { method: 'PUT', headers, body: endless(), duplex: 'half' } as unknown as RequestInit).then(
    ({ status }) => status,
    () => 'ended',
  );
  // An editor's key counts as the token of a page does.
  const target = '/api/screens/lobby/socket?deviceId=d1';
  const signed = await signAsPerson(eve.key, { method: 'GET', url: box.url + target, body: '', recipient: box.nodeId });
  const socket = new WebSocket(box.url.replace('http', 'ws') + target, ['signage.v1'], { headers: signed });
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  const closed = once(socket, 'close');
  await new Promise((resolve) => setTimeout(resolve, 200));
  const removedAt = performance.now();
  await admin('DELETE', `${api}/people/eve`);
  await closed;
  expect(performance.now() - removedAt).toBeLessThan(2_000);
  await expect.poll(() => Promise.race([upload, Promise.resolve('open')]), patience).toBe('ended');
});
