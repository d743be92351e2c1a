/** The bodies of requests: types, sizes, encodings, and those that never arrive whole. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { rules } from '../../service/contract/operations/rules.ts';
import { lobby } from '../content/samples.ts';
import { healthOf, logged } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { shareTestService } from '../support/service.ts';
import { codeOf, connectTo, exchange, hostLine, parseAnswer } from './raw.ts';

const path = '/api/screens/lobby/commands';
const next = JSON.stringify({ command: 'next' });
const json = 'application/json';
const padded = (bytes: number) => next.replace('{', `{${' '.repeat(bytes - next.length)}`);

const shared = shareTestService({ content: lobby });

describe('the type', () => {
  test.each<[string | null, number]>([
    ['application/json', 200],
    ['application/json; charset=utf-8', 200],
    ['Application/JSON;charset="UTF-8"', 200],
    ['text/plain', 415],
    ['text/json', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['application/jsonp', 415],
    ['application/json-seq', 415],
    ['application/merge-patch+json', 415],
    ['application', 415],
    [null, 415],
  ])('%s: %i', async (type, expected) => {
    const { url } = shared();
    const lines = [`POST ${path} HTTP/1.1`, hostLine(url), `Content-Length: ${next.length}`];
    const answer = await exchange(url, type === null ? lines : [...lines, `Content-Type: ${type}`], next);
    expect(answer.status).toBe(expected);
    if (expected === 415) expect(codeOf(answer)).toBe('unsupported_media_type');
  });

  test.each<[string, string[]]>([
    ['no length', []],
    ['a length of 0', ['Content-Length: 0']],
    ['a length of 0 and another type', ['Content-Length: 0', 'Content-Type: text/plain']],
  ])('a request without a body needs no content type: %s', async (_, lines) => {
    const { url } = shared();
    const answer = await exchange(url, [`POST ${path} HTTP/1.1`, hostLine(url), ...lines]);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'missing_field']);
  });
});

test.each(Object.entries(rules).flatMap(([name, { hasBody }]) => (name.startsWith('POST ') && !hasBody ? name : [])))(
  '%s reads no body, and takes none that is not JSON or too large',
  async (name) => {
    const url = `${shared().url}${name.replace('POST ', '').replace(':nodeId', 'none').replace(/:\w+/g, 'a')}`;
    const post = async (body: string, type = json) => {
      const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': type }, body });
      return [response.status, ((await response.json()) as { error: { code: string } }).error.code];
    };
    expect(await post('a', 'text/plain')).toEqual([415, 'unsupported_media_type']);
    expect(await post('[')).toEqual([400, 'invalid_json']);
    expect(await post(padded(70_000))).toEqual([413, 'payload_too_large']);
  },
);

describe('the contents', () => {
  test.each<[string, string | Buffer<ArrayBuffer>, string]>([
    ['nothing but white space', '  ', 'invalid_json'],
    ['half an object', '{"command":', 'invalid_json'],
    ['two objects', `${next}${next}`, 'invalid_json'],
    ['a list', `[${next}]`, 'invalid_json'],
    ['null', 'null', 'invalid_json'],
    ['a text', '"next"', 'invalid_json'],
    ['a number', '1', 'invalid_json'],
    ['single quotes', "{'command':'next'}", 'invalid_json'],
    ['bytes that are no UTF-8', Buffer.from('{"command":"nexté"}', 'latin1'), 'invalid_json'],
    ['UTF-16', Buffer.from(next, 'utf16le'), 'invalid_json'],
    ['an empty object', '{}', 'missing_field'],
    ['a field of the prototype', '{"__proto__":{"command":"next"}}', 'missing_field'],
  ])('%s: %s', async (_, body, code) => {
    const service = shared();
    const page = await joinScreen(service, 'lobby');
    const response = await service.get(path, { method: 'POST', headers: { 'Content-Type': json }, body });
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code } }]);
    expect(page.messages).toHaveLength(1);
  });

  test('a byte order mark is accepted', async () => {
    const service = shared();
    expect((await service.post(path, `\uFEFF${next}`)).status).toBe(200);
  });
});

describe('the size', () => {
  const limit = 64 * 1024;

  test.each([
    ['64 KiB', limit, 200],
    ['a byte more', limit + 1, 413],
    ['10 MiB', 10 * 1024 ** 2, 413],
  ])('%s', async (_, bytes, expected) => {
    const service = shared();
    const response = await service.post(path, padded(bytes));
    expect(response.status).toBe(expected);
    if (expected === 413) expect(await response.json()).toMatchObject({ error: { code: 'payload_too_large' } });
  });

  test('is checked by Content-Length before the body arrives', async () => {
    const { url } = shared();
    const socket = await connectTo(url);
    const length = 'Content-Length: 99999999999';
    socket.write(`${[`POST ${path} HTTP/1.1`, hostLine(url), `Content-Type: ${json}`, length].join('\r\n')}\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(parseAnswer(answer.toString()).status).toBe(413);
  });

  test('is told to a client that has the connection closed after the answer, and sends to the end', async () => {
    const { url } = shared();
    const piece = Buffer.alloc(limit);
    const length = `Content-Length: ${4 * piece.length}`;
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    const errors: Error[] = [];
    socket.on('error', (error) => errors.push(error));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const lines = [`POST ${path} HTTP/1.1`, hostLine(url), `Content-Type: ${json}`, length, 'Connection: close'];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(parseAnswer(answer.toString())).toMatchObject({ status: 413, headers: { connection: 'close' } });
    for (let n = 0; n < 4; n++) {
      await new Promise((resolve) => socket.write(piece, resolve));
      // Until then a reset would have arrived.
      await healthOf(shared());
    }
    socket.end();
    await closed;
    expect(errors).toEqual([]);
  });

  test('is checked without a Content-Length too', async () => {
    const service = shared();
    const chunks = (bytes: number) => new Blob([padded(bytes)]).stream();
    for (const [bytes, status] of [
      [limit, 200],
      [limit + 1, 413],
    ] as const) {
      const init: RequestInit = { method: 'POST', headers: { 'Content-Type': json }, body: chunks(bytes) };
      expect((await service.get(path, { ...init, duplex: 'half' } as RequestInit)).status).toBe(status);
    }
  });
});

test.each<[string, Buffer<ArrayBuffer>]>([
  ['gzip', Buffer.from(gzipSync(next))],
  ['br', Buffer.from(next)],
  ['identity, gzip', Buffer.from(next)],
])('a body encoded as %s is refused, as decompression could exceed the limit', async (encoding, body) => {
  const service = shared();
  const headers = { 'Content-Type': json, 'Content-Encoding': encoding };
  const response = await service.get(path, { method: 'POST', headers, body });
  expect([response.status, await response.json()]).toMatchObject([415, { error: { code: 'unsupported_media_type' } }]);
});

test('the content encoding identity is accepted', async () => {
  const service = shared();
  expect((await service.post(path, next, { 'Content-Encoding': 'identity' })).status).toBe(200);
});

describe('an incomplete body', () => {
  const head = (url: string, ...lines: string[]) =>
    `${[`POST ${path} HTTP/1.1`, hostLine(url), `Content-Type: ${json}`, ...lines].join('\r\n')}\r\n\r\n`;

  test.each<[string, string[], string]>([
    ['breaks off', ['Content-Length: 100'], next],
    ['breaks off between chunks', ['Transfer-Encoding: chunked'], `13\r\n${next.slice(0, 19)}\r\n`],
    ['is chunked wrongly', ['Transfer-Encoding: chunked'], `xyz\r\n${next}\r\n0\r\n\r\n`],
    ['has two lengths', ['Content-Length: 18', 'Content-Length: 19'], next],
    ['has a length and chunks', ['Content-Length: 18', 'Transfer-Encoding: chunked'], `12\r\n${next}\r\n0\r\n\r\n`],
  ])('%s: it has no effect, and the service keeps running', async (_, lines, body) => {
    const service = shared();
    const page = await joinScreen(service, 'lobby');
    const socket = await connectTo(service.url);
    socket.end(head(service.url, ...lines) + body);
    const { status } = parseAnswer((await buffer(socket)).toString());
    expect(status).toBe(400);
    expect((await healthOf(service)).status).toBe('ok');
    expect(page.messages).toHaveLength(1);
    expect(logged(service, 'a request failed')).toEqual([]);
  });

  test('has no effect when the connection is reset, and the service keeps running', async () => {
    const service = shared();
    const socket = await connectTo(service.url);
    socket.write(`${head(service.url, 'Content-Length: 100')}{`);
    // The service has seen the head by the time that it answers another.
    await healthOf(service);
    socket.resetAndDestroy();
    expect((await healthOf(service)).status).toBe('ok');
    expect(logged(service, 'a request failed')).toEqual([]);
  });
});

test('a connection can be reused after a rejected body', async () => {
  const { url } = shared();
  const socket = await connectTo(url);
  const lines = [`POST ${path} HTTP/1.1`, hostLine(url), 'Content-Type: text/plain', `Content-Length: ${next.length}`];
  socket.write(`${lines.join('\r\n')}\r\n\r\n${next}`);
  socket.write(`GET /healthz HTTP/1.1\r\n${hostLine(url)}\r\nConnection: close\r\n\r\n`);
  const answers = (await buffer(socket)).toString();
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 415', 'HTTP/1.1 200']);
});
