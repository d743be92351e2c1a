/** Backup and restore: what is in it, what comes back, and what is refused without a trace. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { PNG } from 'pngjs';
import { extract, pack } from 'tar-stream';
import { describe, expect, test, vi } from 'vitest';
import { createRestore } from '../../service/console/restore.ts';
import { createRestoreConfig } from '../../service/console/restore-config.ts';
import type { ActionAnswer, BoxOrder } from '../../service/contract/console/actions.ts';
import type { Restored } from '../../service/contract/console/backup.ts';
import { type Manifest, manifest } from '../../service/contract/console/backup.ts';
import { readOptions } from '../../service/platform/options/index.ts';
import { lobby, lobbyWith } from '../content/samples.ts';
import { itBrowser } from '../support/browser.ts';
import { patience } from '../support/observe.ts';
import { createOperator, operatorSecret, refusalOf, secretSettings } from '../support/operator.ts';
import { addPerson, createPerson } from '../support/people.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { openConsole, signIn } from './browser.ts';

const env = secretSettings(operatorSecret);
const tar = { 'Content-Type': 'application/x-tar' };
const confirmed = { ...tar, 'x-signage-confirm': 'restore' };

/** The members of a tar, by name, in its order. */
const membersOf = async (bytes: Uint8Array): Promise<Map<string, string>> => {
  const reading = extract();
  reading.end(bytes);
  const members = new Map<string, string>();
  for await (const entry of reading)
    members.set(entry.header.name, Buffer.from(await text(entry as never), 'utf8').toString());
  return members;
};

type Entry = readonly [header: string | { name: string; type: 'symlink'; linkname: string }, content: string];

const tarOf = async (entries: readonly Entry[]): Promise<Buffer> => {
  const writing = pack();
  for (const [header, content] of entries)
    writing.entry(typeof header === 'string' ? { name: header } : header, content);
  writing.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of writing) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex');
const at = '2026-01-31T08:00:00.000Z';

/** A backup of these members, as a box writes it. */
const backupOf = (members: Record<string, string>, changes: Partial<Manifest> = {}): readonly Entry[] => {
  const listed = Object.entries(members).map(([path, content]) => {
    return {
      path,
      type: 'application/json',
      size: Buffer.byteLength(content),
      sha256: sha256(content),
      modified_at: at,
    };
  });
  const head: Manifest = {
    ...{ format: 1, version: '0.1.0', site: 'default', node_id: 'box', name: 'box', created_at: at },
    members: listed,
    media: [],
    ...changes,
  };
  return [['manifest.json', JSON.stringify(head)], ...Object.entries(members)];
};

const boxWith = async (content: unknown = lobby, config?: object) => {
  const box = await startTestService({ content, env });
  if (config !== undefined) writeFileSync(join(box.dataDir, 'config.json'), JSON.stringify(config));
  return { box, ask: createOperator(box, operatorSecret) };
};
const backUp = async (ask: ReturnType<typeof createOperator>): Promise<Buffer> =>
  Buffer.from(await (await ask('GET', '/console/api/backup')).arrayBuffer());
const restore = (
  ask: ReturnType<typeof createOperator>,
  bytes: Uint8Array,
  headers: Record<string, string> = confirmed,
) => ask('POST', '/console/api/restore', new Uint8Array(bytes), headers);

/** All that a restore may change. */
const stateOf = ({ dataDir }: TestService) => [
  readdirSync(join(dataDir, 'uploads')).toSorted(),
  readFileSync(join(dataDir, 'content.json'), 'utf8'),
  existsSync(join(dataDir, 'config.json')) && readFileSync(join(dataDir, 'config.json'), 'utf8'),
];

/** Leaves at a box that is off what a restore by Anna leaves that a power cut interrupted. @returns its folder */
const spoolInterrupted = ({ dataDir }: TestService, entries: readonly Entry[]): string => {
  const folder = join(dataDir, 'uploads', '.restoring');
  mkdirSync(folder);
  for (const [name, content] of [...entries, ['operator', '"anna"'] as const])
    writeFileSync(join(folder, String(name).replaceAll('/', '-')), content, 'latin1');
  return folder;
};

