/** What is still known after a restart, and what a first start brings. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { healthOf, patience, payloadOf, titlesOf } from '../support/observe.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { testTempo } from '../support/tempo.ts';
import { everyKind, hello, lobby, lobbyWith } from './samples.ts';

const demoDir = join(import.meta.dirname, '..', '..', 'resources', 'demo');

describe('after a restart', () => {
  test('revisions and times are unchanged if the file is unchanged', async () => {
    const dataDir = temporaryFolder();
    const slowly = { ...testTempo, feeds: { ...testTempo.feeds, start: 1_000 } };
    const first = await startTestService({ dataDir, content: everyKind, tempo: slowly });
    // Nobody answers for the feed that a slide names.
    const { rssFeeds, apiSources } = await payloadOf(first);
    expect([...rssFeeds, ...apiSources].map(({ status }) => status)).toEqual(['pending']);
    const settled = async (service: TestService) => {
      const statuses = async () => {
        const payload = await payloadOf(service);
        return [...payload.rssFeeds, ...payload.apiSources].map(({ status }) => status);
      };
      await expect.poll(statuses, patience).toEqual(['failed']);
      return payloadOf(service);
    };
    const before = await settled(first);
    await first.close();
    // Saved again meanwhile, without a change.
    writeFileSync(join(dataDir, 'content.json'), JSON.stringify(everyKind, null, 4));
    expect(await settled(await startTestService({ dataDir }))).toEqual(before);
  });

  test('a change made while the service was down is shown with its modification time', async () => {
    const dataDir = temporaryFolder();
    const first = await startTestService({ dataDir, content: lobby });
    const { screen: before } = await payloadOf(first);
    await first.close();
    const { screen: after, slides } = await payloadOf(
      await startTestService({ dataDir, content: lobbyWith([{ ...hello, title: 'Good evening' }]) }),
    );
    expect(slides[0]?.title).toBe('Good evening');
    expect(after).toEqual({ ...before, modified_at: after.modified_at });
    expect(Date.parse(after.modified_at)).toBeGreaterThan(Date.parse(before.modified_at));
  });

  test.each<[string, (path: string) => void]>([
    ['a broken file', (path) => writeFileSync(path, '{"screens": [')],
    ['no file', (path) => rmSync(path)],
  ])('the last good content plays beside %s', async (_, spoil) => {
    const dataDir = temporaryFolder();
    const first = await startTestService({ dataDir, content: lobby });
    const before = await payloadOf(first);
    await first.close();
    spoil(join(dataDir, 'content.json'));
    const second = await startTestService({ dataDir });
    expect(await payloadOf(second)).toEqual(before);
    expect((await healthOf(second)).content.status).toBe('invalid');
  });

  test('screens that show one playlist share it in what is kept, and play it beside a broken file', async () => {
    const dataDir = temporaryFolder();
    const slides = Array.from({ length: 50 }, (_, index) => ({ ...hello, body: `Slide ${index}` }));
    const slugs = Array.from({ length: 40 }, (_, index) => `lobby-${index}`);
    const screens = [
      ...slugs.map((slug) => ({ name: slug, slug, playlist_id: 'welcome' })),
      { name: 'Bar', slug: 'bar' },
    ];
    const first = await startTestService({ dataDir, content: { ...lobbyWith(slides), screens } });
    const payloads = (service: TestService) =>
      Promise.all(['lobby-0', 'lobby-39', 'bar'].map((slug) => payloadOf(service, slug)));
    const before = await payloads(first);
    await first.close();
    const { size } = statSync(join(dataDir, 'content.kept.json'));
    expect(size).toBeLessThan(10 * Buffer.byteLength(JSON.stringify({ ...lobbyWith(slides), screens })));
    writeFileSync(join(dataDir, 'content.json'), '{');
    expect(await payloads(await startTestService({ dataDir }))).toEqual(before);
  });

  test('the service starts beside a file that was never valid, and does not overwrite it', async () => {
    const service = await startTestService({ content: '{"screens": 1}' });
    const { status, content } = await healthOf(service);
    expect([status, content.status]).toEqual(['failing', 'invalid']);
    expect((await service.get('/api/screens/lobby/playlist')).status).toBe(404);
    expect(readFileSync(join(service.dataDir, 'content.json'), 'utf8')).toBe('{"screens": 1}');
  });

  test('the demo is not written again for content without screens', async () => {
    const dataDir = temporaryFolder();
    const first = await startTestService({ dataDir, content: { screens: [] } });
    await first.close();
    rmSync(join(dataDir, 'content.json'));
    const second = await startTestService({ dataDir });
    expect((await second.get('/api/screens/demo/playlist')).status).toBe(404);
    expect(existsSync(join(dataDir, 'content.json'))).toBe(false);
  });
});

describe('the first start', () => {
  test('writes the demo and its media, and plays the demo', async () => {
    const service = await startTestService({ isDemoShipped: true });
    const { screen, slides } = await payloadOf(service, 'demo');
    expect(screen.slug).toBe('demo');
    expect(slides.length).toBeGreaterThanOrEqual(6);
    expect(slides.length).toBeLessThanOrEqual(8);
    expect((await healthOf(service)).content).toEqual({ status: 'ok', errors: [], warnings: [], replaced: [] });
    expect(readFileSync(join(service.dataDir, 'content.json'))).toEqual(readFileSync(join(demoDir, 'content.json')));
    const media = slides.map(({ media_url }) => media_url).filter((url) => url !== null);
    expect(media.length).toBeGreaterThan(0);
    for (const url of media) expect((await service.get(url)).status).toBe(200);
  });

  test('does not overwrite files of the operator', async () => {
    const dataDir = temporaryFolder();
    const service = await startTestService({ dataDir, content: lobby });
    expect(await titlesOf(service)).toEqual(['Hello']);
    const media = readdirSync(join(dataDir, 'media'), { withFileTypes: true });
    expect(media.filter((entry) => entry.isFile())).toEqual([]);
    expect(readFileSync(join(dataDir, 'content.json'), 'utf8')).toBe(JSON.stringify(lobby));
  });
});

test('the service writes a JSON Schema beside the file that accepts what the service accepts', async () => {
  const { dataDir } = await startTestService({ content: lobby });
  const path = join(dataDir, 'content.schema.json');
  await expect.poll(() => existsSync(path) && readFileSync(path, 'utf8').endsWith('}\n')).toBe(true);
  const schema = JSON.parse(readFileSync(path, 'utf8'));
  expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
  // Formats are patterns there as well, so that an editor without formats sees the same.
  const validate = new Ajv2020({ strict: true, validateFormats: false }).compile(schema);
  const demo = JSON.parse(readFileSync(join(demoDir, 'content.json'), 'utf8'));
  for (const good of [demo, lobby, everyKind, { screens: [] }]) {
    expect(validate(good), JSON.stringify(validate.errors)).toBe(true);
  }
  for (const broken of [
    {},
    { ...demo, screns: [] },
    { screens: [{ name: 'Lobby', slug: 'Lobby' }] },
    lobbyWith([{ kind: 'image' }]),
    lobbyWith([{ ...hello, duration_seconds: 0 }]),
    lobbyWith([{ ...hello, titel: '' }]),
    lobbyWith([{ ...hello, schedule_start_time: '25:00' }]),
  ]) {
    expect(validate(broken), JSON.stringify(broken)).toBe(false);
  }
});
