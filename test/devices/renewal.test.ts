/** When a page renews its token, by clocks that can be turned. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPageToken } from '../../renderer/shared/page-token.ts';

const MINUTE = 60_000;
const LIFE = 15 * MINUTE;

const issue = (token: string, life = LIFE) => ({
  token,
  issuedAt: new Date(0).toISOString(),
  expiresAt: new Date(life).toISOString(),
});

/** The tokens that renewals were asked for with. */
let asked: (string | undefined)[] = [];
let requests: unknown[] = [];
let respond: () => Promise<Response>;

beforeEach(() => {
  vi.useFakeTimers();
  [asked, requests] = [[], []];
  respond = async () => Response.json(issue(`token-${asked.length + 1}`));
  vi.stubGlobal('fetch', (path: string, { method, headers }: RequestInit) => {
    requests.push([method, path]);
    asked.push((headers as Record<string, string> | undefined)?.['x-signage-page-auth']);
    return respond();
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  for (const request of requests) expect(request).toStrictEqual(['POST', '/api/auth/page']);
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const create = () => createPageToken(issue('token-1'), 'http://box/');

it('renews at two thirds of its life, again and again', async () => {
  const token = create();
  await pass(9.9 * MINUTE);
  expect(asked).toStrictEqual([]);
  await pass(0.2 * MINUTE);
  expect(asked).toStrictEqual(['token-1']);
  expect(token.header()).toStrictEqual({ 'x-signage-page-auth': 'token-2' });
  expect(token.protocols()).toStrictEqual(['signage.v1', 'token.token-2']);
  await pass(9.8 * MINUTE);
  expect(asked).toHaveLength(1);
  await pass(0.4 * MINUTE);
  expect(asked).toStrictEqual(['token-1', 'token-2']);
});

it.each([3, 4, 5, 8, 60, 900])('renews a token of %i s before it expires, on a slow network too', async (seconds) => {
  const life = seconds * 1_000;
  respond = () =>
    new Promise((resolve) => {
      setTimeout(() => resolve(Response.json(issue(`token-${asked.length + 1}`, life))), 300);
    });
  // Its date was rounded down by almost a second, and the page took a third of a second to load.
  const expiries = [performance.now() + life - 999];
  await pass(333);
  const token = createPageToken(issue('token-1', life), 'http://box/');
  while (asked.length < 4) {
    const before = asked.length;
    await pass(50);
    if (asked.length > before) expiries.push(performance.now() + life - 999);
    const current = Number(/\d+$/.exec(token.header()['x-signage-page-auth'] ?? '')?.[0]);
    expect(performance.now()).toBeLessThan(expiries[current - 1] ?? 0);
  }
});

it('counts the time that the machine slept', async () => {
  create();
  await pass(MINUTE);
  vi.setSystemTime(Date.now() + 12 * MINUTE);
  await pass(2_000);
  expect(asked).toStrictEqual(['token-1']);
});

it('is not fooled by a clock that is set back', async () => {
  create();
  vi.setSystemTime(Date.now() - 3 * 24 * 60 * MINUTE);
  await pass(10.1 * MINUTE);
  expect(asked).toStrictEqual(['token-1']);
});

it.each<[string, () => Promise<Response>]>([
  ['does not answer', () => Promise.reject(new TypeError('no network'))],
  ['is too busy', async () => new Response('', { status: 503 })],
  ['answers nonsense', async () => new Response('<!doctype html>')],
])('keeps what it has while the service %s, and tries again, ever less often', async (_, failing) => {
  const succeeding = respond;
  respond = failing;
  const token = create();
  await pass(20 * MINUTE);
  expect(asked.length).toBeGreaterThan(20);
  expect(asked.length).toBeLessThan(200);
  expect(token.header()).toStrictEqual({ 'x-signage-page-auth': 'token-1' });
  respond = succeeding;
  await pass(20_000);
  expect(token.header()).not.toStrictEqual({ 'x-signage-page-auth': 'token-1' });
});

it('asks once, however often it is told to', async () => {
  const token = create();
  await Promise.all([token.renew(), token.renew(), token.renew()]);
  expect(asked).toHaveLength(1);
});

it('renews a token that was refused, and at most one within a second', async () => {
  const token = create();
  await token.refused();
  await token.refused();
  expect(asked).toStrictEqual(['token-1']);
  await pass(1_000);
  await token.refused();
  expect(asked).toStrictEqual(['token-1', 'token-2']);
});

it.each([401, 429])('takes the token of the page itself where a renewal is answered %i', async (status) => {
  const textContent = JSON.stringify({ pageToken: issue('token-2') });
  vi.stubGlobal(
    'DOMParser',
    class {
      parseFromString = () => ({ getElementById: () => ({ textContent }) });
    },
  );
  vi.stubGlobal('fetch', async (path: string) => new Response('', { status: path === 'http://box/' ? 200 : status }));
  const token = create();
  await token.renew();
  expect(token.header()).toStrictEqual({ 'x-signage-page-auth': 'token-2' });
});

it('sends no token any more where the service asks for none any more', async () => {
  respond = async () => Response.json({ token: null, issuedAt: null, expiresAt: null });
  const token = create();
  await token.renew();
  expect(token.header()).toStrictEqual({ 'x-signage-page': '1' });
  expect(token.protocols()).toStrictEqual(['signage.v1']);
});

it('sends no token and renews none where there is no secret', async () => {
  const token = createPageToken(null, 'http://box/');
  await pass(60 * MINUTE);
  expect(token.header()).toStrictEqual({ 'x-signage-page': '1' });
  expect(token.protocols()).toStrictEqual(['signage.v1']);
  expect(asked).toStrictEqual([]);
});
