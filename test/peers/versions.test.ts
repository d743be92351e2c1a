/** A box beside one of a newer version: it keeps and passes on what it does not know, plays the rest, and refuses edits. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { expect, test } from 'vitest';
import type { SiteOverview } from '../../service/contract/console/site.ts';
import type { ContentDocument } from '../../service/contract/peers.ts';
import { editedDocument, versionOf } from '../../service/domain/document.ts';
import { withEtag } from '../../service/drafts/records.ts';
import { lobbyWith } from '../content/samples.ts';
import { healthOf, patience, titlesOf } from '../support/observe.ts';
import { createOperator } from '../support/operator.ts';
import { localHeaders } from '../support/people.ts';
import { temporaryFolder } from '../support/service.ts';
import { bindingsOf, emptyPeerState, listenOn, startBox } from './support.ts';

const updatedAt = '2026-11-01T08:00:00.000Z';
const bindings = [
  { deviceId: 'known', clientName: 'Hall', screenSlug: 'lobby', updatedAt, tilt: { degrees: 12 } },
  { deviceId: 'unread', clientName: 'Wall', screenSlug: { wall: 1 }, updatedAt },
];
const texts = { title: 'Fire drill', body: null, media_url: null };
const times = { from: updatedAt, until: '2036-11-01T08:00:00.000Z', updatedAt, endedAt: null };
const takeovers = [
  { id: 'known', targets: ['lobby'], level: 'info', ...texts, ...times, tone: 'a' },
  { id: 'unread', targets: ['lobby'], level: 'whisper', ...texts, ...times },
];

const draftOf = (id: string, unknown: object) =>
  withEtag({
    ...{ id, title: id, base_sha256: null, author: null, updated_at: updatedAt, updated_by: null, submitted_by: null },
    ...{ note: null, state: 'open', counters: { newer: 1 }, removed: false, content: { screens: [] }, ...unknown },
  });
const drafts = [
  draftOf('known', { due: '2026-12-24', author: { id: null, name: 'Maria', pronoun: 'she' } }),
  draftOf('unread', { state: 'approved' }),
];
const alerts = {
  ...{ receiver: 'quiet', live: [], mood: 'a' },
  failing: [{ kind: 'heat', subject: 'board', degrees: 91 }],
};
const alertRecords = [
  { kind: 'heat', subject: 'board', at: updatedAt, isFailing: true, message: 'It is hot.', isSent: false },
  { kind: 'trigger', subject: 'bell', at: updatedAt, isFailing: 'partly' },
];

/** A backup with nothing in it. */
const emptyBackup = (): Promise<Buffer> => {
  const tar = pack();
  const head = { format: 1, version: '0.1.0', site: 'default', node_id: 'a', name: 'a', created_at: updatedAt };
  tar.entry({ name: 'manifest.json' }, JSON.stringify({ ...head, members: [], media: [] }));
  tar.finalize();
  return buffer(tar);
};

