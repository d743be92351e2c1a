/** The set of feeds, over a real server, with the waiting times of tests. */
import type { RequestListener } from 'node:http';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { NetworkScope } from '../../service/domain/network-scope.ts';
import { openCache } from '../../service/feeds/cache.ts';
import { createFetch } from '../../service/feeds/fetch.ts';
import { createPolling, type Records } from '../../service/feeds/polling.ts';
import { createReader } from '../../service/feeds/source.ts';
import type { ServiceContext } from '../../service/module.ts';
import { createGet } from '../../service/platform/outbound/get.ts';
import { createTurns } from '../../service/platform/outbound/limiter.ts';
import { createLocator } from '../../service/platform/outbound/locate.ts';
import { patience } from '../support/observe.ts';
import { temporaryFolder } from '../support/service.ts';
import { testTempo } from '../support/tempo.ts';
import { item, rss, startFeedServer } from './server.ts';

const record = {
  ...{ id: 'news', name: 'News', url: 'http://news/', refresh_seconds: 900 },
  ...{ status: 'pending' as const, fetched_at: null, items: [] },
};

const follow = async (listener: RequestListener, now: () => number = Date.now, get = createGet()) => {
  const server = await startFeedServer(listener);
  const lines: string[] = [];
  const log = pino({}, { write: (line) => lines.push(line) });
  const context = {
    dirs: { data: temporaryFolder() },
    get,
    log,
    logs: () => log,
    now,
    monotonicNow: () => performance.now(),
    random: () => 0,
    tempo: testTempo,
    version: '1.0.0',
  };
  const feeds = createPolling(context, {
    cache: await openCache(context as unknown as ServiceContext),
    fetch: createFetch(context),
    reader: createReader(context),
    turns: createTurns({ total: 1, perHost: 1, gapMs: 0 }),
  });
  onTestFinished(feeds.close);
  let changes = 0;
  feeds.onChange(() => {
    changes += 1;
  });
  const settings = { kind: 'rss' as const, id: 'news', url: server.at('/'), refreshSeconds: 0.05, select: null };
  feeds.follow([settings]);
  const filled = (): Records => feeds.fill({ rssFeeds: [record], apiSources: [] });
  return {
    server,
    feeds,
    settings,
    changes: () => changes,
    feed: () => filled().rssFeeds[0],
    reason: () => feeds.health().rssFeeds[0]?.reason,
    count: (message: string) => lines.filter((line) => line.includes(message)).length,
  };
};

/** Waits for `more` further requests at the server. */
const rounds = (requests: unknown[], more: number): Promise<void> => {
  const until = requests.length + more;
  return expect.poll(() => requests.length, patience).toBeGreaterThanOrEqual(until);
};

test('a feed that fails keeps what it had, says so, and is back by itself', async () => {
  let answer: RequestListener = (_, response) => response.end(rss(item('One')));
  const { feed, reason, count, server } = await follow((request, response) => answer(request, response));
  await expect.poll(() => feed()?.status, patience).toBe('ok');
  const good = feed();
  expect(good?.items.map(({ title }) => title)).toEqual(['One']);

  answer = (_, response) => response.end('<html>Gateway timeout</html>');
  await expect.poll(() => feed()?.status, patience).toBe('stale');
  expect(feed()?.items).toEqual(good?.items);
  expect(reason()).toBe('it is no RSS, Atom, RDF or JSON feed');
  await rounds(server.requests, 3);
  expect(count('a source fails')).toBeLessThan(4);

  answer = (_, response) => response.end(rss(item('Two')));
  await expect.poll(() => feed()?.status, patience).toBe('ok');
  expect(feed()?.items.map(({ title }) => title)).toEqual(['Two']);
  expect([reason(), count('a source is back')]).toEqual([null, 1]);
});

test.each<[string, RequestListener]>([
  [
    'says so',
    (request, response) => {
      response.writeHead(request.headers['if-none-match'] === '"1"' ? 304 : 200, { ETag: '"1"' });
      response.end(response.statusCode === 200 ? rss(item('One')) : undefined);
    },
  ],
  ['sends the same', (_, response) => response.end(rss(item('One')))],
  ['counts its answers', ({ socket }, response) => response.end(rss(item('One'), `<ttl>${socket.remotePort}</ttl>`))],
])('a feed that has nothing new and %s is no news, but for its time once an hour', async (_, listener) => {
  let ahead = 0;
  const { feed, changes, feeds, server } = await follow(listener, () => Date.now() + ahead);
  await expect.poll(() => feed()?.status, patience).toBe('ok');
  const before = feed();
  await rounds(server.requests, 5);
  const { fetched_at } = feeds.health().rssFeeds[0] ?? {};
  expect(Date.parse(fetched_at ?? '')).toBeGreaterThan(Date.parse(before?.fetched_at ?? ''));
  expect([feed(), changes()]).toEqual([before, 1]);
  ahead = 3_600_000;
  await expect.poll(() => feed()?.fetched_at, patience).not.toBe(before?.fetched_at);
  await rounds(server.requests, 3);
  expect(changes()).toBe(2);
});

