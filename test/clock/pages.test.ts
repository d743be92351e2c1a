/** What a page learns of a playlist that is shown everywhere at the same time, by hand. */
import { expect, test } from 'vitest';
import type { Health } from '../../service/contract/health.ts';
import { healthOf, patience, payloadOf } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';

const slide = { kind: 'text', title: 'Hello', duration_seconds: 2 };
const site = (sync: boolean | undefined, slides: object[] = [slide]) => ({
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
  playlists: [{ id: 'main', slides, ...(sync === undefined ? null : { sync }) }],
});

const headerOf = async (service: TestService) =>
  (await service.get('/api/screens/lobby/playlist')).headers.get('x-signage-sync');
const syncOf = async (service: TestService) => ((await (await service.get('/healthz')).json()) as Health).sync;

test('a header says so, beside the payload, which stays what it is', async () => {
  const service = await startTestService({ content: site(true) });
  expect(await headerOf(service)).toBe('1');
  const payload = await payloadOf(service);
  expect(Object.keys(payload.playlist ?? {})).toEqual(['id', 'name', 'fade_between_slides']);
  expect(payload).not.toHaveProperty('sync');
  const again = await service.get('/api/screens/lobby/playlist', {
    headers: { 'If-None-Match': `"${payload.revision}"` },
  });
  expect([again.status, again.headers.get('x-signage-sync')]).toEqual([304, '1']);
});

test('pages are told where it changes, though the file says when the screen was modified', async () => {
  const dated = (sync: boolean) => {
    const { screens, playlists } = site(sync);
    return { screens: [{ ...screens[0], modified_at: '2026-01-01T00:00:00.000Z' }], playlists };
  };
  const service = await startTestService({ content: dated(false) });
  const page = await joinScreen(service, 'lobby');
  const { revision, ...rest } = await payloadOf(service);
  service.writeContent(dated(true));
  const told = await page.message(({ type }) => type === 'revision');
  expect(told.revision).not.toBe(revision);
  expect(await payloadOf(service)).toEqual({ ...rest, revision: told.revision });
});

test.each([[false], [undefined]])('no other playlist has it: sync %s', async (sync) => {
  const service = await startTestService({ content: site(sync) });
  expect(await headerOf(service)).toBeNull();
});

test('pages are told where it changes, and it outlives a restart beside a file that has gone bad', async () => {
  const dataDir = temporaryFolder();
  const service = await startTestService({ dataDir, content: site(false) });
  const { revision } = await payloadOf(service);
  const page = await joinScreen(service, 'lobby');
  service.writeContent(site(true));
  const told = await page.message(({ type }) => type === 'revision');
  expect(told.revision).not.toBe(revision);
  expect(await headerOf(service)).toBe('1');
  await service.close();
  const next = await startTestService({ dataDir, content: 'bad' });
  expect(await headerOf(next)).toBe('1');
  expect((await payloadOf(next)).revision).toBe(told.revision);
});

test.each([
  { kind: 'video', media_url: '/media/film.mp4' },
  { kind: 'pdf', media_url: '/media/menu.pdf' },
  { kind: 'rss', content: { feed_id: 'news' } },
  { kind: 'timetable', content: { group_id: 'buses' } },
])('a slide of it whose length only a page could find out needs one: $kind', async (each) => {
  const more = {
    rssFeeds: [{ id: 'news', url: 'http://127.0.0.1:9/news' }],
    timetableGroups: [{ id: 'buses', entries: [] }],
  };
  const service = await startTestService({ content: { ...site(true, [slide, each]), ...more } });
  expect((await healthOf(service)).content).toMatchObject({
    status: 'invalid',
    errors: [{ path: 'playlists[0].slides[1].duration_seconds', message: expect.stringContaining('sync') }],
  });
  service.writeContent({ ...site(true, [slide, { ...each, duration_seconds: 4 }]), ...more });
  await expect.poll(async () => (await healthOf(service)).content.status, patience).toBe('ok');
});

test('its socket tells the time of the site', async () => {
  const service = await startTestService({ content: site(true), wall: () => Date.now() + 3_600_000 });
  await expect.poll(async () => (await syncOf(service)).established, patience).toBe(true);
  const page = await joinScreen(service, 'lobby');
  page.send({ type: 'time', t0: 1234.5 });
  const { t0, t1, t2, followed } = await page.message(({ type }) => type === 'time');
  expect([t0, followed]).toEqual([1234.5, true]);
  expect(Math.abs(Number(t1) - Date.now() - 3_600_000)).toBeLessThan(60_000);
  expect(Number(t2)).toBeGreaterThanOrEqual(Number(t1));
});

test('what pages say of their skew is summed up in /healthz', async () => {
  const service = await startTestService({ content: site(true) });
  expect(await syncOf(service)).toMatchObject({ swaps: null, videos: null });
  const page = await joinScreen(service, 'lobby');
  page.send({
    type: 'skew',
    swaps: Array.from({ length: 100 }, (_, index) => (index % 2 ? -index : index)),
    videos: [],
  });
  await expect
    .poll(async () => (await syncOf(service)).swaps, patience)
    .toEqual({ count: 100, p50: 50, p95: 95, max: 99 });
  page.send({ type: 'skew', swaps: [Number.MAX_VALUE], videos: [] });
  expect(await page.closed).toBe(1008);
});