/** A box of a version that is still to come. */
const startNewer = async (document: (nodeId: string) => ContentDocument) => {
  const nodeId = randomUUID();
  const content = document(nodeId);
  const state = { ...emptyPeerState, nodeId, instance: nodeId, version: '9.1.0', moon: 'full', alerts };
  const answers: Record<string, () => unknown> = {
    '/api/peers/state': () => ({
      ...state,
      serverTime: Date.now(),
      content: versionOf(content),
      drafts: '0'.repeat(64),
    }),
    '/api/peers/content': () => content,
    '/api/peers/bindings/differing': () => ({ bindings }),
    '/api/peers/takeovers': () => ({ takeovers }),
    '/api/peers/drafts': () => ({ drafts: drafts.map(({ content: _, ...head }) => head), editing: {} }),
    ...Object.fromEntries(drafts.map((draft) => [`/api/peers/drafts/${draft.id}`, () => draft])),
  };
  const url = await listenOn(
    createServer((request, response) => {
      const answer = answers[(request.url ?? '').split('?')[0] ?? ''];
      response.writeHead(answer === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
      response.end(
        JSON.stringify(answer === undefined ? { error: { code: 'not_found', message: 'None.' } } : answer()),
      );
    }),
  );
  return { url, nodeId, content };
};

test('a document of a newer version plays without what is not known, is passed on whole, and is not edited here', async () => {
  const text = JSON.stringify(
    lobbyWith(
      [
        { kind: 'text', title: 'Hello', sparkle: 3 },
        { kind: 'hologram', depth: 1 },
      ],
      { wall: [] },
    ),
  );
  const newer = await startNewer((nodeId) =>
    Object.assign(editedDocument(null, { counter: 7, nodeId, changedAt: updatedAt, stamps: [], text }), { mood: 'a' }),
  );
  const dataDir = temporaryFolder();
  let box = await startBox([newer], { dataDir });
  const site = async (): Promise<SiteOverview> => (await box.get('/console/api/site')).json();
  const check = async () => {
    const passedOn = async () => (await box.get('/api/peers/content')).json();
    await expect.poll(passedOn, patience).toEqual(newer.content);
    await expect.poll(() => titlesOf(box), patience).toEqual(['Fire drill', 'Hello']);
    await expect.poll(() => bindingsOf(box), patience).toEqual(bindings);
    const passed = (await (await box.get('/api/peers/takeovers')).json()) as { takeovers: { id: string }[] };
    expect(passed.takeovers.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(takeovers);
    const draftsOf = () => Promise.all(drafts.map(async ({ id }) => (await box.get(`/api/peers/drafts/${id}`)).json()));
    await expect.poll(draftsOf, patience).toEqual(drafts);
    const listed = (await (await box.get('/console/api/drafts')).json()) as { drafts: { id: string }[] };
    expect(listed.drafts.map(({ id }) => id).filter((id) => id !== 'mine')).toEqual(['known']);
    // Its record is passed on as it came.
    const body = { wanted: [newer.nodeId], records: [], entries: [] };
    const { records } = await (await box.post('/api/peers/members', body)).json();
    expect(records).toMatchObject([{ nodeId: newer.nodeId, moon: 'full', alerts }]);
    await box.post('/api/peers/alerts', { records: alertRecords });
    expect((await (await box.get('/api/peers/alerts')).json()).records).toEqual(expect.arrayContaining(alertRecords));
    expect((await site()).takeovers.map(({ id }) => id)).toEqual(['known']);
    expect((await site()).screens.map(({ devices }) => devices.map(({ deviceId }) => deviceId))).toEqual([['known']]);
    expect((await healthOf(box)).warnings).toContainEqual(expect.stringMatching(/not used here.*: 3\.$/));
    const { status, warnings } = (await healthOf(box)).content;
    expect([status, warnings.map(({ path }) => path)]).toEqual([
      'ok',
      ['playlists[0].slides[0].sparkle', 'playlists[0].slides[1]', 'wall'],
    ]);
    await expect.poll(async () => (await healthOf(box)).peers.map(({ state }) => state), patience).toEqual(['alive']);
    const ask = createOperator(box, null);
    const draft = { title: 'A draft', base_sha256: newer.content.sha256, content: lobbyWith([]) };
    await ask('PUT', '/console/api/drafts/mine', draft, { 'If-None-Match': '*' });
    const backup = new Uint8Array(await emptyBackup());
    const asTar = { 'Content-Type': 'application/x-tar', 'x-signage-confirm': 'restore', ...localHeaders(box) };
    const requests: [method: string, path: string, body: unknown, headers?: Record<string, string>][] = [
      ['PUT', '/console/api/content', lobbyWith([])],
      ['PUT', '/console/api/content', JSON.parse(text)],
      ['POST', '/console/api/drafts/mine/publish', {}],
      ['POST', '/console/api/media/hall.jpg/rename', { to: 'great-hall.jpg' }],
      ['POST', '/console/api/restore', backup, asTar],
    ];
    const older = await ask('PUT', '/console/api/drafts/unread', draft, { 'If-Match': '*' });
    expect([older.status, await older.json()]).toMatchObject([409, { error: { code: 'box_older' } }]);
    for (const [method, path, body, headers = { 'If-Match': '*' }] of requests) {
      const answer = await ask(method, path, body, headers);
      const error = { code: 'box_older', message: expect.stringContaining(`${newer.url} (version 9.1.0)`) };
      expect([answer.status, await answer.json()]).toMatchObject([409, { error }]);
    }
    const checked = await ask('POST', '/console/api/content/check', JSON.parse(text));
    expect(await checked.json()).toMatchObject({ ok: false });
  };
  await check();
  await box.close();
  box = await startBox([newer], { dataDir, content: undefined });
  await check();
  // What the operator writes into the file is judged as ever.
  box.writeContent(JSON.stringify(lobbyWith([{ kind: 'text', title: 'Mine', sparkle: 3 }])));
  await expect.poll(async () => (await healthOf(box)).content.status, patience).toBe('invalid');
  expect(await titlesOf(box)).toEqual(['Fire drill', 'Hello']);
  // Even one that is valid here would remove what the newer box made, from the whole site.
  box.writeContent(JSON.stringify(lobbyWith([{ kind: 'text', title: 'Mine' }])));
  const refusals = async () => (await healthOf(box)).content.errors.map(({ message }) => message);
  await expect.poll(refusals, patience).toEqual([expect.stringMatching(/^This box is older than the content/)]);
  expect(await titlesOf(box)).toEqual(['Fire drill', 'Hello']);
  expect(await (await box.get('/api/peers/content')).json()).toEqual(newer.content);
  box.writeContent(text);
  await expect.poll(async () => (await healthOf(box)).content.status, patience).toBe('ok');
});
