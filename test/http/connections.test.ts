/** `GET /api/screens/{slug}/connections` and `/clients`: the live snapshot. */
import { describe, expect, test } from 'vitest';
import { connectionSnapshot } from '../../service/contract/connections.ts';
import { fields, lobby, timestampPattern } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService } from '../support/service.ts';

const snapshotFields = {
  baseline: ['screen', 'screenSlug', 'count', 'connections'],
  extended: ['screen', 'screenSlug', 'count', 'connections', 'degraded'],
};
const connectionFields = {
  baseline: [
    ...['id', 'clientId', 'label', 'userAgent', 'viewport', 'page', 'currentSlide', 'paused', 'blackout'],
    ...['clientIp', 'remoteAddress', 'connectedAt', 'lastSeenAt'],
  ],
  extended: [
    ...['id', 'clientId', 'clientName', 'deviceId', 'label', 'userAgent', 'viewport', 'page', 'currentSlide'],
    ...['currentSlideId', 'currentSlideTitle', 'paused', 'blackout', 'clientIp', 'remoteAddress', 'connectedAt'],
    'lastSeenAt',
  ],
};

describe.each(['extended', 'baseline'] as const)('in the %s variant', (variant) => {
  test.each(['connections', 'clients'])('/%s has exactly the specified fields', async (path) => {
    const service = await startTestService({ content: lobby, env: { SIGNAGE_VARIANT: variant } });
    await joinScreen(service, 'lobby');
    const response = await service.get(`/api/screens/lobby/${path}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const snapshot = await response.json();
    expect(Object.keys(snapshot)).toEqual(snapshotFields[variant]);
    expect(Object.keys(snapshot.screen)).toEqual(fields.screen);
    expect(snapshot).toMatchObject({ screen: { name: 'Lobby' }, screenSlug: 'lobby', count: 1 });
    expect(snapshot.connections.map(Object.keys)).toEqual([connectionFields[variant]]);
  });
});

test('both paths return the same snapshot', async () => {
  const service = await startTestService({ content: lobby });
  await joinScreen(service, 'lobby');
  const [one, other] = await Promise.all(
    ['connections', 'clients'].map(async (path) => (await service.get(`/api/screens/lobby/${path}`)).json()),
  );
  expect(one).toEqual(other);
});

test('a screen without pages has no connections', async () => {
  const service = await startTestService({ content: lobby });
  const snapshot = await (await service.get('/api/screens/lobby/connections')).json();
  expect(snapshot).toMatchObject({ count: 0, connections: [], degraded: false });
});

test('connections are listed oldest first, without those of other screens', async () => {
  const screens = ['lobby', 'bar'].map((slug) => ({ name: slug, slug }));
  const service = await startTestService({ content: { screens } });
  for (const [slug, clientId] of [
    ['lobby', 'a'],
    ['bar', 'b'],
    ['lobby', 'c'],
  ] as const) {
    await joinScreen(service, slug, { clientId });
  }
  const { count, connections } = await (await service.get('/api/screens/lobby/connections')).json();
  expect(count).toBe(2);
  expect(connections.map(({ clientId }: { clientId: string }) => clientId)).toEqual(['a', 'c']);
});

test('a snapshot, including its timestamps, matches its schema', async () => {
  const service = await startTestService({ content: lobby });
  await joinScreen(service, 'lobby');
  const snapshot: unknown = await (await service.get('/api/screens/lobby/connections')).json();
  const { connections } = connectionSnapshot.parse(snapshot);
  expect(connectionSnapshot.parse(snapshot)).toEqual(snapshot);
  expect(connections[0]?.connectedAt).toMatch(timestampPattern);
  expect(connections[0]?.lastSeenAt).toMatch(timestampPattern);
});

test('an unchanged snapshot is answered with 304, and a changed one in full', async () => {
  const service = await startTestService({ content: lobby });
  const page = await joinScreen(service, 'lobby');
  const path = '/api/screens/lobby/connections';
  const etagOf = async (): Promise<string> => (await service.get(path)).headers.get('etag') ?? '';
  const ask = async (etag: string, method = 'GET') => {
    const response = await service.get(path, { method, headers: { 'If-None-Match': etag }, cache: 'no-store' });
    return { status: response.status, etag: response.headers.get('etag'), body: await response.text() };
  };
  const etag = await etagOf();
  expect(etag).toMatch(/^"[^"]+"$/);
  for (const method of ['GET', 'HEAD']) expect(await ask(etag, method)).toEqual({ status: 304, etag, body: '' });
  page.send({ type: 'state', page: '/screen/lobby', currentSlide: 3 });
  await expect.poll(etagOf, patience).not.toBe(etag);
  const changed = await ask(etag);
  expect(changed.status).toBe(200);
  expect(JSON.parse(changed.body).connections[0].currentSlide).toBe(3);
  page.socket.close();
  await expect.poll(async () => JSON.parse((await ask(etag)).body).count, patience).toBe(0);
});

test('a snapshot of many pages reaches many readers at once, and a command meanwhile all pages', {
  timeout: 30_000,
}, async () => {
  const service = await startTestService({ content: lobby });
  const pages = await Promise.all(
    Array.from({ length: 150 }, (_, at) => joinScreen(service, 'lobby', { clientId: `client-${at}` })),
  );
  const readers = Array.from({ length: 40 }, async () => (await service.get('/api/screens/lobby/connections')).text());
  const told = pages.map((page) => page.message(({ command }) => command === 'next'));
  expect(await (await service.post('/api/screens/lobby/commands', { command: 'next' })).json()).toMatchObject({
    sent: pages.length,
  });
  await Promise.all(told);
  const bodies = new Set((await Promise.all(readers)).map((body) => JSON.parse(body).count));
  expect([...bodies]).toEqual([150]);
});
