/** Each operation of the console's API once, as the console uses it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { signAsPerson } from '../../service/auth/sign.ts';
import type { EditedContent } from '../../service/contract/console/content.ts';
import type { SiteOverview } from '../../service/contract/console/site.ts';
import { operations } from '../../service/contract/operations/index.ts';
import { lobby, lobbyWith } from '../content/samples.ts';
import { openLobby, playAgo, report } from '../records/plays/pages.ts';
import { makeDevice } from '../support/device-key.ts';
import { hasFfmpeg, putImage } from '../support/media.ts';
import { patience } from '../support/observe.ts';
import { createOperator, secretSettings, withAndWithoutSecret } from '../support/operator.ts';
import { localHeaders, makeKey, proofOf } from '../support/people.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';

const base = '/console/api';
const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xd9);

const peopleOperations = Object.keys(operations).filter((name) => /\/console\/api\/(people|join)/.test(name));
const peopleActions = ['change', 'invite', 'join', 'disable'].map((action) => `person.${action}`);
peopleActions.splice(3, 0, 'key.add', 'key.remove');

type Run = (
  name: keyof typeof operations,
  ids: string[],
  status: number,
  body?: unknown,
  headers?: object,
) => Promise<Response>;

/** A person is made, joins, gets a second key, loses it, and is disabled. */
const runPeople = async (run: Run, service: TestService): Promise<void> => {
  await run(`PUT ${base}/people/:id`, ['maria'], 201, { name: 'Maria', role: 'editor' });
  const invited = await run(`POST ${base}/people/:id/invitations`, ['maria'], 201, undefined, localHeaders(service));
  const { code } = (await invited.json()) as { code: string };
  const [key, other] = [makeKey(), makeKey()];
  const proof = proofOf(code, 'maria', key.publicKey, 'phone');
  await run(`POST ${base}/join`, [], 201, { person: 'maria', public_key: key.publicKey, device: 'phone', proof });
  const path = `${base}/people/maria/keys`;
  const body = JSON.stringify({ public_key: other.publicKey, device: 'laptop' });
  const signable = { method: 'POST', url: service.url + path, body, recipient: service.nodeId };
  const signed = await signAsPerson(key, signable);
  await run(`POST ${base}/people/:id/keys`, ['maria'], 201, body, signed);
  await run(`DELETE ${base}/people/:id/keys/:keyId`, ['maria', other.keyId], 204);
  await run(`DELETE ${base}/people/:id`, ['maria'], 204);
  expect(await (await run(`GET ${base}/people`, [], 200)).json()).toMatchObject({ people: [{ id: 'maria' }] });
};

