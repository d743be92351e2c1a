/** What goes wrong: a client's heads, and the service's own faults. */
import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { errorBody } from '../../service/contract/error-body.ts';
import { lobby } from '../content/samples.ts';
import { healthOf, logged } from '../support/observe.ts';
import { shareTestService, startTestService } from '../support/service.ts';
import { codeOf, exchange, hostLine } from './raw.ts';

const path = '/api/screens/lobby/playlist';

const shared = shareTestService({ content: lobby });

describe('a head that is too large', () => {
  test.each<[string, (size: number) => string[]]>([
    ['in one header', (size) => [`X-Long: ${'x'.repeat(size)}`]],
    ['in many', (size) => Array.from({ length: 50 }, (_, at) => `X-${at}: ${'x'.repeat(size / 50)}`)],
  ])('%s is refused', async (_, make) => {
    const { url } = shared();
    const ask = (size: number) => exchange(url, [`GET ${path} HTTP/1.1`, hostLine(url), ...make(size)]);
    expect((await ask(6_000)).status).toBe(200);
    const answer = await ask(9_000);
    expect([answer.status, codeOf(answer)]).toEqual([431, 'headers_too_large']);
  });

  test('in its target is rejected', async () => {
    const { url } = shared();
    expect((await exchange(url, [`GET /${'x'.repeat(9_000)} HTTP/1.1`, hostLine(url)])).status).toBe(431);
  });

  test('in its number of headers is rejected, not truncated, as an Origin header could follow', async () => {
    const { url } = shared();
    const ask = (count: number, last: string) => {
      const filling = Array.from({ length: count - 3 }, (_, at) => `X-${at}: x`);
      return exchange(url, [`POST /api/screens/lobby/commands HTTP/1.1`, hostLine(url), ...filling, last]);
    };
    expect((await ask(64, 'Accept: */*')).status).toBe(400);
    expect((await ask(64, 'Origin: https://evil.com')).status).toBe(403);
    for (const count of [65, 66, 67, 200]) expect((await ask(count, 'Origin: https://evil.com')).status).toBe(431);
  });
});

describe('a malformed head', () => {
  test.each<[string, string[]]>([
    ['nonsense', ['hello']],
    ['a space in the target', ['GET /a b HTTP/1.1', 'Host: box']],
    ['another version', ['GET / HTTP/3.0', 'Host: box']],
    ['a header without a colon', ['GET / HTTP/1.1', 'Host: box', 'Hello']],
    ['a folded header', ['GET / HTTP/1.1', 'Host: box', 'X-A: a', ' b']],
    ['a control character', ['GET / HTTP/1.1', 'Host: box', 'X-A: a\0b']],
    ['a preface of HTTP/2', ['PRI * HTTP/2.0', '', 'SM']],
    ['a TLS hello', ['\x16\x03\x01\x02\x00\x01\x00']],
  ])('%s is a malformed request, and the service keeps running', async (_, lines) => {
    const service = shared();
    const answer = await exchange(service.url, lines);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
    expect((await healthOf(service)).status).toBe('ok');
  });
});

test.each(['h2c', 'TLS/1.0', 'websocket2'])(
  'an offer of %s is ignored: the request is answered as it is',
  async (offer) => {
    const { url } = shared();
    const offers = [
      'Connection: Upgrade, HTTP2-Settings, close',
      `Upgrade: ${offer}`,
      'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA',
    ];
    const ask = (start: string, lines: string[] = [], body = '') =>
      exchange(url, [`${start} HTTP/1.1`, hostLine(url), ...offers, ...lines], body);
    expect(JSON.parse((await ask(`GET ${path}`)).body)).toMatchObject({ screen: { slug: 'lobby' } });
    const body = JSON.stringify({ command: 'next' });
    const lines = ['Content-Type: application/json', `Content-Length: ${body.length}`];
    expect((await ask('POST /api/screens/lobby/commands', lines, body)).status).toBe(200);
    expect((await ask('POST /api/screens/lobby/commands', [...lines, 'Origin: https://evil.com'], body)).status).toBe(
      403,
    );
  },
);

test('an internal error reveals only the request id, under which the log has the details', async () => {
  const service = await startTestService({ content: lobby });
  // Nothing can be stored any more.
  rmSync(service.dataDir, { recursive: true });
  const order = { command: 'setclientname', clientName: 'Door', deviceId: 'device-1' };
  const response = await service.post('/api/screens/lobby/commands', order);
  const text = await response.text();
  expect(response.status).toBe(500);
  expect(JSON.parse(text)).toEqual({ error: { code: 'internal_error', message: expect.stringMatching(/its log/) } });
  expect(text).not.toMatch(/ENOENT|\.ts|at /);
  const [line] = logged(service, 'a request failed');
  expect(line).toMatchObject({
    level: 50,
    request: response.headers.get('x-request-id'),
    err: { message: expect.stringContaining('ENOENT'), stack: expect.stringContaining('at ') },
  });
  expect((await healthOf(service)).status).toBe('degraded');
});

test('every error under /api has the same fields', async () => {
  const service = shared();
  const commands = '/api/screens/lobby/commands';
  const responses = await Promise.all([
    service.get('/api/gone'),
    service.get('/api/screens/gone/playlist'),
    service.get(path, { method: 'DELETE' }),
    service.post(commands, '{'),
    service.post(commands, {}),
    service.post(commands, { command: 'jump' }),
    service.post(commands, { command: 'redirect', url: 1 }),
    service.post(commands, { command: 'next' }, { 'Content-Type': 'text/plain' }),
    service.post(commands, ' '.repeat(70_000)),
    service.post(commands, { command: 'next' }, { Origin: 'null' }),
  ]);
  expect(responses.map(({ status }) => status)).toEqual([404, 404, 405, 400, 400, 400, 400, 415, 413, 403]);
  for (const response of responses) {
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const body: unknown = await response.json();
    expect(errorBody.strict().parse(body)).toEqual(body);
  }
});

test('outside of /api an error is plain text', async () => {
  const service = shared();
  for (const path of ['/gone', '/API/screens/lobby/playlist']) {
    const response = await service.get(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/plain; charset=utf-8']);
    expect(await response.text()).toBe('There is nothing at this path.\n');
  }
});
