/** Which sockets are let in, before there is one. */
import { describe, expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { codeOf, exchange } from '../http/raw.ts';
import { healthOf } from '../support/observe.ts';
import { openSocket } from '../support/page.ts';
import { shareTestService } from '../support/service.ts';

const service = shareTestService({
  content: lobby,
  env: { SIGNAGE_ALLOWED_HOSTS: 'signage.example.com', SIGNAGE_PUBLIC_URL: 'https://screens.example.net' },
});

const path = '/api/screens/lobby/socket';
const handshake = [
  ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];
const without = (name: string) => handshake.filter((line) => !line.startsWith(`${name}:`));

const ask = (target: string, lines: readonly string[] = ['Host: box', ...handshake], method = 'GET') =>
  exchange(service().url, [`${method} ${target} HTTP/1.1`, ...lines]);

describe('refused, as an answer of HTTP', () => {
  test.each<[string, string, number, string]>([
    ['an unknown screen', '/api/screens/gone/socket', 404, 'screen_not_found'],
    ['a name of the prototype', '/api/screens/__proto__/socket', 404, 'screen_not_found'],
    ['another path of a screen', '/api/screens/lobby/playlist', 404, 'not_found'],
    ['a longer path', `${path}/more`, 404, 'not_found'],
    ['the root', '/', 404, 'not_found'],
    ['a page', '/screen/lobby', 404, 'not_found'],
    ['a target that is no path', `//box${path}`, 400, 'invalid_request'],
  ])('%s', async (_, target, status, code) => {
    const answer = await ask(target);
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });

  test.each<[string, string[], number, string]>([
    ['a foreign Host', ['Host: evil.com'], 421, 'host_refused'],
    ['no Host', [], 421, 'host_refused'],
    ['two Hosts', ['Host: box', 'Host: box'], 421, 'host_refused'],
    ['a foreign Origin', ['Host: box', 'Origin: https://evil.com'], 403, 'origin_refused'],
    ['an Origin of null', ['Host: box', 'Origin: null'], 403, 'origin_refused'],
    ['an Origin on another port', ['Host: box:80', 'Origin: http://box:81'], 403, 'origin_refused'],
    ['a page of another site', ['Host: box', 'Sec-Fetch-Site: cross-site'], 403, 'origin_refused'],
  ])('%s', async (_, lines, status, code) => {
    const answer = await ask(path, [...lines, ...handshake]);
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
  });

  test.each<[string, string[]]>([
    ['no key', without('Sec-WebSocket-Key')],
    ['a key that is none', [...without('Sec-WebSocket-Key'), 'Sec-WebSocket-Key: short']],
    ['no version', without('Sec-WebSocket-Version')],
    ['a version that nobody knows', [...without('Sec-WebSocket-Version'), 'Sec-WebSocket-Version: 99']],
    ['a subprotocol that is none', [...handshake, 'Sec-WebSocket-Protocol: a b,,']],
  ])('%s', async (_, lines) => {
    const answer = await ask(path, ['Host: box', ...lines]);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
    expect(answer.headers['sec-websocket-version']).toBe('13');
  });

  test('another method', async () => {
    const answer = await ask(path, ['Host: box', ...handshake, 'Content-Length: 0', 'Connection: close'], 'POST');
    expect([answer.status, codeOf(answer), answer.headers.allow]).toEqual([405, 'method_not_allowed', 'GET']);
  });

  test('an expectation that the service does not meet', async () => {
    const answer = await ask(path, ['Host: box', ...handshake, 'Expect: 200-ok']);
    expect([answer.status, codeOf(answer)]).toEqual([417, 'expectation_failed']);
  });
});

describe('let in', () => {
  test.each<[string, Record<string, string>]>([
    ['a program', {}],
    ['a page of this service', { Host: 'box:8080', Origin: 'http://box:8080', 'Sec-Fetch-Site': 'same-origin' }],
    ['a page behind TLS', { Host: 'box', Origin: 'https://box' }],
    ['a page of the public name', { Host: 'box', Origin: 'https://screens.example.net' }],
    ['a page of an allowed name', { Host: 'signage.example.com', Origin: 'https://signage.example.com' }],
  ])('%s', async (_, headers) => {
    await openSocket(service(), path, { headers });
  });

  test.each<[string[], string]>([
    [['signage.v1'], 'signage.v1'],
    [['signage.v1', 'token.abc.def'], 'signage.v1'],
    [['token.abc.def', 'signage.v1'], 'signage.v1'],
    [['signage.v2', 'signage.v1'], 'signage.v1'],
    [[], ''],
  ])('with the subprotocols %j, on %j', async (protocols, expected) => {
    const { socket } = await openSocket(service(), path, { protocols });
    expect(socket.protocol).toBe(expected);
  });

  test('no extension: compressing costs more than it brings', async () => {
    const { socket } = await openSocket(service(), path, { perMessageDeflate: true });
    expect(socket.extensions).toBe('');
  });

  test('with a query', async () => {
    await openSocket(service(), `${path}?page=1`);
  });

  test('not with other subprotocols alone: a browser would not take the answer', async () => {
    await expect(openSocket(service(), path, { protocols: ['signage.v2'] })).rejects.toThrow(/subprotocol/);
    expect((await healthOf(service())).status).toBe('ok');
  });
});
