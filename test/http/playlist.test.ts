/** `GET /api/screens/{slug}/playlist`: the payload, its entity tag and its conditions. */
import { describe, expect, test } from 'vitest';
import { sha256Hex, signAnswer, signRequest } from '../../service/auth/sign.ts';
import { playlistPayload } from '../../service/contract/playlist.ts';
import { answerHeader, clockHeader, signatureHeader } from '../../service/domain/request-signature.ts';
import { everyKind, fields, lobby, timestampPattern } from '../content/samples.ts';
import { startTestService } from '../support/service.ts';
import { exchange, hostLine } from './raw.ts';

const path = '/api/screens/lobby/playlist';

test.each(['extended', 'baseline'] as const)('the %s payload has exactly the specified fields', async (variant) => {
  const service = await startTestService({ content: everyKind, env: { SIGNAGE_VARIANT: variant } });
  const response = await service.get(path);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  const payload = await response.json();
  expect(Object.keys(payload)).toEqual(fields.payload[variant]);
  expect(Object.keys(payload.screen)).toEqual(fields.screen);
  expect(Object.keys(payload.playlist)).toEqual(fields.playlist);
  expect(payload.slides).toHaveLength(9);
  for (const slide of payload.slides) expect(Object.keys(slide)).toEqual(fields.slide);
  if (variant === 'extended') {
    expect(playlistPayload.parse(payload)).toEqual(payload);
    expect(response.headers.get('etag')).toBe(`"${payload.revision}"`);
  }
  expect(payload.screen.created_at).toMatch(timestampPattern);
  expect(payload.screen.modified_at).toMatch(timestampPattern);
});

test('a screen without a playlist has null and no slides', async () => {
  const service = await startTestService({ content: { screens: [{ name: 'Lobby', slug: 'lobby' }] } });
  expect(await (await service.get(path)).json()).toMatchObject({ playlist: null, slides: [] });
});

describe('conditions', () => {
  test.each<[string, (etag: string) => string, number]>([
    ['the tag', (etag) => etag, 304],
    ['the tag, weak', (etag) => `W/${etag}`, 304],
    ['a list with the tag', (etag) => `"other", W/"another" ,${etag}`, 304],
    ['any', () => '*', 304],
    ['another tag', () => '"other"', 200],
    ['the tag without quotes', (etag) => etag.slice(1, -1), 200],
    ['nothing', () => '', 200],
  ])('If-None-Match with %s', async (_, condition, status) => {
    const service = await startTestService({ content: lobby });
    const first = await service.get(path);
    const etag = first.headers.get('etag') ?? '';
    for (const method of ['GET', 'HEAD']) {
      const headers = { 'If-None-Match': condition(etag) };
      const response = await service.get(path, { method, headers, cache: 'no-store' });
      expect(response.status).toBe(status);
      expect(response.headers.get('etag')).toBe(etag);
      expect((await response.text()) !== '').toBe(status === 200 && method === 'GET');
    }
  });
});

test('HEAD has the headers of GET and no body', async () => {
  const { url } = await startTestService({ content: lobby });
  const [get, head] = await Promise.all(
    ['GET', 'HEAD'].map((method) => exchange(url, [`${method} ${path} HTTP/1.1`, hostLine(url)])),
  );
  const { date: _one, ...expected } = get?.headers ?? {};
  const { date: _two, ...headers } = head?.headers ?? {};
  expect(headers).toEqual(expected);
  expect(Number(headers['content-length'])).toBe(Buffer.byteLength(get?.body ?? ''));
  expect(head?.body).toBe('');
});

test('a query or a percent-encoded letter does not change the playlist', async () => {
  const service = await startTestService({ content: lobby });
  const payload = await (await service.get(path)).text();
  for (const other of [`${path}?t=1`, '/api/screens/l%6Fbby/playlist']) {
    const response = await service.get(other);
    expect([response.status, await response.text()]).toEqual([200, payload]);
  }
});

test('the response to a signed request is signed as it is sent: 200, 304, and without a body for HEAD', async () => {
  const secret = 'a secret that signs playlists';
  const service = await startTestService({ content: lobby, env: { SIGNAGE_SHARED_SECRET: secret } });
  const ask = async (headers: Record<string, string> = {}, signer = secret, method = 'GET', target = path) => {
    const signed = signRequest({ secret: signer, method, url: service.url + target });
    const response = await service.get(target, { method, headers: { ...headers, ...signed }, cache: 'no-store' });
    const clock = response.headers.get(clockHeader) ?? '';
    const asked = { request: signed[signatureHeader] ?? '', status: response.status, clock };
    const expected = signAnswer(secret, { ...asked, sha256: sha256Hex(await response.text()) });
    return { response, signature: response.headers.get(answerHeader), expected };
  };
  const full = await ask();
  expect([full.response.status, full.signature]).toEqual([200, full.expected]);
  const known = await ask({ 'If-None-Match': full.response.headers.get('etag') ?? '' });
  expect([known.response.status, known.signature]).toEqual([304, known.expected]);
  for (const target of [path, '/api/screens/lobby/connections', '/api/media/config', '/api/screens/gone/playlist']) {
    const head = await ask({}, secret, 'HEAD', target);
    expect([target, head.signature]).toEqual([target, head.expected]);
    expect(Number(head.response.headers.get('content-length'))).toBeGreaterThan(0);
  }
  const guessed = await ask({}, 'a secret that is a guess');
  expect([guessed.response.status, guessed.signature]).toEqual([200, null]);
});