test('a box of another disk plays what was backed up, and keeps what is its own', async () => {
  const long = `${'ä'.repeat(125)}.png`;
  const picture = new Uint8Array(PNG.sync.write(new PNG({ width: 64, height: 36 })));
  const slides = lobbyWith([{ id: 'hall', kind: 'image', media_url: `/media/${encodeURIComponent(long)}` }]);
  const secrets = {
    sharedSecret: 'a-marker-of-the-secret',
    webhookSecret: `whsec_${Buffer.from('a-marker-of-webhooks-1234').toString('base64')}`,
    nonsense: 'a-marker-unknown',
  };
  const { box, ask } = await boxWith(slides, {
    ...{ site: 'vienna', ffmpegPath: '/usr/bin/false', playsUrl: 'https://user:a-marker,too@example.com/plays' },
    ...secrets,
    kiosk: { pin: '918273', rotation: 90, updates: { feed: 'https://user:a-marker@example.com/', channel: 'beta' } },
  });
  for (const name of [long, 'again.png']) {
    expect(
      (await ask('PUT', `/api/media/${encodeURIComponent(name)}`, picture, { 'Content-Type': 'image/png' })).status,
    ).toBe(201);
  }
  const device = { deviceId: 'door.1', clientName: 'Front door', screenSlug: 'lobby' };
  expect((await ask('POST', '/api/onboarding', device)).status).toBe(200);
  for (const name of ['One', 'Two', 'Three']) {
    const etag = (await ask('GET', '/console/api/content')).headers.get('ETag') ?? '';
    const edited = { ...slides, screens: slides.screens.map((screen) => ({ ...screen, name })) };
    expect((await ask('PUT', '/console/api/content', edited, { 'If-Match': etag })).status).toBe(200);
  }
  const until = new Date(Date.now() + 600_000).toISOString();
  await ask('PUT', '/console/api/takeovers/drill', { targets: ['all'], level: 'info', title: 'Drill', until });
  const listed = async () =>
    ((await (await ask('GET', '/console/api/media')).json()) as { media: unknown[] }).media.length;
  await expect.poll(listed, patience).toBe(2);

  const bytes = await backUp(ask);
  const members = await membersOf(bytes);
  expect([...members.keys()][0]).toBe('manifest.json');
  const head = manifest.parse(JSON.parse(members.get('manifest.json') ?? ''));
  expect([...members.keys()].slice(1)).toEqual(head.members.map(({ path }) => path));
  expect(head.media.map(({ name }) => name).toSorted()).toEqual(['again.png', long].toSorted());
  expect(String(bytes)).not.toMatch(/marker|918273|whsec/);

  const { box: other, ask: askOther } = await boxWith(lobby, {
    port: 1234,
    requirePeople: 'on',
    kiosk: { pin: '1111' },
  });
  const before = (await (await other.get('/healthz')).json()) as { nodeId: string };
  const answer = (await (await restore(askOther, bytes)).json()) as Restored;
  expect(answer).toMatchObject({ media: 2, bindings: 1, takeovers: 1, restart_required: true });
  expect(answer.settings.toSorted()).toEqual(['kiosk.rotation', 'playsUrl', 'site']);
  expect(answer.left_out).toEqual([
    ...['ffmpegPath', 'kiosk.updates'].map(
      (name) => `The setting ${name} of config.json belongs to the box that it was written on.`,
    ),
    'A backup has no passwords: write that of playsUrl into config.json.',
  ]);
  const config = JSON.parse(readFileSync(join(other.dataDir, 'config.json'), 'utf8'));
  expect(config).toEqual({
    ...{ port: 1234, requirePeople: 'on', site: 'vienna', playsUrl: 'https://example.com/plays' },
    kiosk: { pin: '1111', rotation: 90 },
  });
  expect(((await (await other.get('/healthz')).json()) as { nodeId: string }).nodeId).toBe(before.nodeId);
  expect(Buffer.from(await (await other.get(`/media/${encodeURIComponent(long)}`)).arrayBuffer())).toEqual(
    Buffer.from(picture),
  );
  expect(await (await other.get('/api/screens/lobby/playlist')).text()).toContain('hall');
  expect(await (await other.get('/api/onboarding/status?deviceId=door.1')).json()).toMatchObject({
    screenSlug: 'lobby',
  });
  expect(await (await askOther('GET', '/console/api/site')).json()).toMatchObject({ takeovers: [] });
  const { versions } = (await (await askOther('GET', '/console/api/content/versions')).json()) as {
    versions: { sha256: string }[];
  };
  expect(versions.length).toBeGreaterThan(1);
  // Newest first: what was restored now is newer than the edits of the other box.
  expect(versions[0]?.sha256).toBe(answer.content?.sha256);
  expect(readdirSync(join(other.dataDir, 'uploads')).filter((name) => name.startsWith('.'))).toEqual([]);

  // What was deleted by mistake comes back, and the box that has the passwords keeps them.
  expect((await ask('DELETE', '/api/media/again.png')).status).toBe(204);
  const own = (await (await restore(ask, bytes)).json()) as Restored;
  expect(own.left_out.join()).not.toContain('playsUrl');
  expect(readFileSync(join(box.dataDir, 'config.json'), 'utf8')).toContain('user:a-marker,too@');
  expect((await box.get('/media/again.png')).status).toBe(200);

  // A medium whose bytes are no longer those that the manifest names makes it no backup.
  for (const name of [long, 'again.png']) {
    const path = join(box.dataDir, 'uploads', name);
    const { atime, mtime } = statSync(path);
    writeFileSync(path, picture.toReversed());
    utimesSync(path, atime, mtime);
  }
  await expect(backUp(ask)).rejects.toThrow();
});

