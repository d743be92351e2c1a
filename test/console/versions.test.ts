/** The versions of the content: who changed what, and the way back. */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { sha256Hex, signAnswer, signRequest } from '../../service/auth/sign.ts';
import { createVersionStore, expired } from '../../service/console/version-store.ts';
import type { ContentVersions, PublishedContent } from '../../service/contract/console/content.ts';
import { editedDocument } from '../../service/domain/document.ts';
import { systemDisk } from '../../service/platform/store/disk.ts';
import { lobby, lobbyWith } from '../content/samples.ts';
import { healthOf, patience, titlesOf } from '../support/observe.ts';
import { createOperator, refusalOf, secretModes, secretSettings } from '../support/operator.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

const path = '/console/api/content';
const titled = (title: string) => lobbyWith([{ kind: 'text', title }]);

describe.each(secretModes)('%s', (_, secret) => {
  const start = async (dataDir?: string) => {
    const env = secretSettings(secret);
    const service = await startTestService(
      dataDir === undefined ? { content: lobby, env } : { content: lobby, env, dataDir },
    );
    const ask = createOperator(service, secret);
    const versions = async () =>
      ((await (await ask('GET', `${path}/versions`)).json()) as ContentVersions).versions.map((version) => version);
    const publish = async (content: unknown, operator?: string) => {
      const headers = { 'If-Match': '*', ...(operator !== undefined && { 'x-signage-operator': operator }) };
      return (await (await ask('PUT', path, content, headers)).json()) as PublishedContent;
    };
    return { service, ask, versions, publish };
  };

  test('edits by the console and by file are versions, newest first, each with its document', async () => {
    const { service, ask, versions, publish } = await start();
    const first = await publish(titled('one'), 'Maria');
    service.writeContent(titled('two'));
    await expect.poll(() => titlesOf(service), patience).toEqual(['two']);
    const third = await publish(titled('three'));
    const { nodeId } = (await (await service.get('/healthz')).json()) as { nodeId: string };
    const bytes = (title: string, space: number) =>
      Buffer.byteLength(JSON.stringify(titled(title), null, space)) + (space === 0 ? 0 : 1);
    const rest = { replaced_by: null, person: null, approved_by: null };
    await expect.poll(versions, patience).toEqual([
      {
        sha256: third.sha256,
        changedAt: third.changedAt,
        nodeId,
        operator: null,
        bytes: bytes('three', 2),
        ...rest,
      },
      {
        sha256: expect.any(String),
        changedAt: expect.any(String),
        nodeId,
        operator: null,
        bytes: bytes('two', 0),
        ...rest,
      },
      {
        sha256: first.sha256,
        changedAt: first.changedAt,
        nodeId,
        operator: 'Maria',
        bytes: bytes('one', 2),
        ...rest,
      },
      {
        sha256: expect.any(String),
        changedAt: expect.any(String),
        nodeId,
        operator: null,
        bytes: expect.any(Number),
        ...rest,
      },
    ]);
    const documents = await Promise.all(
      (await versions()).map(async ({ sha256 }) => (await ask('GET', `${path}/versions/${sha256}`)).json()),
    );
    expect(documents).toEqual([titled('three'), titled('two'), titled('one'), lobby]);
    // Though it is streamed.
    if (secret !== null) {
      const url = `${service.url}${path}/versions/${first.sha256}`;
      const request = signRequest({ secret, method: 'GET', url, body: '', now: Date.now() });
      const answer = await fetch(url, { headers: request });
      const signed = {
        request: request['x-signage-request-signature'] ?? '',
        status: 200,
        sha256: sha256Hex(await answer.text()),
        clock: answer.headers.get('x-signage-clock') ?? '',
      };
      expect(answer.headers.get('x-signage-answer-signature')).toBe(signAnswer(secret, signed));
    }
    expect(await refusalOf(await ask('GET', `${path}/versions/${'0'.repeat(64)}`))).toEqual([404, 'version_not_found']);
    expect(await refusalOf(await ask('GET', `${path}/versions/..%2Fcontent.json`))).toEqual([404, 'version_not_found']);
  });

  test('a version that is published again is the newest, and versions survive a restart', async () => {
    const dataDir = temporaryFolder();
    const before = await start(dataDir);
    const one = await before.publish(titled('one'));
    await before.publish(titled('two'));
    const old = await (await before.ask('GET', `${path}/versions/${one.sha256}`)).text();
    await before.publish(JSON.parse(old), 'Jörg');
    expect(await titlesOf(before.service)).toEqual(['one']);
    const list = await before.versions();
    expect(list.map(({ operator }) => operator)).toEqual(['Jörg', null, null, null]);
    await before.service.close();
    const after = await start(dataDir);
    expect((await after.versions()).slice(-4)).toEqual(list);
    expect(await (await after.ask('GET', `${path}/versions/${one.sha256}`)).text()).toBe(old);
  });
});

