/** Feeds and sources through the front door: what a server sends stands in the payload, and what it spoils does not. */
import { copyFileSync, readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { healthOf, patience, payloadOf } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { walk, walks } from '../support/soak.ts';
import { testTempo } from '../support/tempo.ts';
import { item, pour, rss, startFeedServer } from './server.ts';

/** A screen whose slides name all feeds and sources. */
const lobby = (more: object) => ({
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
  playlists: [
    {
      id: 'main',
      slides: [
        { kind: 'text', title: 'Hello' },
        { kind: 'template', template_id: 'all' },
      ],
    },
  ],
  templates: [{ id: 'all', html: '{% for feed in feeds %}{{ feed }}{% endfor %}{{ sources.weather.data }}' }],
  ...more,
});
const feed = (url: string, more = {}) => ({ id: 'news', url, refresh_seconds: 10, ...more });
const feedOf = async (service: TestService) => (await payloadOf(service)).rssFeeds[0];
const sourceOf = async (service: TestService) => (await payloadOf(service)).apiSources[0];
const waitForStatus = (service: TestService, status: string) =>
  expect.poll(async () => (await feedOf(service))?.status, patience).toBe(status);
const titles = async (service: TestService) => (await feedOf(service))?.items.map(({ title }) => title);

/** For tests of what is there before the first fetch. */
const slowly = { ...testTempo, feeds: { ...testTempo.feeds, start: 1_500 } };

const sending =
  (body: string | Buffer, headers: Record<string, string> = {}): RequestListener =>
  (_, response) =>
    response.writeHead(200, headers).end(body);

test('a feed is live within moments, pages are told once, and the screen counts as unchanged', async () => {
  const server = await startFeedServer(sending(rss(item('One') + item('Two'))));
  const service = await startTestService({
    content: lobby({ rssFeeds: [feed(server.at('/'), { name: 'The news' })] }),
    tempo: slowly,
  });
  const before = await payloadOf(service);
  expect(before.rssFeeds).toMatchObject([{ name: 'The news', status: 'pending', fetched_at: null, items: [] }]);
  const page = await joinScreen(service, 'lobby');
  await waitForStatus(service, 'ok');
  const after = await payloadOf(service);
  expect(after.rssFeeds[0]?.items.map(({ title }) => title)).toEqual(['One', 'Two']);
  expect(Date.now() - Date.parse(after.rssFeeds[0]?.fetched_at ?? '')).toBeLessThan(20_000);
  expect(after.screen).toEqual(before.screen);
  const told = await page.message(({ type }) => type === 'revision');
  expect(told.revision).toBe(after.revision);
  expect(after.revision).not.toBe(before.revision);
  expect(await healthOf(service)).toMatchObject({ rssFeeds: [{ id: 'news', status: 'ok', reason: null }] });
});

test('an API source is live, and what its path selects; the path itself stays at home', async () => {
  const server = await startFeedServer(sending('{"now":{"temperature":21.5},"key":"x"}'));
  const source = { id: 'weather', url: server.at('/').replace('//', '//me:secret@'), select: '$.now' };
  const service = await startTestService({ content: lobby({ apiSources: [source] }) });
  await expect.poll(async () => (await sourceOf(service))?.status, patience).toBe('ok');
  const url = `${server.at('/')}`;
  const { fetched_at, ...told } = (await sourceOf(service)) ?? {};
  expect(told).toEqual({
    id: 'weather',
    name: 'weather',
    url,
    refresh_seconds: 900,
    status: 'ok',
    data: { temperature: 21.5 },
  });
  expect(server.requests[0]?.headers.authorization).toMatch(/^Basic /);
});

test('a path that is none is refused with the file', async () => {
  const source = { id: 'weather', url: 'http://127.0.0.1:9/', select: '$.[' };
  const service = await startTestService({ content: lobby({ apiSources: [source] }) });
  expect((await healthOf(service)).content.errors).toEqual([
    { path: 'apiSources[0].select', message: expect.stringMatching(/RFC 9535/) },
  ]);
});

test('the baseline variant asks for nothing', async () => {
  const server = await startFeedServer(sending(rss(item('One'))));
  const content = lobby({ rssFeeds: [feed(server.at('/'))] });
  const baseline = await startTestService({ content, env: { SIGNAGE_VARIANT: 'baseline' } });
  const extended = await startTestService({ content });
  await waitForStatus(extended, 'ok');
  expect(server.requests).toHaveLength(1);
  expect(await (await baseline.get('/healthz')).json()).toMatchObject({ rssFeeds: [], apiSources: [] });
});

describe('after a restart', () => {
  test.each(['killed', ...walks('closed')])(
    'what was there before it was %s is there before the first fetch',
    async (end) => {
      const server = await startFeedServer(sending(rss(item('One'))));
      const dataDir = temporaryFolder();
      const first = await startTestService({ dataDir, content: lobby({ rssFeeds: [feed(server.at('/'))] }) });
      await waitForStatus(first, 'ok');
      const left = temporaryFolder();
      if (end === 'closed') await first.close();
      else await expect.poll(() => readFileSync(join(dataDir, 'feeds.kept.json'), 'utf8'), patience).toMatch('One');
      // What is on the disk, and no more: the folder itself is its own while the first runs.
      for (const name of ['content.json', 'feeds.kept.json']) copyFileSync(join(dataDir, name), join(left, name));
      await server.close();
      const second = await startTestService({ dataDir: left, tempo: slowly });
      expect(await feedOf(second)).toMatchObject({ status: 'ok', items: [{ title: 'One' }] });
      await waitForStatus(second, 'stale');
      expect(await titles(second)).toEqual(['One']);
    },
  );

  test('of another address nothing is there', walk, async () => {
    const server = await startFeedServer(sending(rss(item('One'))));
    const dataDir = temporaryFolder();
    const first = await startTestService({ dataDir, content: lobby({ rssFeeds: [feed(server.at('/'))] }) });
    await waitForStatus(first, 'ok');
    await first.close();
    await server.close();
    const second = await startTestService({
      dataDir,
      content: lobby({ rssFeeds: [feed(server.at('/other'))] }),
      tempo: slowly,
    });
    expect(await feedOf(second)).toMatchObject({ status: 'pending', items: [] });
    await waitForStatus(second, 'failed');
  });
});

test('a feed without a name is called what it calls itself, by an id only where that is nothing', async () => {
  const server = await startFeedServer(({ url }, response) =>
    response.end(
      rss(item('One')).replace('<title>News</title>', url === '/b' ? '' : '<title>The &amp;amp; Paper</title>'),
    ),
  );
  const sources = ['/a', '/b', '/c'].map((path, at) => ({ id: `feed${at}`, url: server.at(path, at + 1) }));
  const rssFeeds = sources.map((source) => (source.id === 'feed2' ? { ...source, name: 'Mine' } : source));
  const service = await startTestService({ content: lobby({ rssFeeds }) });
  await expect
    .poll(async () => (await payloadOf(service)).rssFeeds.map(({ name }) => name), patience)
    .toEqual(['The & Paper', 'feed1', 'Mine']);
});

test('a feed that leaves the content is asked no more, one that stays is not asked again', async () => {
  const server = await startFeedServer(sending(rss(item('One'))));
  const both = [feed(server.at('/a')), feed(server.at('/b', 2), { id: 'other' })];
  const service = await startTestService({ content: lobby({ rssFeeds: both }) });
  await expect
    .poll(async () => (await payloadOf(service)).rssFeeds.map(({ status }) => status), patience)
    .toEqual(['ok', 'ok']);
  service.writeContent(lobby({ rssFeeds: [{ ...both[0], name: 'Renamed' }] }));
  await expect.poll(async () => (await feedOf(service))?.name, patience).toBe('Renamed');
  expect(await feedOf(service)).toMatchObject({ status: 'ok', items: [{ title: 'One' }] });
  expect((await healthOf(service)).rssFeeds.map(({ id }) => id)).toEqual(['news']);
  expect(server.requests).toHaveLength(2);
});

/** Everything that a server can do wrong; `good` is the control. */
const corpus: Record<string, RequestListener> = {
  good: sending(rss(item('One'))),
  latin: sending(Buffer.from(rss(item('Fünf')).replace('?>', ' encoding="iso-8859-1"?>'), 'latin1')),
  wide: sending(Buffer.from(`\ufeff${rss(item('Fünf'))}`, 'utf16le')),
  nul: sending(rss(item('O\0ne'))),
  entities: sending(
    `<!DOCTYPE x [<!ENTITY a "${'a'.repeat(50)}"><!ENTITY b "${'&a;'.repeat(99)}">]>${rss(item('&b;')).slice(21)}`,
  ),
  broken: sending(rss(item('One')).slice(0, 120)),
  deep: sending(`<rss version="2.0"><channel>${'<a>'.repeat(100_000)}`),
  html: sending('<!doctype html><title>Please sign in</title>', { 'Content-Type': 'application/rss+xml' }),
  empty: sending(''),
  spaces: sending(' \n '),
  json: sending('{"items": [1, 2, 3]}'),
  bomb: sending(gzipSync(Buffer.alloc(100_000_000)), { 'Content-Encoding': 'gzip' }),
  large: (_, response) => void response.writeHead(200, { 'Content-Length': 100_000_000 }).write('<rss>'),
  endless: (_, response) => pour(response, Buffer.alloc(65_536, '<a>')),
  file: (_, response) => response.writeHead(302, { Location: 'file:///etc/passwd' }).end(),
  loop: (request, response) => response.writeHead(302, { Location: request.url }).end(),
  error: (_, response) => response.writeHead(500).end(),
  reset: ({ socket }) => socket.destroy(),
  drip: (_, response) => pour(response, '<', 200),
  hang: () => {},
};
const succeeding = new Set(['good', 'latin', 'wide', 'nul', 'entities']);
const lasting = new Set(['drip', 'hang']);

test('a world of broken feeds costs nothing but their status, and no secret is told', async () => {
  const server = await startFeedServer((request, response) => {
    corpus[request.url?.split(/[/?]/)[1] ?? '']?.(request, response);
  });
  const rssFeeds = Object.keys(corpus).map((id, at) =>
    feed(server.at(`/${id}?key=topsecret`, at + 1).replace('//', '//user:passw0rd@'), { id, refresh_seconds: 3600 }),
  );
  const service = await startTestService({ content: lobby({ rssFeeds }) });
  const statuses = async () =>
    Object.fromEntries((await payloadOf(service)).rssFeeds.map(({ id, status }) => [id, status]));
  const expected = (id: string): string => (succeeding.has(id) ? 'ok' : lasting.has(id) ? 'pending' : 'failed');
  await expect
    .poll(statuses, patience)
    .toEqual(Object.fromEntries(Object.keys(corpus).map((id) => [id, expected(id)])));

  const { rssFeeds: told } = await payloadOf(service);
  const firstTitle = (id: string) => told.find((each) => each.id === id)?.items[0]?.title;
  expect([...succeeding].map(firstTitle)).toEqual(['One', 'Fünf', 'Fünf', 'One', expect.any(String)]);
  const health = await healthOf(service);
  for (const { id, status, reason } of health.rssFeeds)
    expect([id, reason === null]).toEqual([id, status !== 'failed']);
  expect(JSON.stringify(health) + service.log()).not.toMatch(/topsecret|passw0rd/);
  expect(JSON.stringify(told)).not.toMatch(/passw0rd/);
  await service.close();
  // Those that go on for ever were not waited for until they failed.
  for (const id of lasting) expect(service.log()).not.toContain(`"source":"${id}"`);
});