test('people, drafts and triggers come back; who was disabled and what was revoked does not', async () => {
  const { box, ask } = await boxWith();
  const person = (name: string) => ({ name, role: 'editor', tags: [] });
  for (const name of ['Anna', 'Ben', 'Cleo']) {
    expect((await ask('PUT', `/console/api/people/${name.toLowerCase()}`, person(name))).status).toBe(201);
  }
  expect((await ask('DELETE', '/console/api/people/cleo')).status).toBe(204);
  const [lost, left] = [await addPerson(box, 'editor', { id: 'lost' }), await addPerson(box, 'editor', { id: 'left' })];
  const draft = { title: 'Spring', base_sha256: null, content: { ...lobby, note: 'half done' } };
  expect((await ask('PUT', '/console/api/drafts/spring', draft)).status).toBe(201);
  const effect = { command: { targets: ['all'], command: 'next' } };
  const made = await (await ask('POST', '/console/api/triggers', { name: 'Bell', effect })).json();
  const { id, token } = made as { id: string; token: string };
  const boss = await addPerson(box, 'admin', { id: 'boss' });
  const { sha256: plays } = (await (await ask('GET', '/console/api/content')).json()) as { sha256: string };
  const edited = lobbyWith([{ id: 'hall', kind: 'text', title: 'By the boss' }]);
  expect((await boss.ask('PUT', '/console/api/content', edited, { 'If-Match': `"${plays}"` })).status).toBe(200);
  const bytes = await backUp(ask);
  expect(String(bytes)).not.toContain(token);

  const { box: other, ask: askOther } = await boxWith();
  expect((await restore(askOther, bytes)).status).toBe(200);
  // Who has restored, and who has published what was backed up.
  const now = (await (await askOther('GET', '/console/api/content')).json()) as { sha256: string };
  expect((await askOther('PUT', '/console/api/content', lobby, { 'If-Match': `"${now.sha256}"` })).status).toBe(200);
  expect((await restore(createPerson(other, boss.key), bytes)).status).toBe(200);
  const { versions } = (await (await askOther('GET', '/console/api/content/versions')).json()) as {
    versions: { person: { id: string } | null }[];
  };
  expect(versions[0]?.person).toMatchObject({ id: 'boss' });
  expect(versions.filter(({ person: by }) => by?.id === 'boss').length).toBe(2);
  const peopleOf = async (asking: typeof ask) => {
    const { people } = (await (await asking('GET', '/console/api/people')).json()) as {
      people: { id: string; disabled_at: string | null }[];
    };
    return people.map((each) => [each.id, each.disabled_at === null]);
  };
  expect(await peopleOf(askOther)).toEqual([
    ['anna', true],
    ['ben', true],
    ['boss', true],
    ['cleo', false],
    ['left', true],
    ['lost', true],
  ]);
  expect((await createPerson(other, left.key)('GET', '/console/api/me')).status).toBe(200);
  expect(await (await askOther('GET', '/console/api/drafts/spring')).json()).toMatchObject({ title: 'Spring' });
  expect((await other.post(`/api/triggers/${token}`, {})).status).toBe(200);

  expect((await ask('DELETE', '/console/api/people/ben')).status).toBe(204);
  expect((await ask('DELETE', `/console/api/people/lost/keys/${lost.key.keyId}`)).status).toBe(204);
  expect((await ask('DELETE', `/console/api/triggers/${id}`)).status).toBe(204);
  const etag = (await ask('GET', '/console/api/drafts/spring')).headers.get('etag') ?? '';
  expect((await ask('DELETE', '/console/api/drafts/spring', undefined, { 'If-Match': etag })).status).toBe(204);
  const { left_out: leftOut } = (await (await restore(ask, bytes)).json()) as Restored;
  expect(leftOut).toEqual([
    'Ben was disabled after the backup, and stays so.',
    '1 key of lost was removed after the backup, and stays so.',
    'The trigger "Bell" was revoked, and stays so.',
  ]);
  expect(await peopleOf(ask)).toEqual([
    ['anna', true],
    ['ben', false],
    ['boss', true],
    ['cleo', false],
    ['left', true],
    ['lost', true],
  ]);
  expect(await refusalOf(await lost.ask('GET', '/console/api/me'))).toEqual([401, 'key_unknown']);
  expect((await left.ask('GET', '/console/api/me')).status).toBe(200);
  expect((await ask('GET', '/console/api/drafts/spring')).status).toBe(200);
  expect((await ask('GET', '/console/api/triggers')).status).toBe(200);
});

test('a key of somebody who was disabled opens nothing where somebody else has the id', async () => {
  const { box, ask } = await boxWith();
  const gone = await addPerson(box, 'admin', { id: 'admin' });
  await addPerson(box, 'admin', { id: 'boss' });
  expect((await ask('DELETE', '/console/api/people/admin')).status).toBe(204);
  const bytes = await backUp(ask);

  const { box: other, ask: askOther } = await boxWith();
  const here = await addPerson(other, 'admin', { id: 'admin' });
  expect((await restore(askOther, bytes)).status).toBe(200);
  expect(await refusalOf(await createPerson(other, gone.key)('GET', '/console/api/me'))).toEqual([401, 'key_unknown']);
  expect((await here.ask('GET', '/console/api/me')).status).toBe(200);
});

