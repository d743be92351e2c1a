/** A medium that is renamed is followed by all that names it, on all boxes; no moment has a broken reference. */
import { once } from 'node:events';
import { linkSync, readdirSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { signAsPerson } from '../../service/auth/sign.ts';
import type { MediaList } from '../../service/contract/media.ts';
import type { PeerMedia } from '../../service/contract/peers.ts';
import { lobbyWith } from '../content/samples.ts';
import { patience, payloadOf } from '../support/observe.ts';
import { type Ask, createOperator, operatorSecret, refusalOf, secretSettings } from '../support/operator.ts';
import { addPerson } from '../support/people.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { secret, secretModes, startBox } from './support.ts';

const gif = (text: string): Uint8Array => new TextEncoder().encode(`GIF89a${text}`);
const content = lobbyWith(
  [
    { id: 'hall', kind: 'image', media_url: '/media/hall.gif' },
    { id: 'board', kind: 'template', template_id: 'board', content: { picture: '/media/hall.gif' } },
  ],
  {
    templates: [{ id: 'board', html: '<img src="/media/hall.gif"><b>/media/hall.gif</b>' }],
    messages: [{ id: 'alarm', title: 'Alarm', level: 'warning', minutes: 5, media_url: '/media/hall.gif' }],
    style: { logo_url: '/media/hall.gif' },
  },
);
const put = (ask: Ask, name: string, body: Uint8Array) =>
  ask('PUT', `/api/media/${name}`, body, { 'Content-Type': 'application/octet-stream' });
const rename = (ask: Ask, from: string, to: unknown) =>
  ask('POST', `/console/api/media/${encodeURIComponent(from)}/rename`, { to });
const textOf = async (box: TestService, name: string): Promise<string> => {
  const answer = await box.get(`/media/${name}`);
  return answer.ok ? answer.text() : String(answer.status);
};
const mediaOf = async (ask: Ask) =>
  Object.fromEntries(
    ((await (await ask('GET', '/console/api/media')).json()) as MediaList).media.map(({ filename, used_by }) => [
      filename,
      used_by,
    ]),
  );
const namedBy = async (box: TestService) => (await payloadOf(box)).slides[0]?.media_url;
const documentOf = async (ask: Ask): Promise<string> =>
  JSON.stringify(((await (await ask('GET', '/console/api/content')).json()) as { content: unknown }).content);

/** Asks for files all the time. @returns ends it, with what was not there */
const watch = (boxes: readonly TestService[], names: readonly string[]) => {
  const broken: string[] = [];
  let isOver = false;
  const look = async (box: TestService): Promise<void> => {
    while (!isOver) {
      const named = decodeURIComponent((await namedBy(box))?.split('/').at(-1) ?? '');
      for (const name of [...names, named]) {
        const answer = await textOf(box, name);
        if (answer !== 'GIF89ahall') broken.push(`${name} at ${box.url}: ${answer}`);
      }
      await pause(5);
    }
  };
  // A test that fails ends its boxes under it.
  const looking = boxes.map((box) => look(box).catch((error: unknown) => void broken.push(String(error))));
  return async () => {
    isOver = true;
    await Promise.all(looking);
    return broken;
  };
};

describe.each(secretModes)('a site, %s', (_, env) => {
  const key = 'SIGNAGE_SHARED_SECRET' in env ? secret : null;
  const asking = (box: TestService) => createOperator(box, key);

  test('follows a renaming in one version; a box that was away follows when it is back', {
    ...walk,
    timeout: 60_000,
  }, async () => {
    const awayDir = temporaryFolder();
    const away = await startBox([], { content, env, dataDir: awayDir });
    const first = await startBox([away], { content, env });
    const second = await startBox([away, first], { content, env });
    const ask = asking(first);
    expect((await put(ask, 'hall.gif', gif('hall'))).status).toBe(201);
    for (const box of [away, first, second]) {
      await expect.poll(() => textOf(box, 'hall.gif'), patience).toBe('GIF89ahall');
    }
    const takeover = {
      targets: ['all'],
      level: 'info',
      title: 'Look',
      media_url: '/media/hall.gif',
      until: new Date(Date.now() + 600_000).toISOString(),
    };
    expect((await ask('PUT', '/console/api/takeovers/look', takeover)).status).toBe(201);
    const draft = { title: 'One', base_sha256: null, content, state: 'submitted' };
    expect((await ask('PUT', '/console/api/drafts/one', draft, { 'x-signage-operator': 'Anna' })).status).toBe(201);
    await away.close();

    const versions = async () =>
      ((await (await ask('GET', '/console/api/content/versions')).json()) as { versions: unknown[] }).versions.length;
    const before = await versions();
    const end = watch([first, second], ['hall.gif']);
    const answer = await rename(ask, 'hall.gif', 'great hall.gif');
    expect([answer.status, await answer.json()]).toMatchObject([200, { filename: 'great hall.gif', size: 10 }]);
    for (const box of [first, second]) {
      await expect.poll(() => namedBy(box), patience).toBe('/media/great%20hall.gif');
    }
    expect(await end()).toEqual([]);
    expect(await versions()).toBe(before + 1);

    const document = await documentOf(asking(second));
    expect(document.match(/hall\.gif/g)).toHaveLength(6);
    expect(document.match(/(?<!great%20)hall\.gif/g)).toEqual(['hall.gif']);
    expect(document).toContain('<b>/media/hall.gif</b>');
    const site = JSON.stringify(await (await asking(second)('GET', '/console/api/site')).json());
    expect(site).toContain('/media/great%20hall.gif');
    expect(await (await ask('GET', '/console/api/drafts/one')).json()).toMatchObject({
      state: 'submitted',
      updated_by: { name: 'Anna' },
      content: { style: { logo_url: '/media/great%20hall.gif' } },
    });
    for (const box of [first, second]) {
      await expect.poll(async () => Object.keys(await mediaOf(asking(box))), patience).toEqual(['great hall.gif']);
      expect(await textOf(box, 'hall.gif')).toBe('GIF89ahall');
    }

    const back = await startBox([first, second], { content, env, dataDir: awayDir });
    const endOfBack = watch([back], ['hall.gif']);
    await expect.poll(() => namedBy(back), patience).toBe('/media/great%20hall.gif');
    await expect.poll(async () => Object.keys(await mediaOf(asking(back))), patience).toEqual(['great hall.gif']);
    expect(await endOfBack()).toEqual([]);

    // The old name is free again, and then stands for what is uploaded.
    expect((await put(ask, 'hall.gif', gif('new'))).status).toBe(201);
    expect(await textOf(first, 'hall.gif')).toBe('GIF89anew');
    expect(await textOf(first, 'great%20hall.gif')).toBe('GIF89ahall');
    // A box that has no copy of it does not show another file instead.
    await expect.poll(() => textOf(second, 'hall.gif'), patience).toBe('404');
    // And back and forth.
    expect(await refusalOf(await rename(ask, 'great hall.gif', 'hall.gif'))).toEqual([409, 'name_taken']);
    expect((await ask('DELETE', '/api/media/hall.gif')).status).toBe(204);
    expect((await rename(ask, 'great hall.gif', 'hall.gif')).status).toBe(200);
    await expect.poll(() => namedBy(second), patience).toBe('/media/hall.gif');
    await expect.poll(() => textOf(second, 'great%20hall.gif'), patience).toBe('GIF89ahall');
    expect(await textOf(second, 'hall.gif')).toBe('GIF89ahall');
  });
});

test('what cannot be renamed is refused, and nothing has changed', async () => {
  const box = await startTestService({ content });
  const ask = createOperator(box, null);
  await put(ask, 'hall.gif', gif('hall'));
  await put(ask, 'taken.gif', gif('taken'));
  await put(ask, 'same.gif', gif('hall'));
  for (const [from, to, refusal] of [
    ['none.gif', 'some.gif', [404, 'file_not_found']],
    ['hall.gif', 'taken.gif', [409, 'name_taken']],
    ['hall.gif', 'same.gif', [409, 'name_taken']],
    ['hall.gif', 'hall.gif', [400, 'invalid_field']],
    ['hall.gif', 'hall.mp4', [400, 'invalid_field']],
    ['hall.gif', '../hall.gif', [400, 'invalid_field']],
    ['hall.gif', '', [400, 'invalid_field']],
    ['hall.gif', 7, [400, 'invalid_field']],
    ['hall.gif', undefined, [400, 'missing_field']],
  ] as const) {
    expect([from, to, await refusalOf(await rename(ask, from, to))]).toEqual([from, to, refusal]);
  }
  expect(await mediaOf(ask)).toMatchObject({ 'hall.gif': expect.anything(), 'taken.gif': [] });
  expect(await documentOf(ask)).not.toContain('taken');

  // What an interrupted renaming has left is no file of its own.
  const uploads = join(box.dataDir, 'uploads');
  linkSync(join(uploads, 'hall.gif'), join(uploads, 'begun.gif'));
  expect((await rename(ask, 'hall.gif', 'begun.gif')).status).toBe(200);
  expect(await textOf(box, 'begun.gif')).toBe('GIF89ahall');
  expect(await documentOf(ask)).toContain('/media/begun.gif');
});

test('a box that calls a file outside of the folders a renamed medium gets nothing of it', async () => {
  const box = await startTestService({ content });
  const deletedAt = new Date().toISOString();
  writeFileSync(join(box.dataDir, 'config.json'), '{}');
  const names = ['../config.json', '../../etc/passwd', 'a/b.gif', 'a\0.gif', '..', '.gif'];
  for (const [n, to] of names.entries()) {
    const name = `bad${n}.gif`;
    const deleted = [{ name, deletedAt, sha256: null, renamed: { to, modifiedAt: deletedAt } }];
    expect((await box.post('/api/peers/deletions', { deleted })).status).toBe(200);
    expect([to, await textOf(box, name)]).toEqual([to, '404']);
  }
  const list = (await (await box.get('/api/peers/media')).json()) as PeerMedia;
  expect(list.deleted).toHaveLength(names.length);
  expect(list.deleted.filter(({ renamed }) => renamed !== undefined)).toEqual([]);
});

test.each(['c.gif', 'a.gif'])('a box that hears of two renamings at once has its file as %s', async (last) => {
  const box = await startTestService({ content });
  const ask = createOperator(box, null);
  const { sha256 } = (await (await put(ask, 'a.gif', gif('hall'))).json()) as { sha256: string };
  const at = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString();
  const deleted = [
    { name: 'a.gif', deletedAt: at(10), sha256, renamed: { to: 'b.gif', modifiedAt: at(0) } },
    { name: 'b.gif', deletedAt: at(20), sha256, renamed: { to: last, modifiedAt: at(15) } },
  ];
  expect((await box.post('/api/peers/deletions', { deleted })).status).toBe(200);
  expect(Object.keys(await mediaOf(ask))).toEqual([last]);
  for (const name of ['a.gif', 'b.gif', last]) expect([name, await textOf(box, name)]).toEqual([name, 'GIF89ahall']);
  expect(readdirSync(join(box.dataDir, 'uploads'))).toEqual([last]);
});

test('of renamings and edits at the same moment none is lost', async () => {
  const box = await startTestService({ content });
  const ask = createOperator(box, null);
  for (const name of ['hall.gif', 'a.gif', 'b.gif']) await put(ask, name, gif(name === 'hall.gif' ? 'hall' : name));
  const edit = async (n: number): Promise<void> => {
    for (;;) {
      const read = await ask('GET', '/console/api/content');
      const { content: current } = (await read.json()) as { content: typeof content };
      const slides = [...(current.playlists[0]?.slides ?? []), { id: `s${n}`, kind: 'text', title: `${n}` }];
      const next = { ...current, playlists: [{ ...current.playlists[0], slides }] };
      const answer = await ask('PUT', '/console/api/content', next, { 'If-Match': read.headers.get('ETag') ?? '' });
      if (answer.status === 200) return;
      expect(answer.status).toBe(412);
    }
  };
  const [renamed, twice] = await Promise.all([
    rename(ask, 'hall.gif', 'great.gif'),
    rename(ask, 'hall.gif', 'other.gif'),
    rename(ask, 'a.gif', 'c.gif'),
    rename(ask, 'b.gif', 'c.gif'),
    edit(1),
    edit(2),
  ]);
  expect([renamed.status, twice.status].sort()).toEqual([200, 404]);
  const media = Object.keys(await mediaOf(ask));
  expect(media).toHaveLength(3);
  expect(media).toContain('c.gif');
  const document = await documentOf(ask);
  expect(document).toMatch(/"s1".*"s2"|"s2".*"s1"/);
  expect(document).toContain(renamed.status === 200 ? '/media/great.gif' : '/media/other.gif');
  expect(await textOf(box, 'hall.gif')).toBe('GIF89ahall');
});

/** Begins to send a file. @returns sends the rest, and resolves with the status */
const beginUpload = async (box: TestService, name: string, text: string, headers: Record<string, string> = {}) => {
  const sending = httpRequest(`${box.url}/api/media/${name}`, { method: 'PUT', headers });
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
  sending.write(gif(''));
  await expect
    .poll(() => readdirSync(join(box.dataDir, 'uploads')).some((each) => each.startsWith('.upload-')), patience)
    .toBe(true);
  return async () => {
    sending.end(text);
    const [answer] = await answered;
    answer.resume();
    return answer.statusCode;
  };
};

test('a file that is renamed while another one of its name arrives keeps its new name, and the other one has the old', async () => {
  const box = await startTestService({ content });
  const ask = createOperator(box, null);
  await put(ask, 'hall.gif', gif('hall'));
  const finish = await beginUpload(box, 'hall.gif', 'newer');
  expect((await rename(ask, 'hall.gif', 'foyer.gif')).status).toBe(200);
  expect(await textOf(box, 'hall.gif')).toBe('GIF89ahall');
  expect(await finish()).toBe(201);
  expect(await textOf(box, 'foyer.gif')).toBe('GIF89ahall');
  expect(await textOf(box, 'hall.gif')).toBe('GIF89anewer');
  expect(await documentOf(ask)).not.toContain('"/media/hall.gif"');

  // What has not arrived cannot be renamed yet, and a name that is given meanwhile is taken for who may not replace.
  const onlyNew = { 'If-None-Match': '*' };
  const late = await beginUpload(box, 'late.gif', 'late', onlyNew);
  expect(await refusalOf(await rename(ask, 'late.gif', 'soon.gif'))).toEqual([404, 'file_not_found']);
  expect((await rename(ask, 'foyer.gif', 'late.gif')).status).toBe(200);
  expect(await late()).toBe(412);
  expect(await textOf(box, 'late.gif')).toBe('GIF89ahall');
  expect(Object.keys(await mediaOf(ask)).toSorted()).toEqual(['hall.gif', 'late.gif']);
});

test("an editor renames what nobody uses and is the editor's own; a publisher renames what is used", async () => {
  const box = await startTestService({ content, env: secretSettings(operatorSecret) });
  const root = createOperator(box, operatorSecret);
  const [editor, publisher] = [await addPerson(box, 'editor'), await addPerson(box, 'publisher')];
  const [viewer, tagged] = [await addPerson(box, 'viewer'), await addPerson(box, 'publisher', { tags: ['bar'] })];
  await put(root, 'hall.gif', gif('hall'));
  await put(root, 'other.gif', gif('other'));
  expect((await put(editor.ask, 'own.gif', gif('own'))).status).toBe(201);
  expect(await refusalOf(await rename(viewer.ask, 'own.gif', 'mine.gif'))).toEqual([403, 'role_required']);
  expect((await rename(editor.ask, 'own.gif', 'mine.gif')).status).toBe(200);
  // It is still the editor's.
  expect((await rename(editor.ask, 'mine.gif', 'own.gif')).status).toBe(200);
  for (const name of ['hall.gif', 'other.gif']) {
    expect(await refusalOf(await rename(editor.ask, name, 'x.gif'))).toEqual([403, 'role_required']);
  }
  expect(await refusalOf(await rename(tagged.ask, 'hall.gif', 'x.gif'))).toEqual([403, 'out_of_scope']);
  // A file that had no owner does not become that of whoever had the name before.
  expect((await put(editor.ask, 'gone.gif', gif('gone'))).status).toBe(201);
  expect((await root('DELETE', '/api/media/gone.gif')).status).toBe(204);
  expect((await rename(root, 'other.gif', 'gone.gif')).status).toBe(200);
  expect(await refusalOf(await editor.ask('DELETE', '/api/media/gone.gif'))).toEqual([403, 'role_required']);
  expect((await rename(publisher.ask, 'hall.gif', 'x.gif')).status).toBe(200);
  const { records } = (await (await root('GET', '/console/api/audit')).json()) as { records: object[] };
  expect(records[0]).toMatchObject({
    action: 'medium.rename',
    target: 'hall.gif',
    after: { to: 'x.gif' },
    person: { id: publisher.id },
    result: 'ok',
  });
  // Content that names the old name shows the file by it.
  const read = await root('GET', '/console/api/content');
  const headers = { 'If-Match': read.headers.get('ETag') ?? '' };
  expect((await root('PUT', '/console/api/content', content, headers)).status).toBe(200);
  expect(await refusalOf(await put(editor.ask, 'hall.gif', gif('mine')))).toEqual([403, 'role_required']);
  expect(await refusalOf(await put(tagged.ask, 'hall.gif', gif('mine')))).toEqual([403, 'out_of_scope']);
  // Nor does another file by a rename.
  expect(await refusalOf(await rename(editor.ask, 'own.gif', 'hall.gif'))).toEqual([403, 'role_required']);
  expect(await refusalOf(await rename(tagged.ask, 'own.gif', 'hall.gif'))).toEqual([403, 'out_of_scope']);
  expect(await textOf(box, 'hall.gif')).toBe('GIF89ahall');
  expect((await put(publisher.ask, 'hall.gif', gif('new'))).status).toBe(201);
});

test('who may not replace a file is told that its name is taken, as who sends it for a new name alone', async () => {
  const box = await startTestService({ content, env: secretSettings(operatorSecret) });
  const root = createOperator(box, operatorSecret);
  const [editor, tagged] = [await addPerson(box, 'editor'), await addPerson(box, 'publisher', { tags: ['bar'] })];
  const onlyNew = { 'If-None-Match': '*' };
  const add = (ask: Ask, name: string) => ask('PUT', `/api/media/${name}`, gif('mine'), onlyNew);
  // Content names it, and it would play at once.
  expect(await refusalOf(await add(editor.ask, 'hall.gif'))).toEqual([403, 'role_required']);
  for (const name of ['hall.gif', 'other.gif']) await put(root, name, gif('theirs'));
  expect(await refusalOf(await add(editor.ask, 'other.gif'))).toEqual([412, 'precondition_failed']);
  expect(await refusalOf(await add(tagged.ask, 'hall.gif'))).toEqual([412, 'precondition_failed']);
  expect(await refusalOf(await put(editor.ask, 'other.gif', gif('mine')))).toEqual([403, 'role_required']);

  // A different file takes the name while the editor's arrives.
  const sent = { method: 'PUT', url: `${box.url}/api/media/late.gif`, body: gif('mine'), headers: onlyNew };
  const signed = await signAsPerson(editor.key, { ...sent, recipient: box.nodeId });
  const finish = await beginUpload(box, 'late.gif', 'mine', { ...signed, ...onlyNew });
  expect((await put(root, 'late.gif', gif('theirs'))).status).toBe(201);
  expect(await finish()).toBe(412);
  for (const name of ['hall.gif', 'other.gif', 'late.gif']) expect(await textOf(box, name)).toBe('GIF89atheirs');
});
