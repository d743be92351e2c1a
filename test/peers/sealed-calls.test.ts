/** What boxes with a secret say to each other: bound to its recipient, fresh, encrypted, and proven before it is said. */
import { createHash, hkdfSync } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { compactDecrypt, decodeProtectedHeader } from 'jose';
import { CompactEncrypt } from 'jose/jwe/compact/encrypt';
import { describe, expect, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import { lobby } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { shareTestService, type TestService } from '../support/service.ts';
import { listenOn, peersOf, postTo, secret, startBox, startSite } from './support.ts';

const previous = 'the secret that was valid until yesterday';
const env = { SIGNAGE_SHARED_SECRET: secret, SIGNAGE_SHARED_SECRET_PREVIOUS: previous };
const relay = { 'x-signage-relay': '00000000-0000-4000-8000-000000000000' };
const commands = '/api/screens/lobby/commands';
const next = JSON.stringify({ command: 'next' });

const keyOf = (of: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', of, new Uint8Array(), 'signage-peer-content-v1', 32));
const kidOf = (of: string): string => createHash('sha256').update(keyOf(of)).digest('hex').slice(0, 8);
const seal = (text: string, of = secret): Promise<string> =>
  new CompactEncrypt(Buffer.from(text))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: kidOf(of) })
    .encrypt(keyOf(of));

const nodeIdOf = async (box: TestService): Promise<string> => (await (await box.get('/healthz')).json()).nodeId;

interface Ask {
  body?: string;
  /** Null: signed as v1; else as v2. */
  recipient?: string | null;
  now?: number;
  type?: string;
  headers?: Record<string, string>;
  with?: string;
}

describe('with a secret', () => {
  const box = shareTestService({ content: lobby, env });

  const ask = async (path: string, { body, recipient, now, type, headers = relay, ...asked }: Ask = {}) => {
    const method = body === undefined ? 'GET' : 'POST';
    const to = recipient === undefined ? await nodeIdOf(box()) : recipient;
    const signed = signRequest({
      ...{ secret: asked.with ?? secret, method, url: box().url + path, body: body ?? '' },
      ...(now === undefined ? {} : { now }),
      ...(to === null ? {} : { recipient: to, version: 'v2' as const }),
    });
    const given = body === undefined ? {} : { body, headers: { 'Content-Type': type ?? 'application/json' } };
    return box().get(path, { method, ...given, headers: { ...given.headers, ...signed, ...headers } });
  };
  const outcome = async (...asked: Parameters<typeof ask>) => {
    const response = await ask(...asked);
    return response.ok ? response.status : `${response.status} ${(await response.json()).error.code}`;
  };

  test('the signature of a relayed command covers its recipient, in the last line', async () => {
    expect(await outcome(commands, { body: next })).toBe(200);
    expect(await outcome(commands, { body: next, recipient: 'another-box' })).toBe('421 misdirected');
    const renamed = { ...relay, 'x-signage-recipient': await nodeIdOf(box()) };
    expect(await outcome(commands, { body: next, recipient: 'another-box', headers: renamed })).toBe(
      '401 signature_invalid',
    );
  });

  test('v1 is for operators: what only boxes say to each other is refused in it', async () => {
    expect(await outcome(commands, { body: next, recipient: null, headers: {} })).toBe(200);
    for (const header of ['x-signage-relay', 'x-signage-command-id']) {
      const headers = { [header]: '0123456789abcdef' };
      expect(await outcome(commands, { body: next, recipient: null, headers })).toBe('401 signature_invalid');
    }
  });

  test('a relayed command is fresh for 3 s, and an operator has 300 s', async () => {
    expect(await outcome(commands, { body: next, now: Date.now() + 2_000 })).toBe(200);
    const stale = await ask(commands, { body: next, now: Date.now() - 3_100 });
    expect([stale.status, (await stale.json()).error.code]).toEqual([401, 'signature_stale']);
    expect(Number.parseInt(stale.headers.get('x-signage-clock') ?? '', 10)).toBeCloseTo(Date.now(), -3);
    expect(await outcome(commands, { body: next, now: Date.now() + 3_500 })).toBe('401 signature_stale');
    expect(await outcome(commands, { body: next, now: Date.now() + 250_000, recipient: null, headers: {} })).toBe(200);
  });

  test('a relayed command is carried out within 3 s of when the first box took it, or not at all', async () => {
    const id = () => crypto.randomUUID();
    const young = { slug: 'lobby', body: { command: 'next' }, ageMs: 2_000 };
    const old = { ...young, ageMs: 2_900 };
    const post = (body: string, now?: number) =>
      ask('/api/peers/commands', { body, type: 'application/jose', ...(now === undefined ? {} : { now }) });
    const answersOf = async (response: Response) => {
      const { plaintext } = await compactDecrypt(await response.text(), keyOf(secret));
      return JSON.parse(Buffer.from(plaintext).toString()).answers;
    };
    const body = () =>
      seal(
        JSON.stringify({
          commands: [
            { id: id(), ...young },
            { id: id(), ...old },
          ],
        }),
      );
    const stale = { code: 'signature_stale' };
    const held = await post(await body());
    expect(held.headers.get('x-signage-clock')).toMatch(/^\d{13}$/);
    expect(await answersOf(held)).toEqual([{ sent: 0 }, stale]);
    // No request that is older than the service is accepted.
    await pause(1_100);
    expect(await answersOf(await post(await body(), Date.now() - 1_000))).toEqual([stale, stale]);
    // Dated ahead of this box, it could be held for longer: the box tells its clock.
    const ahead = await post(await body(), Date.now() + 1_500);
    expect(ahead.headers.get('x-signage-clock')).toMatch(/^\d{13}$/);
    expect(await answersOf(ahead)).toEqual([stale, stale]);
  });

  test.each(['content', 'state', 'media', 'takeovers'])('another box gets %s encrypted', async (what) => {
    // What is not signed decides nothing: a host in between could take it away.
    const response = await ask(`/api/peers/${what}`, { headers: {} });
    expect(response.headers.get('Content-Type')).toBe('application/jose');
    const jwe = await response.text();
    expect(decodeProtectedHeader(jwe)).toEqual({ alg: 'dir', enc: 'A256GCM', kid: kidOf(secret) });
    const { plaintext } = await compactDecrypt(jwe, keyOf(secret));
    const plain = await (await ask(`/api/peers/${what}`, { recipient: null, headers: {} })).json();
    expect(Object.keys(JSON.parse(Buffer.from(plaintext).toString()))).toEqual(Object.keys(plain));
  });

  test('the previous secret signs and opens as well', async () => {
    const response = await ask('/api/peers/content', { with: previous });
    expect(decodeProtectedHeader(await response.text())).toMatchObject({ kid: kidOf(previous) });
    const body = await seal(next, previous);
    expect(await outcome(commands, { body, type: 'application/jose', with: previous })).toBe(200);
    expect(await outcome(commands, { body, type: 'application/jose' })).toBe(200);
  });

  test('an encrypted body is read from a box alone, and only whole', async () => {
    const type = 'application/jose';
    const page = await joinScreen(
      box(),
      'lobby',
      {},
      {
        headers: signRequest({ secret, method: 'GET', url: `${box().url}/api/screens/lobby/socket` }),
      },
    );
    const body = await seal(next);
    const answer = await ask(commands, { body, type });
    const { plaintext } = await compactDecrypt(await answer.text(), keyOf(secret));
    expect(JSON.parse(Buffer.from(plaintext).toString())).toMatchObject({ command: 'next', sent: 1 });
    await page.message(({ command }) => command === 'next');
    expect(await outcome(commands, { body, type, headers: {} })).toBe('403 signature_required');
    expect(await outcome(commands, { body, type, recipient: null, headers: {} })).toBe('415 unsupported_media_type');
    expect(await outcome(commands, { body: await seal(next, 'no secret of this box'), type })).toBe(
      '401 signature_invalid',
    );
    expect(await outcome(commands, { body: `${body.slice(0, -2)}AA`, type })).toBe('401 signature_invalid');
    expect(await outcome(commands, { body: await seal('next'), type })).toBe('400 invalid_json');
  });
});