test('who was disabled counts at no time of a restore, and not after one that a full disk ends', async () => {
  const { box, ask } = await boxWith();
  const gone = await addPerson(box, 'editor', { id: 'gone' });
  expect((await ask('DELETE', '/console/api/people/gone')).status).toBe(204);
  const bytes = await backUp(ask);

  const { box: other, ask: askOther } = await boxWith();
  const stored = join(other.dataDir, 'shared', 'disablings.json');
  rmSync(stored, { force: true });
  mkdirSync(stored, { recursive: true });
  expect((await restore(askOther, bytes)).status).toBe(500);
  rmSync(stored, { recursive: true });
  expect((await restore(askOther, bytes)).status).toBe(200);
  expect(await refusalOf(await createPerson(other, gone.key)('GET', '/console/api/me'))).toEqual([401, 'key_unknown']);
});

test('all drafts come back, however large they are, and one too many is named', walk, async () => {
  const { box, ask } = await boxWith();
  const content = { ...lobby, note: 'x'.repeat(3_900_000) };
  for (let number = 0; number < 20; number += 1) {
    const draft = { title: `D${number}`, base_sha256: null, content: number < 6 ? content : lobby };
    expect((await ask('PUT', `/console/api/drafts/d-${number}`, draft)).status).toBe(201);
  }
  // As of another box, which has taken one meanwhile.
  const path = join(box.dataDir, 'drafts', 'd-19.json');
  await box.close();
  writeFileSync(
    join(box.dataDir, 'drafts', 'd-20.json'),
    JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), id: 'd-20' }),
  );
  const again = createOperator(await startTestService({ env, dataDir: box.dataDir }), operatorSecret);
  const bytes = await backUp(again);
  const { ask: askOther } = await boxWith();
  const answer = await restore(askOther, bytes);
  expect(answer.status).toBe(200);
  expect(((await answer.json()) as Restored).left_out).toEqual([
    expect.stringMatching(/^The draft "D\d+" is one too many/),
  ]);
});

test('a version that cannot be read is left out, and a medium that the box does not have is named', async () => {
  const { box, ask } = await boxWith();
  const { sha256: plays } = (await (await ask('GET', '/console/api/content')).json()) as { sha256: string };
  const names = ['here', 'gone'];
  const edited = lobbyWith(names.map((id) => ({ id, kind: 'image', media_url: `/media/${id}.jpg` })));
  expect((await ask('PUT', '/console/api/content', edited, { 'If-Match': `"${plays}"` })).status).toBe(200);
  const folder = join(box.dataDir, 'versions');
  for (const name of readdirSync(folder)) truncateSync(join(folder, name), statSync(join(folder, name)).size - 20);
  // It is read once more than it is listed.
  mkdirSync(join(box.dataDir, 'uploads'), { recursive: true });
  writeFileSync(join(box.dataDir, 'uploads', 'here.jpg'), 'a picture');
  const bytes = await backUp(ask);
  const members = await membersOf(bytes);
  expect([...members.keys()].filter((path) => path.startsWith('versions/'))).toEqual([]);
  expect([...members.keys()]).toContain(`media/${sha256('a picture')}`);
  expect(JSON.parse(members.get('manifest.json') ?? '')).toMatchObject({ without_media: ['gone.jpg'] });
  const { left_out: leftOut } = (await (await restore(ask, bytes)).json()) as Restored;
  expect(leftOut).toEqual([
    'The file "gone.jpg" is not in the backup: the box that wrote it did not have the file, or could not read it.',
  ]);
});

test('new settings restart the box though who restored them has left', async () => {
  const bytes = await backUp((await boxWith(lobby, { site: 'vienna' })).ask);
  const restart = vi.fn();
  const box = await startTestService({ content: lobby, env, host: { restart } });
  const leaving = new AbortController();
  const ask = createOperator(
    { url: box.url, get: (path, init) => fetch(box.url + path, { ...init, signal: leaving.signal }) },
    operatorSecret,
  );
  const asked = restore(ask, bytes).catch(String);
  // It has arrived, and is judged.
  while (!existsSync(join(box.dataDir, 'uploads', '.restoring'))) await nextTurn();
  leaving.abort();
  expect(await asked).toContain('AbortError');
  await expect.poll(() => restart.mock.calls.length, patience).toBe(1);
});

