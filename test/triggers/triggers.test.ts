/** Triggers, as another system fires them. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AuditRecord } from '../../service/contract/console/site.ts';
import type { NewTrigger, Trigger, TriggerDid, TriggerTrial } from '../../service/contract/console/triggers.ts';
import { startBox, untilTogether } from '../peers/support.ts';
import { startReceiver } from '../records/receiver.ts';
import { healthOf, patience, payloadOf } from '../support/observe.ts';
import { type Ask, createOperator, operatorSecret, refusalOf, secretSettings } from '../support/operator.ts';
import { joinScreen } from '../support/page.ts';
import { walk } from '../support/soak.ts';

const content = {
  screens: [
    { name: 'Lobby', slug: 'lobby', playlist_id: 'welcome', tags: ['public'] },
    { name: 'Door', slug: 'door', playlist_id: 'welcome' },
  ],
  playlists: [
    { id: 'welcome', slides: [{ id: 'hello', kind: 'text', title: 'Hello' }] },
    { id: 'party', slides: [{ id: 'cake', kind: 'text', title: 'Cake' }] },
  ],
  programmes: [{ id: 'day', targets: ['all'], playlist_id: 'welcome', priority: 10 }],
  messages: [
    { id: 'fire', title: 'Fire', level: 'emergency', minutes: null },
    { id: 'lunch', title: 'Lunch', level: 'info', minutes: 30 },
  ],
};
const env = secretSettings(operatorSecret);

type Box = Awaited<ReturnType<typeof startBox>>;

const make = async (ask: Ask, effect: object, name = 'A button'): Promise<NewTrigger> =>
  (await (await ask('POST', '/console/api/triggers', { name, effect })).json()) as NewTrigger;

/** As a program that sends what it likes. */
const fire = (box: Box, token: string, init: RequestInit = {}): Promise<Response> =>
  box.get(`/api/triggers/${token}`, { method: 'POST', ...init });
const didOf = async (answer: Response): Promise<TriggerDid['did']> => ((await answer.json()) as TriggerDid).did;
const slidesOf = async (box: Box, slug: string) => (await payloadOf(box, slug)).slides.map(({ id }) => id);
const listOf = async (ask: Ask) =>
  ((await (await ask('GET', '/console/api/triggers')).json()) as { triggers: Trigger[] }).triggers;
const auditOf = async (ask: Ask) =>
  ((await (await ask('GET', '/console/api/audit')).json()) as { records: AuditRecord[] }).records;

test('a fire panel shows and ends a saved message on all boxes, and nothing but the answer holds the token', async () => {
  const first = await startBox([], { content, env });
  const second = await startBox([first], { content: undefined, env });
  await untilTogether([first, second]);
  const ask = createOperator(first, operatorSecret);
  await expect.poll(() => slidesOf(second, 'lobby').catch(() => null), patience).toEqual(['hello']);

  const alarm = await make(ask, { takeover: { message_id: 'fire', targets: ['all'] } }, 'Fire panel');
  const over = await make(ask, { end: { message_id: 'fire' } }, 'All clear');
  expect(alarm.token).toMatch(/^[0-9a-f]{32}$/);
  expect(alarm.url).toBe(`${first.url}/api/triggers/${alarm.token}`);
  await expect.poll(() => listOf(createOperator(second, operatorSecret)), patience).toHaveLength(2);

  // On another box, with a body that is no JSON.
  const answer = await fire(second, alarm.token, { body: '<alarm/>', headers: { 'Content-Type': 'text/xml' } });
  expect([answer.status, await didOf(answer)]).toEqual([
    200,
    { takeover: { id: 'message-fire', targets: ['all'], until: null } },
  ]);
  await expect.poll(() => slidesOf(first, 'lobby'), patience).toEqual(['takeover-message-fire', 'hello']);
  // Fired again it starts anew, and is there once.
  expect((await fire(first, alarm.token)).status).toBe(200);
  expect(await slidesOf(first, 'door')).toEqual(['takeover-message-fire', 'hello']);

  expect(await didOf(await fire(first, over.token))).toEqual({ end: { id: 'message-fire', ended: true } });
  expect(await didOf(await fire(first, over.token))).toEqual({ end: { id: 'message-fire', ended: false } });
  await expect.poll(() => slidesOf(second, 'lobby'), patience).toEqual(['hello']);

  const records = await auditOf(ask);
  const fired = records.filter(({ action }) => action === 'trigger.fire');
  expect(fired).toHaveLength(4);
  expect(fired[0]?.after).toMatchObject({ name: expect.any(String) });
  expect(records.find(({ action }) => action === 'trigger.create')).toMatchObject({
    target: over.id,
    before: null,
    after: { name: 'All clear', effect: { end: { message_id: 'fire' } } },
  });
  const metrics = await (await first.get('/metrics')).text();
  expect(metrics).toContain(`signage_triggers_total{trigger="${alarm.id}",result="ok"} 1`);
  const everything = [
    first.log(),
    second.log(),
    metrics,
    JSON.stringify([records, await listOf(ask), await healthOf(first)]),
    readFileSync(join(first.dataDir, 'shared', 'triggers.json'), 'utf8'),
    readFileSync(join(first.dataDir, 'content.json'), 'utf8'),
  ].join();
  for (const { token } of [alarm, over]) expect(everything).not.toContain(token);
  expect(first.log()).toContain('/api/triggers/...');

  expect((await ask('DELETE', `/console/api/triggers/${alarm.id}`)).status).toBe(204);
  await expect.poll(async () => await (await first.get('/metrics')).text(), patience).not.toContain(alarm.id);
  expect(await refusalOf(await fire(first, alarm.token))).toEqual([404, 'trigger_not_found']);
  await expect.poll(async () => (await fire(second, alarm.token)).status, patience).toBe(404);
  expect(await refusalOf(await ask('DELETE', `/console/api/triggers/${alarm.id}`))).toEqual([404, 'trigger_not_found']);
});