test('without a secret nothing is encrypted, and no recipient needs to be named', async () => {
  const box = await startBox([]);
  const headers = { ...relay, 'x-signage-recipient': await nodeIdOf(box) };
  expect(await (await box.get('/api/peers/content', { headers })).json()).toMatchObject({ text: expect.any(String) });
  expect((await box.post(commands, next, relay)).status).toBe(200);
  const response = await box.post(commands, await seal(next), { ...relay, 'Content-Type': 'application/jose' });
  expect(response.status).toBe(415);
});

test('an address that proves nothing is sent one challenge, and nothing else that is signed', async () => {
  const asked: string[] = [];
  const url = await listenOn(
    createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers['x-signage-recipient'] ?? 'anyone'}`);
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ nodeId: relay['x-signage-relay'] }));
    }),
  );
  const box = await startBox([{ url }], { env });
  const reason = 'answers without knowing the secret';
  await expect.poll(() => peersOf(box), patience).toMatchObject([{ nodeId: null, state: 'away', reason }]);
  expect(await (await postTo(box, commands, { command: 'next' })).json()).toMatchObject({ degraded: true });
  expect(new Set(asked)).toEqual(new Set(['GET /api/peers/time anyone']));
});

test('two boxes exchange bindings and commands, and neither can be read on the way', async () => {
  const [one, other] = await startSite({ env });
  const url = `${other.url}/api/screens/lobby/socket`;
  const page = await joinScreen(other, 'lobby', {}, { headers: signRequest({ secret, method: 'GET', url }) });
  const binding = { deviceId: 'device-1', clientName: 'Front desk', screenSlug: 'lobby' };
  expect((await postTo(one, '/api/onboarding', binding)).status).toBe(200);
  const status = async () => (await (await other.get('/api/onboarding/status?deviceId=device-1')).json()).clientName;
  await expect.poll(status, patience).toBe('Front desk');
  expect(await (await postTo(one, commands, { command: 'next' })).json()).toMatchObject({ sent: 1, degraded: false });
  await page.message(({ command }) => command === 'next');
});