test('a setting that does not fit what the environment of the box sets is left out, and said', async () => {
  const settings = { fleetUrl: 'nats://127.0.0.1:1', timeZone: 'Europe/Vienna' };
  const members = { 'content.json': JSON.stringify(lobby), 'config.json': JSON.stringify(settings) };
  const bytes = await tarOf(backupOf(members));
  const box = await startTestService({ content: lobby, env: { ...env, SIGNAGE_SITE: 'Café Zürich' } });
  const answer = (await (await restore(createOperator(box, operatorSecret), bytes)).json()) as Restored;
  expect(answer.settings).toEqual(['timeZone']);
  expect(answer.left_out).toEqual([
    'The setting fleetUrl of config.json does not fit those of this box: the site of a fleet has 1 to 64 of a-z, A-Z, 0-9, _ and -.',
  ]);
  expect(JSON.parse(readFileSync(join(box.dataDir, 'config.json'), 'utf8'))).toEqual({ timeZone: 'Europe/Vienna' });
});

const [fleet, named] = ['nats://127.0.0.1:1', 'Café Zürich'];
test.each<
  [what: string, box: { env?: Record<string, string>; own?: object }, backup: Record<string, unknown>, left: string[]]
>([
  ['a site beside a fleet of the environment', { env: { SIGNAGE_FLEET_URL: fleet } }, { site: named }, ['site']],
  ['a fleet beside a site of the environment', { env: { SIGNAGE_SITE: named } }, { fleetUrl: fleet }, ['fleetUrl']],
  ['a fleet beside a site of the box', { own: { site: named } }, { SIGNAGE_FLEET_URL: fleet }, ['SIGNAGE_FLEET_URL']],
  ['a fleet beside a site of the backup', {}, { site: named, fleetUrl: fleet }, ['fleetUrl']],
  [
    'both, where the environment has another site',
    { env: { SIGNAGE_SITE: 'a' } },
    { site: named, fleetUrl: fleet },
    [],
  ],
  ['what needs the secret of the environment', { env: { SIGNAGE_REQUIRE_PEOPLE: 'on', ...env } }, { site: 'a' }, []],
])('of a backup a box can start with %s', async (_, { env: variables = {}, own = {} }, given, misfits) => {
  const [data, folder] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(data, 'config.json'), JSON.stringify(own));
  const read = () => readOptions({ env: { ...variables, SIGNAGE_DATA_DIR: data } });
  const settings = createRestoreConfig({ options: read(), dirs: { data } as never });
  const judged = await settings.judge({ given, stripped: [] }, folder);
  expect(judged.misfits).toEqual(misfits);
  await settings.write(judged);
  read();
  expect(readdirSync(folder)).toEqual([]);
});

test('a restore that a power cut interrupted is finished by the next start, and nothing is lost', async () => {
  const { box } = await boxWith(lobby);
  await box.close();
  const picture = PNG.sync.write(new PNG({ width: 32, height: 18 })).toString('latin1');
  const hash = createHash('sha256').update(picture, 'latin1').digest('hex');
  const content = JSON.stringify(lobbyWith([{ id: 'back', kind: 'text', title: 'Back' }]));
  const media = ['a.png', 'b.png'].map((name) => ({ name, sha256: hash, modified_at: at }));
  const members = { 'content.json': content, [`media/${hash}`]: picture };
  const folder = spoolInterrupted(box, backupOf(members, { media }));
  // The first file was moved aside, and the one that comes was not there yet.
  writeFileSync(join(folder, 'before-0'), 'what was there');

  const again = await startTestService({ env, dataDir: box.dataDir });
  await expect.poll(() => existsSync(folder), patience).toBe(false);
  expect(again.log()).toContain('an interrupted restore was finished');
  expect(await (await again.get('/api/screens/lobby/playlist')).text()).toContain('Back');
  for (const { name } of media) expect(readFileSync(join(box.dataDir, 'uploads', name), 'latin1')).toBe(picture);
});

test.each<[what: string, file: string, content: string, folder: string, name: RegExp]>([
  ['under its name', 'content.json', '{"screens":1}', 'uploads', /^a\.png$/],
  ['as lost where its name cannot be read', 'manifest.json', '{', 'uploads/.lost', /^\d{8}T\d{9}Z-before-0$/],
])('what an interrupted restore has replaced comes back %s', async (_, file, damage, to, name) => {
  const { box } = await boxWith(lobby);
  await box.close();
  const hash = sha256('the restored picture');
  const members = { 'content.json': JSON.stringify(lobby), [`media/${hash}`]: 'the restored picture' };
  const media = [{ name: 'a.png', sha256: hash, modified_at: at }];
  const folder = spoolInterrupted(box, backupOf(members, { media }));
  writeFileSync(join(folder, 'before-0'), 'my picture');
  writeFileSync(join(box.dataDir, 'uploads', 'a.png'), 'the restored picture');
  writeFileSync(join(folder, file), damage);

  const again = await startTestService({ env, dataDir: box.dataDir });
  await expect.poll(() => existsSync(folder), patience).toBe(false);
  const [found = ''] = readdirSync(join(box.dataDir, to)).filter((each) => name.test(each));
  expect(readFileSync(join(box.dataDir, to, found), 'utf8')).toBe('my picture');
  expect(again.log()).toContain('an interrupted restore cannot be finished');
});