test('the audit of a trigger has no password and no key of the page that its command shows', async () => {
  const service = await startBox([], { content, env });
  const ask = createOperator(service, operatorSecret);
  const url = 'https://me:M4rk3r@example.com/board?token=M4rk3r#M4rk3r';
  const { id } = await make(ask, { command: { targets: ['all'], command: 'redirect', url } });
  await ask('DELETE', `/console/api/triggers/${id}`);
  const records = (await auditOf(ask)).filter(({ target }) => target === id);
  expect(records.map(({ action }) => action)).toEqual(['trigger.delete', 'trigger.create']);
  expect(JSON.stringify(records)).toContain('https://example.com/board');
  expect(JSON.stringify(records)).not.toContain('M4rk3r');
});

test('a playlist of a trigger is above all programmes and below takeovers until its time is over, restart or not', async () => {
  let offset = 0;
  const wall = () => Date.now() + offset;
  const service = await startBox([], { content, env, wall, isSynchronized: () => true });
  const ask = createOperator(service, operatorSecret, wall);
  const party = await make(ask, { playlist: { targets: ['tag:public'], playlist_id: 'party', minutes: 30 } });
  const back = await make(ask, { playlist: { targets: ['all'], playlist_id: 'welcome', minutes: 10 } });

  const { playlist } = await didOf(await fire(service, party.token));
  expect(playlist).toMatchObject({ playlist_id: 'party', targets: ['tag:public'] });
  expect(Date.parse(playlist?.until ?? '') - wall()).toBeCloseTo(1_800_000, -4);
  expect([await slidesOf(service, 'lobby'), await slidesOf(service, 'door')]).toEqual([['cake'], ['hello']]);
  const due = async () => (await (await ask('GET', '/console/api/screens/lobby/programme')).json()) as object;
  expect(await due()).toMatchObject({
    playlist_id: 'party',
    programme_id: null,
    reason: 'trigger',
    next: { at: playlist?.until, playlist_id: 'welcome' },
  });
  await ask('PUT', '/console/api/takeovers/lift', {
    targets: ['all'],
    level: 'info',
    title: 'Lift',
    until: new Date(wall() + 60_000).toISOString(),
  });
  expect(await slidesOf(service, 'lobby')).toEqual(['takeover-lift', 'cake']);
  await ask('DELETE', '/console/api/takeovers/lift');

  // The latest wins, and gives way to the one before when it is over.
  offset += 1_000;
  expect((await fire(service, back.token)).status).toBe(200);
  expect(await slidesOf(service, 'lobby')).toEqual(['hello']);
  offset += 601_000;
  await expect.poll(() => slidesOf(service, 'lobby'), patience).toEqual(['cake']);

  await service.close();
  const again = await startBox([], {
    dataDir: service.dataDir,
    content: undefined,
    env,
    wall,
    isSynchronized: () => true,
  });
  expect(await slidesOf(again, 'lobby')).toEqual(['cake']);
  offset += 1_300_000;
  await expect.poll(() => slidesOf(again, 'lobby'), patience).toEqual(['hello']);
  await expect.poll(async () => (await payloadOf(again, 'lobby')).programme?.spans.length, patience).toBe(1);
});

