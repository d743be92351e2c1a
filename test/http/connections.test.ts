/** `GET /api/screens/{slug}/connections` and `/clients`: the live snapshot. */
import { describe, expect, test } from 'vitest';
import { connectionSnapshot } from '../../service/contract/connections.ts';
import { fields, lobby, timestampPattern } from '../content/samples.ts';
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