test('a box plays while it finishes an interrupted restore, takes no other one, and ends after it', async () => {
  const { box } = await boxWith(lobby);
  await box.close();
  const content = JSON.stringify(lobbyWith([{ id: 'back', kind: 'text', title: 'Back' }]));
  const [head, ...rest] = backupOf({ 'content.json': content });
  const folder = spoolInterrupted(box, rest);
  // A disk that does not answer until it is written to.
  const slow = join(folder, 'manifest.json');
  execFileSync('mkfifo', [slow]);

  const again = await startTestService({ env, dataDir: box.dataDir });
  expect(await (await again.get('/api/screens/lobby/playlist')).text()).not.toContain('Back');
  const other = await restore(createOperator(again, operatorSecret), await tarOf([]));
  expect(await refusalOf(other)).toEqual([429, 'too_many_requests']);
  const closing = again.close();
  await writeFile(slow, String(head?.[1]));
  await closing;
  expect(existsSync(folder)).toBe(false);
  expect(readFileSync(join(box.dataDir, 'content.json'), 'utf8')).toBe(content);
});

test('what cannot be written once the content plays is restored by the next start', async () => {
  const { ask } = await boxWith(lobbyWith([{ id: 'back', kind: 'text', title: 'Back' }]));
  const draft = { title: 'Spring', base_sha256: null, content: lobby };
  expect((await ask('PUT', '/console/api/drafts/spring', draft)).status).toBe(201);
  const bytes = await backUp(ask);

  const { box, ask: askOther } = await boxWith();
  const [drafts, folder] = [join(box.dataDir, 'drafts'), join(box.dataDir, 'uploads', '.restoring')];
  rmSync(drafts, { recursive: true });
  writeFileSync(drafts, 'no folder');
  expect((await restore(askOther, bytes)).status).toBe(500);
  expect(await (await box.get('/api/screens/lobby/playlist')).text()).toContain('Back');
  // What is refused later takes nothing of it away, and what people do meanwhile stays.
  expect((await restore(askOther, Buffer.from('no tar'))).status).toBe(400);
  box.writeContent(lobbyWith([{ id: 'later', kind: 'text', title: 'Later' }]));
  await expect.poll(async () => (await box.get('/api/screens/lobby/playlist')).text(), patience).toContain('Later');
  await box.close();
  rmSync(drafts);

  const again = await startTestService({ env, dataDir: box.dataDir });
  await expect.poll(() => existsSync(folder), patience).toBe(false);
  const kept = await createOperator(again, operatorSecret)('GET', '/console/api/drafts/spring');
  expect(await kept.json()).toMatchObject({ title: 'Spring' });
  expect(await (await again.get('/api/screens/lobby/playlist')).text()).toContain('Later');
});

describe('what is refused changes nothing', () => {
  const content = JSON.stringify(lobbyWith([{ id: 'x', kind: 'text', title: 'X' }]));
  const whole = backupOf({ 'content.json': content });
  const cases: [string, () => Promise<Uint8Array>, [number, string]][] = [
    ['what is no tar', async () => Buffer.from('hello'.repeat(1_000)), [400, 'backup_damaged']],
    ['nothing', async () => Buffer.alloc(0), [400, 'backup_damaged']],
    ['another tar', () => tarOf([['holiday.jpg', 'x']]), [400, 'backup_damaged']],
    ['a cut one', async () => (await tarOf(whole)).subarray(0, 2_000), [400, 'backup_damaged']],
    [
      'one that was edited',
      () => tarOf([whole[0] as Entry, ['content.json', content.replace('X', 'Y')]]),
      [400, 'backup_damaged'],
    ],
    ['one with more in it', () => tarOf([...whole, ['media/x', 'x']]), [400, 'backup_damaged']],
    [
      'one with a link',
      () => tarOf([...whole, [{ name: 'content.json', type: 'symlink', linkname: '/etc/passwd' }, '']]),
      [400, 'backup_damaged'],
    ],
    ['one with less in it', () => tarOf([whole[0] as Entry]), [400, 'backup_damaged']],
    ['a newer one', () => tarOf(backupOf({}, { format: 2, members: 'else' as never })), [409, 'backup_newer']],
    ['a way out of the folder', () => tarOf(backupOf({ '../x': 'x' })), [400, 'backup_damaged']],
    [
      'a name of a medium that is none',
      () => {
        const media = [{ name: '../../etc/passwd', sha256: sha256('x'), modified_at: at }];
        return tarOf(backupOf({ [`media/${sha256('x')}`]: 'x' }, { media }));
      },
      [400, 'backup_damaged'],
    ],
    ['content that is not valid', () => tarOf(backupOf({ 'content.json': '{"screens":1}' })), [400, 'invalid_content']],
    [
      'a setting that is not valid',
      () => tarOf(backupOf({ 'config.json': '{"timeZone":"Mars"}' })),
      [400, 'backup_damaged'],
    ],
  ];

  test('every one of them', async () => {
    const { box, ask } = await boxWith();
    const before = stateOf(box);
    for (const [name, make, refusal] of cases) {
      expect([name, ...(await refusalOf(await restore(ask, await make())))]).toEqual([name, ...refusal]);
      expect([name, stateOf(box)]).toEqual([name, before]);
    }
    const good = await tarOf(whole);
    expect(await refusalOf(await restore(ask, good, tar))).toEqual([400, 'missing_field']);
    expect(await refusalOf(await restore(ask, good, { ...tar, 'x-signage-confirm': 'yes' }))).toEqual([
      400,
      'invalid_field',
    ]);
    expect(await refusalOf(await restore(ask, good, { 'x-signage-confirm': 'restore' }))).toEqual([
      415,
      'unsupported_media_type',
    ]);
    expect(stateOf(box)).toEqual(before);
    expect((await restore(ask, good)).status).toBe(200);
  });
});