test('a playlist of a trigger that is over stays over, whatever the clock says later, and over a restart', async () => {
  let offset = 0;
  const wall = () => Date.now() + offset;
  const setup = { env, wall, isSynchronized: () => true };
  const service = await startBox([], { ...setup, content });
  const ask = createOperator(service, operatorSecret, wall);
  const party = await make(ask, { playlist: { targets: ['all'], playlist_id: 'party', minutes: 30 } });
  const once = await didOf(await fire(service, party.token));
  expect(await slidesOf(service, 'lobby')).toEqual(['cake']);
  offset = 31 * 60_000;
  await expect.poll(() => slidesOf(service, 'lobby'), patience).toEqual(['hello']);

  offset = 0;
  const bye = [{ id: 'welcome', slides: [{ id: 'bye', kind: 'text', title: 'Bye' }] }, content.playlists[1]];
  service.writeContent({ ...content, playlists: bye });
  await expect.poll(() => slidesOf(service, 'lobby'), patience).toEqual(['bye']);
  expect((await payloadOf(service, 'lobby')).programme?.spans.length).toBe(1);
  await service.close();
  const again = await startBox([], { ...setup, dataDir: service.dataDir, content: undefined });
  expect(await slidesOf(again, 'lobby')).toEqual(['bye']);
  // Fired once more it plays.
  const more = await didOf(await fire(again, party.token));
  expect(await slidesOf(again, 'lobby')).toEqual(['cake']);
  expect(String(more.playlist?.until) > String(once.playlist?.until)).toBe(true);
});

test('a trigger sends a command to the pages of its screens', async () => {
  const service = await startBox([], { content });
  const ask = createOperator(service, null);
  const page = await joinScreen(service, 'lobby');
  const dark = await make(ask, { command: { targets: ['tag:public'], command: 'blackout', blackout: true } });
  expect(await didOf(await fire(service, dark.token))).toEqual({
    command: { command: 'blackout', targets: ['tag:public'], sent: 1, degraded: false },
  });
  await expect
    .poll(() => page.messages.filter(({ type }) => type === 'command'), patience)
    .toMatchObject([{ command: 'blackout', blackout: true }]);
});

test('one is tried without anything being shown', async () => {
  const service = await startBox([], { content });
  const ask = createOperator(service, null);
  await joinScreen(service, 'lobby');
  const { id } = await make(ask, { takeover: { message_id: 'lunch', targets: ['tag:public', 'door'] } });
  const attempt = async () => (await (await ask('POST', `/console/api/triggers/${id}/try`)).json()) as TriggerTrial;
  expect(await attempt()).toEqual({ id, ok: true, issue: null, screens: ['lobby', 'door'], displays: 1 });
  expect(await slidesOf(service, 'lobby')).toEqual(['hello']);
  service.writeContent({ ...content, messages: [] });
  await expect.poll(attempt, patience).toMatchObject({ ok: false, issue: 'The content has no message with this id.' });
});

test('content without the message of a trigger is warned of, and firing it is an alert', async () => {
  const receiver = await startReceiver();
  const service = await startBox([], { content, env: { ...env, SIGNAGE_ALERT_URL: receiver.url } });
  const ask = createOperator(service, operatorSecret);
  const lunch = await make(ask, { takeover: { message_id: 'lunch', targets: ['all'] } }, 'Lunch bell');
  const without = { ...content, messages: [] };
  const warning = '"Lunch bell": the trigger names the message "lunch", which the content does not have';
  const checked = (await (await ask('POST', '/console/api/content/check', without)).json()) as { warnings: object[] };
  expect(checked.warnings).toContainEqual({ path: 'messages', message: warning });
  service.writeContent(without);
  await expect
    .poll(async () => (await healthOf(service)).content.warnings, patience)
    .toContainEqual({ path: 'messages', message: warning });
  expect((await healthOf(service)).status).toBe('ok');
  for (let time = 0; time < 3; time++) {
    expect(await refusalOf(await fire(service, lunch.token))).toEqual([409, 'message_not_found']);
  }
  await expect
    .poll(() => receiver.received.map(({ body }) => body), patience)
    .toMatchObject([
      {
        type: 'trigger.failed',
        subject: lunch.id,
        message: 'The trigger "Lunch bell" was not carried out: The content has no message with this id.',
      },
    ]);
  const failures = (await auditOf(ask)).filter(({ action, result }) => action === 'trigger.fire' && result !== 'ok');
  expect(failures).toMatchObject([{ target: lunch.id, result: 'message_not_found' }]);
});

