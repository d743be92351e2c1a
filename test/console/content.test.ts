/** Editing of the content over HTTP. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContentCheck, EditedContent, PublishedContent } from '../../service/contract/console/content.ts';
import { hello, lobby, lobbyWith } from '../content/samples.ts';
import { healthOf, patience, titlesOf } from '../support/observe.ts';
import { createOperator, refusalOf, secretModes, secretSettings } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';

const path = '/console/api/content';
/** More mistakes than zod can collect. */
const mistaken = `{"screens":[],"playlists":[{"id":"a","slides":[${'1,'.repeat(1e6)}1]}]}`;
const good = { kind: 'text', title: 'Good morning' };

const onDisk = (service: TestService): string => readFileSync(join(service.dataDir, 'content.json'), 'utf8');

describe.each(secretModes)('%s', (_, secret) => {
  const start = async (content: unknown = lobby) => {
    const service = await startTestService({ content, env: secretSettings(secret) });
    const ask = createOperator(service, secret);
    const read = async () => {
      const response = await ask('GET', path);
      return { etag: response.headers.get('ETag') ?? '', body: (await response.json()) as EditedContent };
    };
    const publish = (content: unknown, etag: string, headers = {}) =>
      ask('PUT', path, content, { 'If-Match': etag, ...headers });
    return { service, ask, read, publish };
  };

  test('the document is read as the operator wrote it, with the sha256 as its ETag', async () => {
    const written = { ...lobby, $schema: './content.schema.json' };
    const { ask, read, service } = await start(written);
    const { etag, body } = await read();
    expect(body).toEqual({
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      changedAt: expect.any(String),
      content: written,
    });
    expect(etag).toBe(`"${body.sha256}"`);
    expect((await ask('GET', path, undefined, { 'If-None-Match': etag })).status).toBe(304);
    service.writeContent(lobbyWith([good]));
    await expect.poll(async () => (await read()).etag, patience).not.toBe(etag);
    expect((await ask('GET', path, undefined, { 'If-None-Match': etag })).status).toBe(200);
  });

  test('what is published is in content.json, and on the screens', async () => {
    const { service, read, publish } = await start();
    const { etag } = await read();
    const response = await publish(lobbyWith([good]), etag);
    expect(response.status).toBe(200);
    const { sha256, changedAt, warnings } = (await response.json()) as PublishedContent;
    expect(response.headers.get('ETag')).toBe(`"${sha256}"`);
    expect(warnings).toEqual([]);
    expect(await titlesOf(service)).toEqual(['Good morning']);
    expect(JSON.parse(onDisk(service))).toEqual(lobbyWith([good]));
    expect((await read()).body).toEqual({ sha256, changedAt, content: lobbyWith([good]) });
    expect(sha256).not.toBe(etag.slice(1, -1));
  });

  test('without If-Match nothing is published, and neither with that of an older version', async () => {
    const { service, ask, read, publish } = await start();
    const { etag } = await read();
    const withoutCondition = await ask('PUT', path, lobbyWith([good]));
    expect(await refusalOf(withoutCondition)).toEqual([428, 'precondition_required']);
    for (const [type, body, refusal] of [
      ['text/plain', '{}', [415, 'unsupported_media_type']],
      ['application/json', '{', [400, 'invalid_json']],
    ] as const) {
      expect(await refusalOf(await ask('PUT', path, body, { 'Content-Type': type }))).toEqual(refusal);
    }
    expect((await publish(lobbyWith([good]), etag)).status).toBe(200);
    for (const stale of [etag, '"other"', `W/${(await read()).etag}`]) {
      expect(await refusalOf(await publish(lobby, stale))).toEqual([412, 'content_changed']);
    }
    expect(await titlesOf(service)).toEqual(['Good morning']);
    expect((await publish(lobby, '*')).status).toBe(200);
  });

  test('each publication is answered with its own warnings, though the next one replaces it at once', async () => {
    const { service, publish } = await start();
    const keys = ['backgroud', 'colour', 'algin'];
    const documents = keys.map((key) => lobbyWith([{ ...good, content: { [key]: 'red' } }]));
    const answers = await Promise.all(documents.map((document) => publish(document, '*')));
    const warnings = await Promise.all(
      answers.map(async (answer) => ((await answer.json()) as PublishedContent).warnings),
    );
    expect(warnings.map((each) => each.map(({ path: at }) => at))).toEqual(
      keys.map((key) => [`playlists[0].slides[0].content.${key}`]),
    );
    const playing = (await healthOf(service)).content.warnings;
    expect(warnings).toContainEqual(playing);
  });

  test('of twenty people who publish at once, exactly one does', async () => {
    const { service, read, publish } = await start();
    const { etag } = await read();
    const titles = Array.from({ length: 20 }, (_, index) => `person ${index}`);
    const answers = await Promise.all(titles.map((title) => publish(lobbyWith([{ kind: 'text', title }]), etag)));
    const winners = titles.filter((_, index) => answers[index]?.status === 200);
    expect(winners).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(19);
    expect(await titlesOf(service)).toEqual(winners);
  });

  test('an edit of the file that was not noticed yet is not overwritten', async () => {
    const { service, read, publish } = await start();
    const { etag } = await read();
    service.writeContent(lobbyWith([{ kind: 'text', title: 'by hand' }]));
    expect(await refusalOf(await publish(lobbyWith([good]), etag))).toEqual([412, 'content_changed']);
    expect(await titlesOf(service)).toEqual(['by hand']);
  });

  test('invalid content is refused with every error by path, and changes nothing', async () => {
    const { service, read, publish, ask } = await start();
    const { etag } = await read();
    const wrong = lobbyWith([{ kind: 'text' }, { ...hello, duration_seconds: -1 }]);
    const response = await publish(wrong, etag);
    expect(response.status).toBe(400);
    const errors = [
      { path: 'playlists[0].slides[0].title', message: expect.stringMatching(/^"welcome-1": /) },
      { path: 'playlists[0].slides[1].duration_seconds', message: expect.stringMatching(/^"Hello": /) },
    ];
    expect(await response.json()).toEqual({
      error: { code: 'invalid_content', message: expect.any(String), errors: expect.arrayContaining(errors) },
    });
    expect((await read()).etag).toBe(etag);
    expect(JSON.parse(onDisk(service))).toEqual(lobby);
    const check = (await (await ask('POST', `${path}/check`, wrong)).json()) as ContentCheck;
    expect(check).toEqual({ ok: false, errors: expect.arrayContaining(errors), warnings: [] });
  });

  test('a check of a document with more mistakes than can be counted says so', async () => {
    const { ask } = await start();
    const check = await ask('POST', `${path}/check`, mistaken);
    const message = expect.stringContaining('more mistakes than can be counted');
    expect([check.status, await check.json()]).toEqual([
      200,
      { ok: false, errors: [{ path: '', message }], warnings: [] },
    ]);
  });

  test('warnings come with publishing and with a check alike, which changes nothing', async () => {
    const { ask, read, publish } = await start();
    const { etag } = await read();
    const doubtful = lobbyWith(
      [
        { ...hello, schedule_start_time: '08:00' },
        { kind: 'template', title: 'Menu', template_id: 'menu' },
        { kind: 'image', id: 'hall', media_url: '/media/none.jpg' },
      ],
      { templates: [{ id: 'menu', html: '{{ dish }}' }] },
    );
    const warnings = [
      { path: 'playlists[0].slides[0].schedule_mode', message: expect.stringMatching(/^"Hello": /) },
      { path: 'playlists[0].slides[1].content', message: expect.stringMatching(/^"Menu": /) },
      { path: 'playlists[0].slides[2].media_url', message: expect.stringMatching(/^"hall": .*"none.jpg"/) },
    ];
    const check = async () => (await ask('POST', `${path}/check`, doubtful)).json();
    await expect.poll(check, patience).toEqual({ ok: true, errors: [], warnings });
    expect((await read()).etag).toBe(etag);
    expect(await (await publish(doubtful, etag)).json()).toMatchObject({ warnings });
  });
});