test.each<[what: string, refusal: object, diskMs: number, isCut: boolean]>([
  ['that waits for a slow disk is read', { message: 'The backup is damaged: content.json is not JSON.' }, 400, false],
  ['of which nothing more arrives is given up', { code: 'request_timeout' }, 0, true],
])('a backup %s', async (_, refusal, diskMs, isCut) => {
  const whole = await tarOf(backupOf({ 'content.json': ' '.repeat(200_000) }));
  const stream = new Readable({ read: () => undefined });
  stream.push(isCut ? whole.subarray(0, 100_000) : whole);
  if (!isCut) stream.push(null);
  const media = { spoolFolder: temporaryFolder(), requireSpool: () => pause(diskMs) };
  const { restore } = createRestore(
    { tempo: { http: { still: 100 } }, options: { mediaQuotaBytes: 1e9 }, dirs: { data: '' } } as never,
    { media, content: {} } as never,
  );
  const body = { stream, length: null, bodySha256: null, judgeAgain: () => {} };
  await expect(restore(body, { operator: null, person: null })).rejects.toMatchObject(refusal);
});

test('versions are read one by one as they are restored, and are never all in memory', async () => {
  const media = {
    spoolFolder: temporaryFolder(),
    requireSpool: async () => {},
    requireAdoption: async () => {},
    adopt: async () => async () => {},
    endAdoption: async () => {},
  };
  const versionOf = (text: string): string =>
    JSON.stringify({ counter: 1, nodeId: 'box', sha256: sha256(text), changedAt: at, text });
  const paths = ['one', 'two'].map((text) => `versions/${sha256(text)}.json`);
  const members = Object.fromEntries(paths.map((path, index) => [path, versionOf(['one', 'two'][index] ?? '')]));
  const recorded: string[] = [];
  const record = async ({ text }: { text: string }): Promise<void> => {
    recorded.push(text);
    const later = join(media.spoolFolder, '.restoring', String(paths[1]).replace('/', '-'));
    writeFileSync(later, versionOf('as it is read'));
  };
  const none = { restore: async () => [] };
  const options = { mediaQuotaBytes: 1e9, sharedSecret: null };
  const { restore } = createRestore(
    { tempo: { http: { still: 10_000 } }, options, dirs: { data: temporaryFolder() }, log: { warn: vi.fn() } } as never,
    {
      media,
      content: {},
      versions: { record },
      requireKnown: () => {},
      takeovers: { restore: async () => ({ count: 0, leftOut: [] }) },
      devices: { restore: async () => 0 },
      people: none,
      drafts: none,
      triggers: none,
    } as never,
  );
  const body = {
    stream: Readable.from([await tarOf(backupOf(members))]),
    length: null,
    bodySha256: null,
    judgeAgain: () => {},
  };
  expect(await restore(body, { operator: null, person: null })).toMatchObject({ versions: 2 });
  expect(recorded).toEqual(['one', 'as it is read']);
});

test('a box whose media nearly fill their quota takes back what it wrote itself, and no larger media', async () => {
  const [box, small] = [
    await startTestService({ content: lobby, env: { SIGNAGE_MEDIA_QUOTA_BYTES: '60000' } }),
    await startTestService({ content: lobby, env: { SIGNAGE_MEDIA_QUOTA_BYTES: '50000' } }),
  ];
  const restoreAt = async (at: TestService, backup: Buffer): Promise<Response> => {
    const local = { 'x-signage-local': readFileSync(join(at.dataDir, 'local-token'), 'utf8') };
    return restore(createOperator(at, null), backup, { ...confirmed, ...local });
  };
  const ask = createOperator(box, null);
  expect((await ask('PUT', '/api/media/a.bin', new Uint8Array(59_000), { 'Content-Type': 'x/y' })).status).toBe(201);
  const local = { 'x-signage-local': readFileSync(join(box.dataDir, 'local-token'), 'utf8') };
  const own = Buffer.from(await (await ask('GET', '/console/api/backup', undefined, local)).arrayBuffer());
  expect(own.length).toBeGreaterThan(60_000);
  expect((await restoreAt(box, own)).status).toBe(200);
  expect(await refusalOf(await restoreAt(small, own))).toEqual([413, 'payload_too_large']);
});