test('what cannot be carried out makes no trigger', async () => {
  const slides = Array.from({ length: 1_001 }, (_, index) => ({ id: `${index}`, kind: 'text', title: 'T' }));
  const playlists = [...content.playlists, { id: 'long', slides }];
  const service = await startBox([], { content: { ...content, playlists }, env });
  const ask = createOperator(service, operatorSecret);
  const refused: [effect: unknown, code: string, field: string][] = [
    [undefined, 'missing_field', 'effect'],
    [{}, 'invalid_field', 'effect'],
    [{ takeover: { message_id: 'fire', targets: ['all'] }, end: { message_id: 'fire' } }, 'invalid_field', 'effect'],
    [{ takeover: { message_id: 'flood', targets: ['all'] } }, 'invalid_field', 'effect'],
    [{ takeover: { message_id: 'fire', targets: ['roof'] } }, 'invalid_field', 'effect'],
    [{ takeover: { message_id: 'fire', targets: ['lobby', 'roof'] } }, 'invalid_field', 'effect'],
    [{ takeover: { message_id: 'fire', targets: [] } }, 'invalid_field', 'effect'],
    [{ end: { message_id: 'flood' } }, 'invalid_field', 'effect'],
    [{ playlist: { targets: ['all'], playlist_id: 'none', minutes: 5 } }, 'invalid_field', 'effect'],
    [{ playlist: { targets: ['all'], playlist_id: 'party', minutes: 0 } }, 'invalid_field', 'effect'],
    [{ playlist: { targets: ['door'], playlist_id: 'long', minutes: 5 } }, 'invalid_field', 'effect'],
    [{ command: { targets: ['all'], command: 'explode' } }, 'unknown_command', 'command'],
    [{ command: { targets: ['all'], command: 'redirect' } }, 'missing_field', 'url'],
  ];
  for (const [effect, code, field] of refused) {
    const answer = await ask('POST', '/console/api/triggers', { name: 'A', effect });
    expect([...(await refusalOf(answer)), effect]).toEqual([400, code, effect]);
    expect(await answer.json()).toMatchObject({ error: { field } });
  }
  expect(
    await refusalOf(await ask('POST', '/console/api/triggers', { name: ' ', effect: { end: { message_id: 'fire' } } })),
  ).toEqual([400, 'invalid_field']);
  expect(await listOf(ask)).toEqual([]);
});

test('ten a second are taken, and guesses never count against a known token', async () => {
  const service = await startBox([], { content, env });
  const ask = createOperator(service, operatorSecret);
  const { token } = await make(ask, { end: { message_id: 'fire' } });
  const guess = () => fire(service, randomBytes(16).toString('hex')).then(({ status }) => status);
  const guesses = await Promise.all(Array.from({ length: 25 }, guess));
  expect(guesses.filter((status) => status === 404)).toHaveLength(10);
  expect(guesses.filter((status) => status === 429)).toHaveLength(15);
  const fired = await Promise.all(Array.from({ length: 25 }, () => fire(service, token)));
  expect(fired.filter(({ status }) => status === 200)).toHaveLength(10);
  const late = fired.find(({ status }) => status === 429);
  expect(late?.headers.get('Retry-After')).toBe('1');
  /** What it says to a body of that size when it takes requests again. */
  const statusOf = async (bytes: number): Promise<number> => {
    let status = 429;
    const tooMany = async () => {
      ({ status } = await fire(service, token, { body: 'x'.repeat(bytes) }));
      return status === 429;
    };
    await expect.poll(tooMany, patience).toBe(false);
    return status;
  };
  expect(await statusOf(0)).toBe(200);

  expect((await service.get(`/api/triggers/${token}`)).status).toBe(405);
  expect(await statusOf(64 * 1024)).toBe(200);
  expect(await statusOf(64 * 1024 + 1)).toBe(413);
  // What is fired over and over displaces nothing from the audit.
  expect((await auditOf(ask)).filter(({ action }) => action === 'trigger.fire')).toHaveLength(10);
});

test('an address of a box that answers over https is one over https, whatever its public address', async () => {
  const https = { SIGNAGE_HTTPS: 'on', SIGNAGE_HTTPS_PORT: '0', SIGNAGE_PUBLIC_URL: 'http://signage.test:8080' };
  const service = await startBox([], { content, env: { ...env, ...https } });
  const ask = createOperator(service, operatorSecret);
  await expect.poll(async () => (await healthOf(service)).https?.port ?? 0, patience).toBeGreaterThan(0);
  const port = (await healthOf(service)).https?.port;
  const { url, token } = await make(ask, { end: { message_id: 'fire' } });
  expect(url).toBe(`https://signage.test:${port}/api/triggers/${token}`);
});

test('a site has 200 triggers at most', walk, async () => {
  const service = await startBox([], { content, env });
  const ask = createOperator(service, operatorSecret);
  const effect = { end: { message_id: 'fire' } };
  await Promise.all(Array.from({ length: 200 }, () => make(ask, effect)));
  expect(await refusalOf(await ask('POST', '/console/api/triggers', { name: 'A', effect }))).toEqual([
    409,
    'too_many_triggers',
  ]);
  // The records fit into what boxes exchange.
  const other = await startBox([service], { content: undefined, env });
  await expect.poll(() => listOf(createOperator(other, operatorSecret)), patience).toHaveLength(200);
});