describe('what can not be content is a clear 4xx', () => {
  const send = async (body: string | Buffer, headers: Record<string, string> = {}, method = 'PUT') => {
    const service = await startTestService({ content: lobby });
    const target = method === 'PUT' ? path : `${path}/check`;
    const response = await service.get(target, {
      method,
      headers: { 'Content-Type': 'application/json', 'If-Match': '*', ...headers },
      body: Buffer.from(body),
    });
    return response;
  };

  test.each<[string, string | Buffer, [number, string]]>([
    ['no JSON', '{"screens": [}', [400, 'invalid_json']],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), [400, 'invalid_json']],
    ['a list', '[]', [400, 'invalid_json']],
    ['nothing', '', [400, 'invalid_content']],
    ['lists in lists a million deep', `{"screens":${'['.repeat(1e6)}${']'.repeat(1e6)}}`, [400, 'invalid_content']],
    ['objects in objects', `{"screens":[],"x":${'{"a":'.repeat(1e5)}1${'}'.repeat(1e5)}}`, [400, 'invalid_content']],
    ['a name of JavaScript', '{"screens":[],"__proto__":{"a":1}}', [400, 'invalid_content']],
    ['more mistakes than can be counted', mistaken, [400, 'invalid_content']],
    ['more than 4 MiB', `{"screens":[],"x":"${'x'.repeat(4 * 1024 ** 2)}"}`, [413, 'payload_too_large']],
  ])('%s', async (_, body, expected) => {
    expect(await refusalOf(await send(body))).toEqual(expected);
  });

  test('a draft that is nested by the ten thousand', async () => {
    const body = `{"title":"x","base_sha256":null,"content":${'{"a":'.repeat(1e4)}1${'}'.repeat(1e4)}}`;
    const service = await startTestService({ content: lobby });
    const headers = { 'Content-Type': 'application/json' };
    const response = await service.get('/console/api/drafts/deep', { method: 'PUT', headers, body });
    expect(await refusalOf(response)).toEqual([400, 'invalid_json']);
  });

  test('another media type or a coding', async () => {
    const text = JSON.stringify(lobby);
    expect(await refusalOf(await send(text, { 'Content-Type': 'text/plain' }))).toEqual([
      415,
      'unsupported_media_type',
    ]);
    expect(await refusalOf(await send(text, { 'Content-Encoding': 'gzip' }, 'POST'))).toEqual([
      ...[415, 'unsupported_media_type'],
    ]);
  });
});

