/** Whom a command reaches. */
import { beforeEach, expect, test } from 'vitest';
import { joinScreen, type TestPage } from '../support/page.ts';
import { startTestService, type TestService } from '../support/service.ts';

type Page = TestPage & { connectionId: string };

let service: TestService;
let pages: Record<'older' | 'newer' | 'other' | 'elsewhere', Page>;

beforeEach(async () => {
  const screens = ['lobby', 'bar'].map((slug) => ({ name: slug, slug }));
  service = await startTestService({ content: { screens } });
  pages = {
    older: await joinScreen(service, 'lobby', { clientId: 'twice' }),
    newer: await joinScreen(service, 'lobby', { clientId: 'twice' }),
    other: await joinScreen(service, 'lobby', { clientId: 'once' }),
    elsewhere: await joinScreen(service, 'bar', { clientId: 'elsewhere' }),
  };
});

const send = async (target: object) => {
  const response = await service.post('/api/screens/lobby/commands', { command: 'next', ...target });
  return { status: response.status, result: await response.json() };
};

/** The names of the pages that were told, once all have heard a command that is for everybody. */
const told = async (): Promise<string[]> => {
  for (const slug of ['lobby', 'bar']) await service.post(`/api/screens/${slug}/commands`, { command: 'refresh' });
  const reached: string[] = [];
  for (const [name, page] of Object.entries(pages)) {
    await page.message(({ command }) => command === 'refresh');
    if (page.messages.some(({ command }) => command === 'next')) reached.push(name);
  }
  return reached;
};

test('without a target, all connections of the screen', async () => {
  expect((await send({})).result).toMatchObject({ connectionId: null, sent: 3 });
  expect(await told()).toEqual(['older', 'newer', 'other']);
});

test('a connectionId, that connection', async () => {
  const { connectionId } = pages.older;
  expect((await send({ connectionId })).result).toMatchObject({ connectionId, sent: 1 });
  expect(await told()).toEqual(['older']);
});

test('a clientId, its newest connection', async () => {
  expect((await send({ clientId: 'twice' })).result).toMatchObject({ connectionId: pages.newer.connectionId, sent: 1 });
  expect(await told()).toEqual(['newer']);
});

test('a clientId whose newest connection has gone, the one before', async () => {
  pages.newer.socket.close();
  await pages.newer.closed;
  const { connectionId } = pages.older;
  await expect.poll(async () => (await send({ clientId: 'twice' })).result).toMatchObject({ connectionId, sent: 1 });
});

test('both, where they name the same', async () => {
  const { connectionId } = pages.other;
  expect((await send({ connectionId, clientId: 'once' })).result).toMatchObject({ connectionId, sent: 1 });
  expect(await told()).toEqual(['other']);
});

test('both, where they name two: nobody', async () => {
  const { status, result } = await send({ connectionId: pages.other.connectionId, clientId: 'twice' });
  expect([status, result]).toMatchObject([400, { error: { code: 'invalid_field', field: 'clientId' } }]);
  expect(await told()).toEqual([]);
});

test('both, where the client has a newer connection: nobody', async () => {
  const { status, result } = await send({ connectionId: pages.older.connectionId, clientId: 'twice' });
  expect([status, result]).toMatchObject([400, { error: { code: 'invalid_field', field: 'clientId' } }]);
  expect(result.error.message).toContain('clientId names the newest of its client.');
  const { connectionId } = pages.newer;
  expect((await send({ connectionId, clientId: 'twice' })).result).toMatchObject({ connectionId, sent: 1 });
  expect(await told()).toEqual(['newer']);
});

test.each<[string, () => object]>([
  ['an unknown connectionId', () => ({ connectionId: 'gone' })],
  ['an unknown clientId', () => ({ clientId: 'gone' })],
  ['the connectionId of another screen', () => ({ connectionId: pages.elsewhere.connectionId })],
  ['the clientId of another screen', () => ({ clientId: 'elsewhere' })],
  ['an unknown connectionId and a known clientId', () => ({ connectionId: 'gone', clientId: 'once' })],
  [
    'a known connectionId and an unknown clientId of another screen',
    () => ({ connectionId: pages.elsewhere.connectionId, clientId: 'once' }),
  ],
  ['a name of the prototype', () => ({ connectionId: '__proto__' })],
])('%s: nobody, which is no error', async (_, target) => {
  const { status, result } = await send(target());
  expect([status, result.sent]).toEqual([200, 0]);
  expect(await told()).toEqual([]);
});

test('a clientId that is not there has no connectionId', async () => {
  expect((await send({ clientId: 'gone' })).result.connectionId).toBeNull();
});

test('a screen that nobody shows: nobody', async () => {
  service.writeContent({ screens: [{ name: 'New', slug: 'new' }] });
  await expect.poll(async () => (await service.get('/screen/new')).status, { timeout: 20_000 }).toBe(200);
  const response = await service.post('/api/screens/new/commands', { command: 'next' });
  expect([response.status, await response.json()]).toMatchObject([200, { screenSlug: 'new', sent: 0 }]);
});