test('without a secret both are for the box itself alone, and what says not what is in it is at most as large as the quota', async () => {
  const box = await startTestService({ content: lobby, env: { SIGNAGE_MEDIA_QUOTA_BYTES: '60000' } });
  const ask = createOperator(box, null);
  const local = { 'x-signage-local': readFileSync(join(box.dataDir, 'local-token'), 'utf8') };
  expect(await refusalOf(await ask('GET', '/console/api/backup'))).toEqual([403, 'local_required']);
  expect(await refusalOf(await restore(ask, await tarOf([])))).toEqual([403, 'local_required']);
  // Its media fill more than half of the quota, and are replaced.
  const png = PNG.sync.write(new PNG({ width: 8, height: 8 }));
  const film = Buffer.concat([png, Buffer.alloc(35_000)]);
  expect((await ask('PUT', '/api/media/a.png', new Uint8Array(film), { 'Content-Type': 'image/png' })).status).toBe(
    201,
  );
  const own = await ask('GET', '/console/api/backup', undefined, local);
  const bytes = Buffer.from(await own.arrayBuffer());
  expect((await restore(ask, bytes, { ...confirmed, ...local })).status).toBe(200);
  // Beside what is there they do not fit.
  expect((await ask('DELETE', '/api/media/a.png')).status).toBe(204);
  const larger = new Uint8Array(Buffer.concat([png, Buffer.alloc(40_000)]));
  expect((await ask('PUT', '/api/media/b.png', larger, { 'Content-Type': 'image/png' })).status).toBe(201);
  const beside = await restore(ask, bytes, { ...confirmed, ...local });
  expect(await refusalOf(beside)).toEqual([507, 'insufficient_storage']);
  const large = await restore(ask, Buffer.alloc(71_680), { ...confirmed, ...local });
  expect(await refusalOf(large)).toEqual([413, 'payload_too_large']);
});

itBrowser('a console operates the machine of a box, saves its backup, and restores it', async () => {
  const orders: BoxOrder[] = [];
  const operate = async (order: BoxOrder): Promise<ActionAnswer> => {
    orders.push(order);
    if (order.action === 'volume') return { result: 'done', state: 60, message: 'The volume is 60.' };
    return { result: 'unknown', state: null, message: 'The hardware did not answer within 5 s.' };
  };
  const content = lobbyWith([{ id: 'hall', kind: 'text', title: 'Before' }]);
  const box = await startTestService({ content, env: { ...env, SIGNAGE_HOST: '0.0.0.0' }, host: { operate } });
  const { page, go } = await openConsole(box.url);
  await signIn(page, operatorSecret);
  await go('boxes');
  await page.getByRole('button', { name: 'Machine …' }).click();
  await page.getByRole('button', { name: 'Switch off' }).click();
  await page.getByText('Not confirmed: The hardware did not answer within 5 s.').waitFor();
  await page.getByRole('slider', { name: 'Volume' }).fill('61');
  await page.getByText('Done: The volume is 60.').waitFor();
  expect(await page.getByRole('slider', { name: 'Volume' }).inputValue()).toBe('60');
  await page.getByRole('button', { name: 'Reset …' }).click();
  await page.getByLabel('Name of the box').fill('another');
  await page.getByRole('button', { name: 'Reset', exact: true }).click();
  await page.getByText('This is not the name of the box.').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect(orders).toEqual([{ action: 'display-off' }, { action: 'volume', value: 61 }]);

  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save a backup' }).click();
  const path = await (await saved).path();
  await page.getByText(/^The backup is complete/).waitFor();
  expect([...(await membersOf(readFileSync(path))).keys()]).toContain('content.json');

  const ask = createOperator(box, operatorSecret);
  const { sha256: plays } = (await (await ask('GET', '/console/api/content')).json()) as { sha256: string };
  const after = lobbyWith([{ id: 'hall', kind: 'text', title: 'After' }]);
  expect((await ask('PUT', '/console/api/content', after, { 'If-Match': `"${plays}"` })).status).toBe(200);
  const restoreBy = async (file: Parameters<ReturnType<typeof page.getByLabel>['setInputFiles']>[0]) => {
    await page.getByLabel('Restore …').setInputFiles(file);
    await page.getByRole('button', { name: 'Restore', exact: true }).click();
  };
  await restoreBy({ name: 'cut.tar', mimeType: 'application/x-tar', buffer: readFileSync(path).subarray(0, 700) });
  await page.getByText('This is no whole backup of a box, so nothing was changed.').waitFor();
  await restoreBy(path);
  await page.getByText(/^Restored: /).waitFor();
  expect(await (await box.get('/api/screens/lobby/playlist')).text()).toContain('Before');
});