test.each(withAndWithoutSecret)('every operation does its work, %s', async (_, secret) => {
  const dataDir = temporaryFolder();
  putImage(dataDir, 'red.png', [200, 0, 0]);
  const env = secretSettings(secret);
  const host = { capture: () => Promise.resolve(jpeg), restart: () => undefined };
  const service = await startTestService({ content: lobby, dataDir, env, host });
  const ask = createOperator(service, secret);
  const device = makeDevice();
  const page = await openLobby(service, secret, {}, device);
  const play = playAgo(60);
  await report(page, [play]);

  const done = new Set<string>();
  /** Sends the request of an operation, `:name` replaced in the order of `ids`, and expects its status. */
  const run = async (name: keyof typeof operations, ids: string[], status: number, body?: unknown, headers = {}) => {
    const [method = '', template = ''] = name.split(' ');
    const rest = [...ids];
    const [path, query = ''] = template.replace(/:\w+/g, () => rest.shift() ?? '').split('?');
    const response = await ask(method, `${path}${query}`, body, headers);
    expect([name, response.status]).toEqual([name, status]);
    done.add(name);
    return response;
  };
  const read = async <T>(...given: Parameters<typeof run>): Promise<T> => (await (await run(...given)).json()) as T;

  const { nodeId, screens } = await read<SiteOverview>(`GET ${base}/site`, [], 200);
  expect(screens[0]?.connections[0]?.id).toBe(page.connectionId);
  const { sha256, content } = await read<EditedContent>(`GET ${base}/content`, [], 200);
  expect(content).toEqual(lobby);
  const edited = lobbyWith([{ kind: 'image', id: 'red', media_url: '/media/red.png' }]);
  expect(await read(`POST ${base}/content/check`, [], 200, edited)).toEqual({ ok: true, errors: [], warnings: [] });
  const condition = { 'If-Match': `"${sha256}"` };
  const published = await read<EditedContent>(`PUT ${base}/content`, [], 200, edited, condition);
  const { versions } = await read<{ versions: { sha256: string }[] }>(`GET ${base}/content/versions`, [], 200);
  expect(versions.map((version) => version.sha256)).toEqual([published.sha256, sha256]);
  expect(await read(`GET ${base}/content/versions/:sha256`, [sha256], 200)).toEqual(lobby);
  await expect
    .poll(() => read(`GET ${base}/media`, [], 200), patience)
    .toMatchObject({ media: [{ filename: 'red.png', used_by: ['red'] }] });
  await run(`GET ${base}/media/:filename/thumbnail`, ['red.png'], hasFfmpeg ? 200 : 404);
  await run(`POST ${base}/media/:filename/rename`, ['red.png'], 200, { to: 'green.png' });
  await run(`POST ${base}/media/:filename/rename`, ['green.png'], 200, { to: 'red.png' });
  expect(await read(`GET ${base}/screens/:slug/programme`, ['lobby'], 200)).toMatchObject({ slides: ['red'] });
  expect(await read(`POST ${base}/screens/:slug/show`, ['lobby'], 200, { slide_id: 'red' })).toMatchObject({ sent: 1 });

  const draft = { title: 'Easter', base_sha256: published.sha256, content: edited };
  const drafted = await run(`PUT ${base}/drafts/:id`, ['easter'], 201, draft);
  expect(await read(`GET ${base}/drafts`, [], 200)).toMatchObject({ drafts: [{ id: 'easter' }] });
  expect(await read(`GET ${base}/drafts/:id`, ['easter'], 200)).toMatchObject({ content: edited });
  const looked = { 'If-Match': drafted.headers.get('etag') ?? '' };
  await run(`POST ${base}/drafts/:id/publish`, ['easter'], 200, undefined, looked);
  await run(`PUT ${base}/drafts/:id`, ['easter'], 201, draft);
  await run(`DELETE ${base}/drafts/:id`, ['easter'], 204);
  const picture = await run(`GET ${base}/connections/:id/screenshot`, [page.connectionId], 200);
  expect(new Uint8Array(await picture.arrayBuffer())).toEqual(jpeg);

  const until = new Date(Date.now() + 600_000).toISOString();
  const takeover = { targets: ['lobby'], level: 'info', title: 'Fire drill', until };
  expect(await read(`PUT ${base}/takeovers/:id`, ['drill'], 201, takeover)).toMatchObject({ expected: 1 });
  await run(`DELETE ${base}/takeovers/:id`, ['drill'], 204);
  const effect = { command: { targets: ['lobby'], command: 'next' } };
  const { id } = await read<{ id: string }>(`POST ${base}/triggers`, [], 200, { name: 'Bell', effect });
  expect(await read(`GET ${base}/triggers`, [], 200)).toMatchObject({ triggers: [{ name: 'Bell' }] });
  await run(`POST ${base}/triggers/:id/try`, [id], 200);
  await run(`DELETE ${base}/triggers/:id`, [id], 204);
  const atBox = localHeaders(service);
  const wall = { origins: ['https://dash.example.com'], headers: { Authorization: 'Bearer a' } };
  await run(`PUT ${base}/secrets/:name`, ['dash'], secret === null ? 409 : 201, wall, atBox);
  await run(`GET ${base}/secrets`, [], 200);
  await run(`DELETE ${base}/secrets/:name`, ['dash'], secret === null ? 404 : 204);
  expect(await read(`GET ${base}/designs`, [], 200)).toMatchObject({ designs: expect.any(Array) });
  // There is no authority without HTTPS.
  await run(`GET ${base}/ca`, [], 404);
  await run(`POST ${base}/ca/renew`, [], 404);
  await run(`DELETE ${base}/devices/:deviceId`, [device.deviceId], 204);
  await run(`POST ${base}/boxes/:nodeId/actions`, [nodeId], 200, { action: 'display-on' });
  const local =
    secret === null ? { 'x-signage-local': readFileSync(join(service.dataDir, 'local-token'), 'utf8') } : {};
  const backup = await run(`GET ${base}/backup`, [], 200, undefined, local);
  const tar = new Uint8Array(await backup.arrayBuffer());
  const meant = { ...local, 'Content-Type': 'application/x-tar', 'x-signage-confirm': 'restore' };
  await run(`POST ${base}/restore`, [], 200, tar, meant);
  const itself = localHeaders(service);
  await run(`POST ${base}/protect`, [], secret === null ? 201 : 409, {}, itself);
  await run(`POST ${base}/boxes/:nodeId/restart`, [nodeId], 202);
  const { lines } = await read<{ lines: unknown[] }>(`GET ${base}/boxes/:nodeId/log`, [nodeId], 200);
  expect(lines.length).toBeGreaterThan(0);
  expect(await read(`GET ${base}/plays`, [], 200)).toMatchObject([{ play_id: play.play_id, screen: 'lobby' }]);
  if (secret === null) for (const name of peopleOperations) done.add(name);
  else await runPeople(run, service);
  // Without a provider there is none.
  const key = { public_key: makeKey().publicKey, device: 'phone' };
  await run(`POST ${base}/oidc`, [], secret === null ? 409 : 404, key);
  await run(`GET ${base}/oidc/:id`, ['0'.repeat(32)], secret === null ? 409 : 404);
  await run(`GET ${base}/me`, [], 200);
  const { records } = await read<{ records: { action: string }[] }>(`GET ${base}/audit`, [], 200);
  const drafts = records.filter(({ action }) => action.startsWith('draft.'));
  expect(drafts).toMatchObject(['draft.delete', 'draft.publish'].map(() => ({ before: { title: 'Easter' } })));
  expect(records.toReversed().map(({ action }) => action)).toEqual([
    'content.publish',
    'medium.rename',
    'medium.rename',
    'screen.show',
    'draft.publish',
    'draft.delete',
    'takeover.start',
    'takeover.end',
    'trigger.create',
    'trigger.delete',
    'secret.set',
    'secret.delete',
    'ca.renew',
    'device.forget',
    'box.action',
    'box.backup',
    'box.restore',
    'box.protect',
    'box.restart',
    ...(secret === null ? [] : peopleActions),
  ]);

  const all = Object.keys(operations).filter((name) => name.includes(` ${base}/`));
  expect([...done].toSorted()).toEqual(all.toSorted());
});
