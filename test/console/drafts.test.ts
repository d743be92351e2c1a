/** Drafts on the server: saved, found again, exchanged between boxes, submitted, merged and published. */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Draft } from '../../service/contract/console/drafts.ts';
import { startBox, untilTogether } from '../peers/support.ts';
import { patience } from '../support/observe.ts';
import { createOperator, operatorSecret, refusalOf, secretSettings } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';

const slides = ['hello', 'bye'].map((id) => ({ id, kind: 'text', title: id }));
const content = {
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'welcome' }],
  playlists: [{ id: 'welcome', slides }],
};
const withTitles = (hello: string, bye: string, more: object[] = []) => ({
  ...content,
  playlists: [{ id: 'welcome', slides: [{ ...slides[0], title: hello }, { ...slides[1], title: bye }, ...more] }],
});
const env = secretSettings(operatorSecret);

const personAt = (service: Pick<TestService, 'url' | 'get'>, name: string) => {
  const ask = createOperator(service, operatorSecret);
  const send = (method: string, path: string, body?: unknown, headers = {}) =>
    ask(method, `/console/api${path}`, body, { 'x-signage-operator': name, ...headers });
  const json = async <T>(path: string): Promise<T> => (await (await send('GET', path)).json()) as T;
  return {
    send,
    json,
    playing: () => json<{ sha256: string; content: unknown }>('/content'),
    save: (id: string, body: object, etag?: string | null) =>
      send('PUT', `/drafts/${id}`, body, etag == null ? {} : { 'If-Match': etag }),
    list: async () => (await json<{ drafts: Draft[] }>('/drafts')).drafts,
  };
};

const etagOf = (answer: Response): string => answer.headers.get('ETag') ?? '';

describe('a box', () => {
  test('keeps a draft that is not valid, and says who wrote it and who is editing', async () => {
    const service = await startTestService({ content, env });
    const [anna, boris] = [personAt(service, 'Anna'), personAt(service, 'Boris')];
    const { sha256 } = await anna.playing();
    const first = await anna.save('easter', { title: 'Easter', base_sha256: sha256, content: { screens: 'later' } });
    const author = { id: null, name: 'Anna' };
    expect([first.status, await first.json()]).toEqual([
      201,
      {
        id: 'easter',
        title: 'Easter',
        base_sha256: sha256,
        content: { screens: 'later' },
        author,
        updated_at: expect.any(String),
        updated_by: author,
        submitted_by: null,
        note: null,
        state: 'open',
        editing: [],
      },
    ]);
    await anna.send('GET', '/drafts/easter?editing=1');
    const [listed] = await boris.list();
    expect(listed).toMatchObject({ id: 'easter', editing: ['Anna'] });
    expect(listed).not.toHaveProperty('content');

    const body = { title: 'Easter', base_sha256: sha256, content };
    expect(await refusalOf(await boris.save('easter', body))).toEqual([428, 'precondition_required']);
    const second = await boris.save('easter', { ...body, state: 'submitted', note: 'Please' }, etagOf(first));
    expect([second.status, await second.json()]).toMatchObject([
      200,
      { author, updated_by: { name: 'Boris' }, submitted_by: { id: null, name: 'Boris' }, state: 'submitted' },
    ]);
    expect(await refusalOf(await anna.save('easter', body, etagOf(first)))).toEqual([412, 'draft_changed']);
    const third = await anna.save('easter', { ...body, state: 'open', note: 'No' }, etagOf(second));
    expect(await third.json()).toMatchObject({ submitted_by: null, state: 'open', note: 'No' });

    expect(await refusalOf(await anna.save('Easter!', body))).toEqual([400, 'invalid_field']);
    expect(await refusalOf(await anna.save('a', { ...body, title: undefined }))).toEqual([400, 'missing_field']);
    expect(await refusalOf(await anna.save('a', { ...body, state: 'done' }))).toEqual([400, 'invalid_field']);
    expect(await refusalOf(await anna.send('GET', '/drafts/unknown'))).toEqual([404, 'draft_not_found']);
    for (let count = 1; count < 20; count++) expect((await anna.save(`d-${count}`, body)).status).toBe(201);
    expect(await refusalOf(await anna.save('one-more', body))).toEqual([409, 'too_many_drafts']);
    expect((await anna.send('DELETE', '/drafts/d-1')).status).toBe(204);
    expect(await refusalOf(await anna.send('DELETE', '/drafts/d-1'))).toEqual([404, 'draft_not_found']);
    expect((await anna.save('one-more', body)).status).toBe(201);
  });

  test('publishes what was looked at, merged with what was published since', async () => {
    const service = await startTestService({ content, env });
    const [anna, boris] = [personAt(service, 'Anna'), personAt(service, 'Boris')];
    const { sha256 } = await anna.playing();
    const draft = { title: 'New', base_sha256: sha256 };
    const saved = await anna.save('new', { ...draft, content: withTitles('Hi', 'bye') });
    const clash = await anna.save('clash', { ...draft, content: withTitles('Good day', 'bye') });
    const broken = await anna.save('broken', { ...draft, content: { ...content, screens: [{ slug: 'lobby' }] } });
    const publish = (id: string, etag: string | null) =>
      boris.send('POST', `/drafts/${id}/publish`, undefined, etag === null ? {} : { 'If-Match': etag });
    // Of more mistakes than can be counted, too.
    const full = await anna.save('full', {
      ...draft,
      content: { screens: [], playlists: [{ id: 'a', slides: Array.from({ length: 1_000_000 }, () => 1) }] },
    });
    expect(await refusalOf(await publish('full', etagOf(full)))).toEqual([400, 'invalid_content']);
    await anna.send('DELETE', '/drafts/full');

    const more = { id: 'third', kind: 'text', title: 'Third' };
    const edited = await boris.send('PUT', '/content', withTitles('hello', 'See you', [more]), {
      'If-Match': `"${sha256}"`,
    });
    expect(edited.status).toBe(200);
    expect(await refusalOf(await publish('new', null))).toEqual([428, 'precondition_required']);
    for (const [send, url, body] of [
      ['POST', '/drafts/new/publish', undefined],
      ['PUT', '/drafts/new', { ...draft, content }],
    ] as const) {
      const other = await boris.send(send, url, body, { 'If-None-Match': '"other"' });
      expect(await refusalOf(other)).toEqual([428, 'precondition_required']);
    }
    const made = await boris.send('PUT', '/drafts/new', { ...draft, content }, { 'If-None-Match': '*' });
    expect(await refusalOf(made)).toEqual([412, 'draft_changed']);
    expect(await refusalOf(await publish('new', `"${sha256}"`))).toEqual([412, 'draft_changed']);
    expect(await refusalOf(await publish('broken', etagOf(broken)))).toEqual([400, 'invalid_content']);

    const published = await publish('new', etagOf(saved));
    expect([published.status, await published.json()]).toMatchObject([200, { warnings: [] }]);
    const now = await boris.playing();
    expect(now).toMatchObject({ content: withTitles('Hi', 'See you', [more]) });
    expect(etagOf(published)).toBe(`"${now.sha256}"`);
    expect((await boris.list()).map(({ id }) => id)).not.toContain('new');
    const { versions } = await boris.json<{ versions: object[] }>('/content/versions');
    expect(versions[0]).toMatchObject({ operator: 'Anna', person: null, approved_by: { id: null, name: 'Boris' } });

    // Nothing can be merged over what is not known.
    const unknown = await anna.save('unknown', {
      ...draft,
      base_sha256: 'f'.repeat(64),
      content: withTitles('Hi', 'bye'),
    });
    const unmerged = await publish('unknown', etagOf(unknown));
    expect([unmerged.status, await unmerged.json()]).toMatchObject([
      409,
      { error: { code: 'draft_conflict', fields: [], message: expect.stringContaining('this box has not kept') } },
    ]);

    const refused = await publish('clash', etagOf(clash));
    expect([refused.status, await refused.json()]).toMatchObject([
      409,
      { error: { code: 'draft_conflict', fields: ['playlists[0].slides[0].title'] } },
    ]);
  });
});