test('that a feed is nearer than it was is news', async () => {
  let nearness: NetworkScope = 0;
  const get = createGet(createLocator(undefined, () => nearness));
  const { feed, changes, feeds } = await follow((_, response) => response.end(rss(item('One'))), Date.now, get);
  await expect.poll(() => feed()?.status, patience).toBe('ok');
  const before = feed();
  expect([feeds.reach('rss', 'news'), changes()]).toEqual([0, 1]);
  nearness = 1;
  await expect.poll(changes, patience).toBe(2);
  expect([feeds.reach('rss', 'news'), feed()?.items]).toEqual([1, before?.items]);
  expect(feed()?.fetched_at).not.toBe(before?.fetched_at);
});

test('with another pace a feed keeps what it has; with another address it does not', async () => {
  const { feed, feeds, settings, server } = await follow((_, response) => response.end(rss(item('One'))));
  await expect.poll(() => feed()?.status, patience).toBe('ok');
  await server.close();
  feeds.follow([{ ...settings, refreshSeconds: 3600 }]);
  expect(feed()).toMatchObject({ status: 'ok', items: [{ title: 'One' }] });
  feeds.follow([{ ...settings, url: server.at('/other') }]);
  expect(feed()).toMatchObject({ status: 'pending', items: [] });
  feeds.follow([]);
  expect(feed()).toEqual(record);
  expect(feeds.health()).toEqual({ rssFeeds: [], apiSources: [] });
});

test.each<[string, string]>([
  ['JSON that is no feed', JSON.stringify({ news: [{ title: 'Two' }] })],
  ['a list', '[1, 2, 3]'],
  ['a page', '<!doctype html><title>Two</title>'],
  ['a calendar', 'BEGIN:VCALENDAR\r\nEND:VCALENDAR'],
])('a feed that becomes %s keeps what it had, and says that it failed', async (_, other) => {
  let text = rss(item('One'));
  const { feed, reason } = await follow((__, response) => response.end(text));
  await expect.poll(() => feed()?.status, patience).toBe('ok');
  text = other;
  await expect.poll(() => feed()?.status, patience).toBe('stale');
  expect(feed()?.items.map(({ title }) => title)).toEqual(['One']);
  expect(reason()).toMatch(/^it is no|^its XML/);
});

test('a source whose data change their shape has them as they are; where select finds nothing, those from before', async () => {
  let data: unknown = { list: [1, 2] };
  const { feeds, settings } = await follow((_, response) => response.end(JSON.stringify(data)));
  const api = { kind: 'api' as const, url: settings.url, refreshSeconds: 0.05 };
  feeds.follow([
    { ...api, id: 'all', select: null },
    { ...api, id: 'first', select: '$.list[0]' },
  ]);
  const source = { name: '', url: '', refresh_seconds: 1, status: 'pending' as const, fetched_at: null, data: null };
  const states = () =>
    feeds
      .fill({ rssFeeds: [], apiSources: ['all', 'first'].map((id) => ({ ...source, id })) })
      .apiSources.map(({ status, data: own }) => [status, own]);
  await expect.poll(states, patience).toEqual([
    ['ok', { list: [1, 2] }],
    ['ok', 1],
  ]);
  data = ['three'];
  await expect.poll(states, patience).toEqual([
    ['ok', ['three']],
    ['stale', 1],
  ]);
});

test('after the clock was set, pages hear when the feed was fetched by the clock as it is', async () => {
  let ahead = -7 * 86_400_000;
  const { feed, feeds, settings } = await follow(
    (_, response) => response.end(rss(item('One'))),
    () => Date.now() + ahead,
  );
  feeds.follow([{ ...settings, refreshSeconds: 86_400 }]);
  const age = () => Math.abs(Date.now() - Date.parse(feed()?.fetched_at ?? ''));
  await expect.poll(() => feed()?.status, patience).toBe('ok');
  expect(age()).toBeGreaterThan(86_400_000);
  for (const hours of [0, -48]) {
    ahead = hours * 3_600_000;
    await expect.poll(() => Math.abs(age() - Math.abs(ahead)), patience).toBeLessThan(30_000);
  }
});