test('an invalid content.json is replaced by what is published, and kept beside it', async () => {
  const service = await startTestService({ content: lobby });
  const ask = createOperator(service, null);
  writeFileSync(join(service.dataDir, 'content.json'), '{ half an edit');
  await expect.poll(async () => (await healthOf(service)).content.status, patience).toBe('invalid');
  const { sha256, content } = (await (await ask('GET', path)).json()) as EditedContent;
  expect(content).toEqual(lobby);
  const response = await ask('PUT', path, lobbyWith([good]), { 'If-Match': `"${sha256}"` });
  expect(response.status).toBe(200);
  expect(await healthOf(service)).toMatchObject({ status: 'ok', content: { status: 'ok', errors: [] } });
  const { replication } = (await (await service.get('/healthz')).json()) as { replication: { lost: string[] } };
  expect(replication.lost).toHaveLength(1);
  expect(readFileSync(join(service.dataDir, replication.lost[0] ?? ''), 'utf8')).toBe('{ half an edit');
});

test('a box that never had valid content has an empty document, on which the first can be published', async () => {
  const service = await startTestService({ content: '{' });
  const ask = createOperator(service, null);
  const response = await ask('GET', path);
  expect(await response.json()).toMatchObject({ content: { screens: [] } });
  const etag = response.headers.get('ETag') ?? '';
  expect((await ask('PUT', path, lobby, { 'If-Match': etag })).status).toBe(200);
  expect(await titlesOf(service)).toEqual(['Hello']);
});

test('one line is written to content.json with line breaks, other text as it was sent', async () => {
  const service = await startTestService({ content: lobby });
  const ask = createOperator(service, null);
  await ask('PUT', path, JSON.stringify(lobbyWith([good])), { 'If-Match': '*' });
  expect(onDisk(service)).toBe(`${JSON.stringify(lobbyWith([good]), null, 2)}\n`);
  const own = JSON.stringify(lobby, null, '\t');
  await ask('PUT', path, own, { 'If-Match': '*' });
  expect(onDisk(service)).toBe(own);
});