test.each([
  ['a name of 65 characters', 'x'.repeat(65), null],
  ['a name of spaces', '  ', null],
  ['a name of 64 characters', 'x'.repeat(64), 'x'.repeat(64)],
  ['a name in UTF-8', Buffer.from('Мария').toString('latin1'), 'Мария'],
  ['markup, which is only text', '<b>Max</b>', '<b>Max</b>'],
])('the operator is %s', async (_, given, expected) => {
  const service = await startTestService({ content: lobby });
  const ask = createOperator(service, null);
  const headers = { 'If-Match': '*', 'x-signage-operator': given };
  expect((await ask('PUT', path, titled('new'), headers)).status).toBe(200);
  const { versions } = (await (await ask('GET', `${path}/versions`)).json()) as ContentVersions;
  expect(versions[0]?.operator).toBe(expected);
});

test('a folder of versions that can not be used degrades the status, and the content is published all the same', async () => {
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, 'versions'), 'a file in the place of the folder');
  const service = await startTestService({ content: lobby, dataDir });
  const ask = createOperator(service, null);
  expect((await ask('PUT', path, titled('new'), { 'If-Match': '*' })).status).toBe(200);
  await expect
    .poll(async () => (await healthOf(service)).warnings, patience)
    .toContainEqual(expect.stringMatching(/^The newest versions/));
  rmSync(join(dataDir, 'versions'));
  mkdirSync(join(dataDir, 'versions'));
  expect((await ask('PUT', path, titled('newer'), { 'If-Match': '*' })).status).toBe(200);
  await expect.poll(async () => (await healthOf(service)).status, patience).toBe('ok');
  const { versions } = (await (await ask('GET', `${path}/versions`)).json()) as ContentVersions;
  expect(versions).toHaveLength(3);
  expect(readdirSync(join(dataDir, 'versions'))).toHaveLength(3);
});

describe('the bound on the disk', () => {
  const sized = (count: number, stored: number) => Array.from({ length: count }, () => ({ stored }));

  test.each([
    [50, 16 * 1024 ** 2, 0],
    [51, 16 * 1024 ** 2, 1],
    [100, 1_000, 0],
    [230, 1_000, 30],
    [100, 1024 ** 2, 36],
  ])('of %i versions of %i bytes the oldest %i go', (count, stored, gone) => {
    const versions = sized(count, stored);
    expect(expired(versions)).toEqual(versions.slice(count - gone));
    expect(expired(versions).every((each, index) => each === versions[count - gone + index])).toBe(true);
  });

  test('old versions and the leftovers of interrupted writes are deleted', async () => {
    const folder = join(temporaryFolder(), 'versions');
    mkdirSync(folder);
    writeFileSync(join(folder, `${'0'.repeat(64)}.json.gz.1.tmp`), 'cut');
    writeFileSync(join(folder, `${'0'.repeat(64)}.json.gz`), 'damaged');
    const open = () => createVersionStore({ folder, disk: systemDisk, log: pino({ level: 'silent' }) });
    const store = open();
    let document = null;
    for (let counter = 1; counter <= 205; counter++) {
      const edit = { counter, nodeId: 'a', changedAt: new Date(counter).toISOString(), stamps: [] };
      document = editedDocument(document, { ...edit, text: `{"screens":[],"n":${counter}}` });
      await store.record(document);
    }
    await store.close();
    const again = open();
    const list = await again.list();
    expect(list.map(({ counter }) => counter)).toEqual(Array.from({ length: 200 }, (_, index) => 205 - index));
    expect(readdirSync(folder)).toHaveLength(200);
    const oldest = await again.read(list.at(-1)?.sha256 ?? '');
    expect(oldest === null ? null : await text(oldest.stream())).toBe('{"screens":[],"n":6}');
    expect(statSync(join(folder, readdirSync(folder)[0] ?? '')).mode & 0o777).toBe(0o600);
  });

  test('a version that the system cannot read at the start is kept', async () => {
    const folder = join(temporaryFolder(), 'versions');
    const open = () => createVersionStore({ folder, disk: systemDisk, log: pino({ level: 'silent' }) });
    const edit = { counter: 1, nodeId: 'a', changedAt: new Date(1).toISOString(), stamps: [] };
    const store = open();
    await store.record(editedDocument(null, { ...edit, text: '{"screens":[]}' }));
    await store.close();
    const [name = ''] = readdirSync(folder);
    const path = join(folder, name);
    const away = `${folder}.away`;
    renameSync(path, away);
    // A link to itself: ELOOP.
    symlinkSync(path, path);
    expect(await open().list()).toEqual([]);
    expect(readdirSync(folder)).toEqual([name]);
    renameSync(away, path);
    expect(await open().list()).toMatchObject([{ counter: 1 }]);
  });
});
