/** What is where: unknown paths, unknown screens, other methods, and HEAD wherever there is GET. */
import { describe, expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { shareTestService } from '../support/service.ts';
import { codeOf, exchange, hostLine } from './raw.ts';

const gets = [
  '/',
  '/screen/lobby',
  '/healthz',
  '/api/screens/lobby/playlist',
  '/api/screens/lobby/connections',
  '/api/screens/lobby/clients',
];

const service = shareTestService({ content: lobby });
const baseline = shareTestService({ content: lobby, env: { SIGNAGE_VARIANT: 'baseline' } });

test('HEAD works wherever GET does, with its status and its headers', async () => {
  for (const path of [...gets, '/screen/gone', '/api/screens/gone/playlist', '/api/gone']) {
    const [get, head] = [await service().get(path), await service().get(path, { method: 'HEAD' })];
    expect([path, head.status, head.headers.get('content-type')]).toEqual([
      path,
      get.status,
      get.headers.get('content-type'),
    ]);
    expect(await head.text()).toBe('');
  }
});

describe('under /api', () => {
  test.each<[string, string, string]>([
    ['GET', '/api/screens/gone/playlist', 'screen_not_found'],
    ['GET', '/api/screens/gone/connections', 'screen_not_found'],
    ['GET', '/api/screens/gone/clients', 'screen_not_found'],
    ['GET', '/api/screens/LOBBY/playlist', 'screen_not_found'],
    ['GET', '/api/screens/__proto__/playlist', 'screen_not_found'],
    ['GET', '/api/screens/constructor/connections', 'screen_not_found'],
    ['GET', `/api/screens/${'a'.repeat(2000)}/playlist`, 'screen_not_found'],
    ['GET', '/api/screens/lob%2Fby/playlist', 'screen_not_found'],
    ['GET', '/api/screens/%3Cscript%3E/playlist', 'screen_not_found'],
    ['GET', '/api/screens/%ZZ/playlist', 'screen_not_found'],
    ['GET', '/api', 'not_found'],
    ['GET', '/api/', 'not_found'],
    ['GET', '/api?x', 'not_found'],
    ['GET', '/api/gone', 'not_found'],
    ['GET', '/api/screens', 'not_found'],
    ['GET', '/api/screens/lobby', 'not_found'],
    ['GET', '/api/screens/lobby/slides', 'not_found'],
    ['GET', '/api/screens/lobby/Playlist', 'not_found'],
    ['GET', '/api/screens//playlist', 'not_found'],
    ['GET', '/api/screens/lobby/socket', 'not_found'],
    ['POST', '/api/gone', 'not_found'],
    ['DELETE', '/api/gone', 'not_found'],
    ['OPTIONS', '/api/gone', 'not_found'],
  ])('%s %s is 404 %s', async (method, path, code) => {
    const { url } = service();
    const { status, headers, body } = await exchange(url, [`${method} ${path} HTTP/1.1`, hostLine(url)]);
    expect(status).toBe(404);
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(JSON.parse(body)).toEqual({ error: { code, message: expect.stringMatching(/^[A-Z].*\.$/) } });
  });

  test('commands for an unknown screen are 404 too', async () => {
    const response = await service().post('/api/screens/gone/commands', { command: 'next' });
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'screen_not_found' } }]);
    // A body that no screen could carry out is told first.
    const bodies = [{}, { command: 'jump' }, { command: 'redirect' }].map((body) => JSON.stringify(body));
    const faulty = await Promise.all(
      ['{', ...bodies, 'x'.repeat(70_000)].map((body) => service().post('/api/screens/gone/commands', body)),
    );
    const untyped = await service().get('/api/screens/gone/commands', { method: 'POST', body: '{}' });
    expect([...faulty, untyped].map(({ status }) => status)).toEqual([400, 400, 400, 400, 413, 415]);
  });
});

describe('a known path with another method is 405 and lists the allowed methods', () => {
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'PURGE'];
  test.each<[string, string]>([
    ['/api/screens/lobby/playlist', 'GET, HEAD'],
    ['/api/screens/lobby/connections', 'GET, HEAD'],
    ['/api/screens/lobby/clients', 'GET, HEAD'],
    ['/api/screens/lobby/commands', 'POST'],
    ['/api/screens/gone/commands', 'POST'],
    ['/healthz', 'GET, HEAD'],
    ['/screen/lobby', 'GET, HEAD'],
    ['/', 'GET, HEAD'],
  ])('%s', async (path, allow) => {
    const { url } = service();
    for (const method of methods.filter((each) => !allow.split(', ').includes(each))) {
      const answer = await exchange(url, [`${method} ${path} HTTP/1.1`, hostLine(url)]);
      expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, allow]);
      if (method !== 'HEAD' && path.startsWith('/api')) expect(codeOf(answer)).toBe('method_not_allowed');
    }
  });
});

test.each(['/api/screens/lobby/socket', '/api/onboarding/socket?deviceId=a'])('%s takes GET alone', async (path) => {
  const { url } = service();
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const answer = await exchange(url, [`${method} ${path} HTTP/1.1`, hostLine(url)]);
    expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, 'GET']);
    expect(codeOf(answer)).toBe('method_not_allowed');
  }
});

test('an unknown HTTP method is a malformed request', async () => {
  const { url } = service();
  const answer = await exchange(url, ['BREW /api/screens/lobby/playlist HTTP/1.1', hostLine(url)]);
  expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
});

test('the baseline variant has no extended endpoints', async () => {
  const requests: [string, string][] = [
    ['GET', '/onboard'],
    ['GET', '/api/onboarding/status?deviceId=a'],
    ['GET', '/api/onboarding/screens'],
    ['GET', '/api/onboarding/qr?deviceId=a'],
    ['POST', '/api/onboarding'],
    ['POST', '/api/onboarding/socket'],
    ['POST', '/api/auth/page'],
    ['GET', '/api/media/config'],
    ['PUT', '/api/media/a.png'],
    ['DELETE', '/api/media/a.png'],
    ['GET', '/api/rtmp/session?source=rtmp://example.com/a'],
    ['GET', '/api/rtmp/streams/0123456789abcdef/index.m3u8'],
    ['GET', '/api/rtmp/streams/0123456789abcdef/0.ts'],
  ];
  for (const [method, path] of requests) {
    const response = await baseline().get(path, { method });
    expect([method, path, response.status]).toEqual([method, path, 404]);
    if (path.startsWith('/api')) expect(await response.json()).toMatchObject({ error: { code: 'not_found' } });
  }
});