test('two boxes exchange drafts, keep both of two that were typed apart, and forget what was published', async () => {
  const first = await startBox([], { content, env });
  const second = await startBox([first], { content: undefined, env });
  await untilTogether([first, second]);
  const [anna, boris] = [personAt(first, 'Anna'), personAt(second, 'Boris')];
  const { sha256 } = await anna.playing();
  const draft = { title: 'Easter', base_sha256: sha256, content };
  await expect.poll(async () => (await boris.playing()).sha256, patience).toBe(sha256);
  await anna.save('easter', draft);
  const etagAt = async (person: typeof anna) => etagOf(await person.send('GET', '/drafts/easter'));
  await expect.poll(() => etagAt(boris), patience).not.toBe('');
  await anna.send('GET', '/drafts/easter?editing=1');
  expect((await boris.list())[0]).toMatchObject({ editing: ['Anna'] });

  const before = await etagAt(boris);
  await Promise.all([
    anna.save('easter', { ...draft, content: withTitles('Anna', 'bye') }, before),
    boris.save('easter', { ...draft, content: withTitles('Boris', 'bye') }, before),
  ]);
  const all = async (person: typeof anna) => {
    const ids = (await person.list()).map(({ id }) => id).toSorted();
    const each = await Promise.all(ids.map((id) => person.json<Draft>(`/drafts/${id}`)));
    return each.map(({ id, author, content: kept }) => [
      id,
      author?.name,
      (kept as typeof content).playlists[0]?.slides[0]?.title,
    ]);
  };
  await expect.poll(async () => (await all(anna)).length, patience).toBe(2);
  await expect.poll(async () => await all(boris), patience).toEqual(await all(anna));
  const both = await all(anna);
  expect(both.map(([id]) => id)).toEqual(['easter', 'easter-2']);
  expect(both.map(([, , title]) => title).toSorted()).toEqual(['Anna', 'Boris']);
  // The older version keeps the name of its author.
  expect(both[1]?.[1]).toBe(both[1]?.[2]);

  const published = await boris.send('POST', '/drafts/easter/publish', undefined, { 'If-Match': await etagAt(boris) });
  expect(published.status).toBe(200);
  await expect.poll(async () => (await anna.list()).map(({ id }) => id), patience).toEqual(['easter-2']);
});

test('a draft that a box could not give when it was asked reaches the others later', async () => {
  const first = await startBox([], { content, env });
  const anna = personAt(first, 'Anna');
  const draft = { title: 'Season', base_sha256: (await anna.playing()).sha256, content };
  for (const id of ['easter', 'summer']) await anna.save(id, draft);
  const file = join(first.dataDir, 'drafts', 'easter.json');
  renameSync(file, `${file}.aside`);
  const second = await startBox([first], { content: undefined, env });
  const boris = personAt(second, 'Boris');
  const ids = async () => (await boris.list()).map(({ id }) => id).toSorted();
  await expect.poll(ids, patience).toEqual(['summer']);
  await expect.poll(second.log, patience).toContain('a peer returned no drafts');
  renameSync(`${file}.aside`, file);
  await expect.poll(ids, patience).toEqual(['easter', 'summer']);
});
