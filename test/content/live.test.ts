/** The file of a running service: what is saved shows, what is broken does not. */
import { mkdirSync, renameSync, rmSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { healthOf, logged, patience, payloadOf, titlesOf } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { lobby, lobbyWith } from './samples.ts';

const saying = (title: string) => lobbyWith([{ kind: 'text', title }]);
const fileOf = ({ dataDir }: TestService) => join(dataDir, 'content.json');

const waitFor = (service: TestService, title: string) =>
  expect.poll(() => titlesOf(service), patience).toEqual([title]);
const waitForStatus = (service: TestService, status: string) =>
  expect.poll(async () => (await healthOf(service)).content.status, patience).toBe(status);

test('a change is sent to the pages with the revision of the new payload', async () => {
  const service = await startTestService({ content: saying('before') });
  const page = await joinScreen(service, 'lobby');
  const before = await payloadOf(service);
  expect(page.welcome.revision).toBe(before.revision);
  service.writeContent(saying('after'));
  const { revision } = await page.message(({ type }) => type === 'revision');
  const after = await payloadOf(service);
  expect(after).toMatchObject({ revision, slides: [{ title: 'after' }] });
  expect(revision).not.toBe(before.revision);
});

test('only the pages of changed screens are notified', async () => {
  const content = (title: string) => ({
    screens: ['quiet', 'lively'].map((slug) => ({ name: slug, slug, playlist_id: slug })),
    playlists: [
      { id: 'quiet', slides: [] },
      { id: 'lively', slides: [{ kind: 'text', title }] },
    ],
  });
  const service = await startTestService({ content: content('one') });
  const [quiet, lively] = [await joinScreen(service, 'quiet'), await joinScreen(service, 'lively')];
  service.writeContent(content('two'));
  await lively.message(({ type }) => type === 'revision');
  expect(quiet.messages.map(({ type }) => type)).toEqual(['welcome']);
});

describe('a change that is not valid', () => {
  test.each<[string, unknown, string, RegExp]>([
    [
      'of one slide',
      lobbyWith([{ kind: 'text', title: 'new' }, { kind: 'image' }]),
      'playlists[0].slides[1].media_url',
      /missing/,
    ],
    ['that leads nowhere', { ...saying('new'), playlists: [] }, 'screens[0].playlist_id', /"welcome"/],
    ['to nothing', '', '', /empty/],
    ['to half of it', JSON.stringify(saying('new')).slice(0, 60), '', /not JSON/],
    ['to null', 'null', '', /object/],
  ])('%s is refused whole, and named', async (_, broken, path, message) => {
    const service = await startTestService({ content: saying('good') });
    const page = await joinScreen(service, 'lobby');
    const before = await payloadOf(service);
    service.writeContent(broken);
    await waitForStatus(service, 'invalid');
    const { status, content } = await healthOf(service);
    expect(status).toBe('degraded');
    expect(content.errors).toEqual([{ path, message: expect.stringMatching(message) }]);
    const [line] = logged(service, 'content.json is refused; the last good content keeps playing');
    expect(line).toMatchObject({ level: 40, errors: content.errors });
    expect(await payloadOf(service)).toEqual(before);

    service.writeContent(saying('mended'));
    await waitFor(service, 'mended');
    expect((await healthOf(service)).content).toEqual({ status: 'ok', errors: [], warnings: [], replaced: [] });
    expect(page.messages.map(({ type }) => type)).toEqual(['welcome', 'revision']);
  });
});

describe('an editor', () => {
  test('that writes a temporary file and renames it', async () => {
    const service = await startTestService({ content: saying('one') });
    for (const title of ['two', 'three']) {
      const temporary = join(service.dataDir, '.content.json.swp');
      writeFileSync(temporary, JSON.stringify(saying(title)));
      renameSync(temporary, fileOf(service));
      await waitFor(service, title);
    }
  });

  test('that moves the old file away first', async () => {
    const service = await startTestService({ content: saying('one') });
    renameSync(fileOf(service), `${fileOf(service)}~`);
    await waitForStatus(service, 'invalid');
    expect(await titlesOf(service)).toEqual(['one']);
    service.writeContent(saying('two'));
    await waitFor(service, 'two');
  });

  test('that writes the file in two parts with a pause', async () => {
    const service = await startTestService({ content: saying('one') });
    const whole = JSON.stringify(saying('two'));
    writeFileSync(fileOf(service), whole.slice(0, 50));
    await waitForStatus(service, 'invalid');
    expect(await titlesOf(service)).toEqual(['one']);
    writeFileSync(fileOf(service), whole.slice(50), { flag: 'a' });
    await waitFor(service, 'two');
    expect((await healthOf(service)).content.status).toBe('ok');
  });

  test('that saves fifty times in a row', async () => {
    const service = await startTestService({ content: saying('0') });
    for (let save = 1; save <= 50; save += 1) {
      service.writeContent(save % 7 === 0 ? '{"screens":' : saying(String(save)));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await waitFor(service, '50');
    expect((await healthOf(service)).content.status).toBe('ok');
  });

  test('that saves the same text, or only touches the file', async () => {
    const service = await startTestService({ content: saying('same') });
    const before = await payloadOf(service);
    service.writeContent(`${JSON.stringify(saying('same'), null, 2)}\n`);
    await expect.poll(() => logged(service, 'content is live').length, patience).toBe(2);
    const later = new Date(Date.now() - 5_000);
    utimesSync(fileOf(service), later, later);
    await expect
      .poll(() => logged(service, 'content.json was saved without a change').length, patience)
      .toBeGreaterThan(0);
    expect(logged(service, 'content is live')).toHaveLength(2);
    expect(await payloadOf(service)).toEqual(before);
  });
});

test('the service plays on without its file, and reports that it is missing', async () => {
  const service = await startTestService({ content: saying('still here') });
  unlinkSync(fileOf(service));
  await waitForStatus(service, 'invalid');
  expect((await healthOf(service)).content.errors).toEqual([{ path: '', message: 'content.json is missing' }]);
  expect(await titlesOf(service)).toEqual(['still here']);
  mkdirSync(fileOf(service));
  await expect
    .poll(async () => (await healthOf(service)).content.errors[0]?.message, patience)
    .toMatch(/cannot be read: EISDIR/);
  rmSync(fileOf(service), { recursive: true });
  service.writeContent(saying('back'));
  await waitFor(service, 'back');
});

test('modified_at is when the file was saved, and created_at stays the same', async () => {
  const service = await startTestService({ content: saying('one') });
  const { screen: before } = await payloadOf(service);
  service.writeContent(saying('two'));
  const saved = new Date('2026-01-02T03:04:05.000Z');
  utimesSync(fileOf(service), saved, saved);
  await waitFor(service, 'two');
  const { screen: after } = await payloadOf(service);
  expect(after).toEqual({ ...before, modified_at: saved.toISOString() });
});

test('a modification time in the future counts as now', async () => {
  const service = await startTestService({ content: lobby });
  service.writeContent(saying('two'));
  const future = new Date(Date.now() + 86_400_000);
  utimesSync(fileOf(service), future, future);
  await waitFor(service, 'two');
  const { screen } = await payloadOf(service);
  expect(Date.parse(screen.modified_at)).toBeLessThanOrEqual(Date.now());
});

test('a change is live with ten thousand slides', async () => {
  const service = await startTestService({ content: saying('one') });
  service.writeContent(lobbyWith(Array.from({ length: 10_000 }, (_, at) => ({ kind: 'text', title: `${at}` }))));
  await expect.poll(async () => (await titlesOf(service)).length, patience).toBe(10_000);
});
