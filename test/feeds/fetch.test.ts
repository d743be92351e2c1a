/** One fetch, against servers that mean no good. */
import type { RequestListener } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createFetch } from '../../service/feeds/fetch.ts';
import type { FetchFault } from '../../service/platform/outbound/answer.ts';
import { createGet } from '../../service/platform/outbound/get.ts';
import { testTempo } from '../support/tempo.ts';
import { pour, startFeedServer } from './server.ts';

const feeds = { ...testTempo.feeds, answer: 1_000, total: 3_000, grace: 500 };
const fetch = createFetch({ get: createGet(), tempo: { ...testTempo, feeds } }, 64 * 1024);
/** A signal that nobody gives. */
const open = (): AbortSignal => new AbortController().signal;
const none = { etag: null, lastModified: null };
const bombs = { gzip: gzipSync(Buffer.alloc(50_000_000)), br: brotliCompressSync(Buffer.alloc(50_000_000)) };

const failing = async (listener: RequestListener, path = '/'): Promise<string> => {
  const server = await startFeedServer(listener);
  return fetch(server.at(path), none, open()).then(
    () => 'it succeeded',
    (error: FetchFault) => error.message,
  );
};

describe('a server that', () => {
  it.each<[string, RequestListener, RegExp]>([
    ['answers 500', (_, response) => response.writeHead(500).end(), /^the server answers 500$/],
    ['answers 204', (_, response) => response.writeHead(204).end(), /^the server answers 204$/],
    ['never answers', () => {}, /^the server does not answer$/],
    ['hangs up', ({ socket }) => socket.destroy(), /^the connection was cut$/],
    ['speaks no HTTP', ({ socket }) => socket.end('SSH-2.0-OpenSSH_9.9\r\n\r\n'), /^the answer is not HTTP/],
    ['never ends its headers', ({ socket }) => pour(socket as never, `X: ${'x'.repeat(999)}\r\n`), /not HTTP|was cut/],
    [
      'claims too much',
      (_, response) => response.setHeader('Content-Length', 1e10).write('x'),
      /^it is larger than 64 KiB$/,
    ],
    ['never ends its body', (_, response) => pour(response, Buffer.alloc(16_384, 'x')), /^it is larger than 64 KiB$/],
    ['drips', (_, response) => pour(response, 'x', 50), /^it comes too slowly$/],
    ['stops half way', (_, response) => response.write('x'), /^it comes too slowly$/],
    [
      'breaks off',
      (_, response) => {
        response.setHeader('Content-Length', 100);
        response.write('x', () => response.destroy());
      },
      /^the answer was cut off$/,
    ],
    [
      'sends a gzip bomb',
      (_, response) => response.setHeader('Content-Encoding', 'gzip').end(bombs.gzip),
      /^it is larger than 64 KiB$/,
    ],
    [
      'sends a bomb of brotli',
      (_, response) => response.setHeader('Content-Encoding', 'br').end(bombs.br),
      /^it is larger than 64 KiB$/,
    ],
    [
      'says gzip and means none',
      (_, response) => response.setHeader('Content-Encoding', 'gzip').end('plain'),
      /^it cannot be unpacked$/,
    ],
    [
      'sends half a gzip',
      (_, response) => response.setHeader('Content-Encoding', 'gzip').end(gzipSync(Buffer.alloc(9999)).subarray(0, 20)),
      /^it cannot be unpacked$/,
    ],
    ['packs it in its own way', (_, response) => response.setHeader('Content-Encoding', 'x-own').end(), /x-own/],
    ['goes round in circles', (_, response) => response.writeHead(302, { Location: '/' }).end(), /more than 5 times/],
    [
      'redirects to a file',
      (_, response) => response.writeHead(301, { Location: 'file:///etc/passwd' }).end(),
      /file:/,
    ],
    ['redirects to ftp', (_, response) => response.writeHead(301, { Location: 'ftp://127.0.0.1/' }).end(), /ftp:/],
    ['redirects to nowhere', (_, response) => response.writeHead(302).end(), /^the server answers 302$/],
    ['redirects to nonsense', (_, response) => response.writeHead(302, { Location: 'http://' }).end(), /no address/],
  ])('%s costs nothing but a sentence', async (_, listener, expected) => {
    expect(await failing(listener)).toMatch(expected);
  });

  it('is not there is told from one that does not exist', async () => {
    const server = await startFeedServer(() => {});
    await server.close();
    await expect(fetch(server.at('/'), none, open())).rejects.toThrow('the server refuses connections');
    await expect(fetch('http://no.such.host.invalid/', none, open())).rejects.toThrow('there is no host of that name');
  });
});

it.each<[string, (text: string) => Buffer]>([
  ['gzip', (text) => gzipSync(text)],
  ['br', (text) => brotliCompressSync(text)],
  ['deflate', (text) => deflateSync(text)],
  ['identity', (text) => Buffer.from(text)],
])('a body packed by %s is unpacked, after redirects, and its base is where it came from', async (encoding, pack) => {
  const server = await startFeedServer((request, response) => {
    if (request.url === '/old') response.writeHead(308, { Location: '/new/feed' }).end();
    else
      response
        .writeHead(200, { 'Content-Encoding': encoding, 'Content-Type': 'text/xml; charset="KOI8-R"' })
        .end(pack('body'));
  });
  expect(await fetch(server.at('/old'), none, open())).toMatchObject({
    changed: true,
    body: Buffer.from('body'),
    charset: 'KOI8-R',
    base: server.at('/new/feed'),
  });
});

it('asks conditionally, and says who asks and nothing else', async () => {
  const server = await startFeedServer((request, response) => {
    response.writeHead(request.headers['if-none-match'] === '"1"' ? 304 : 200, {
      ETag: '"1"',
      'Last-Modified': 'then',
    });
    response.end();
  });
  const answer = await fetch(server.at('/'), none, open());
  expect(answer).toMatchObject({ changed: true, validators: { etag: '"1"', lastModified: 'then' } });
  expect(await fetch(server.at('/'), { etag: '"1"', lastModified: 'then' }, open())).toEqual({
    changed: false,
    nearness: 2,
  });
  const [first, second] = server.requests.map(({ headers }) => headers);
  expect(Object.keys(first ?? {}).toSorted()).toEqual([
    'accept',
    'accept-encoding',
    'connection',
    'host',
    'user-agent',
  ]);
  expect(second).toMatchObject({ 'if-none-match': '"1"', 'if-modified-since': 'then' });
});

it("sends an address's credentials there, and nowhere else", async () => {
  const server = await startFeedServer((request, response) => {
    if (request.url === '/') response.writeHead(302, { Location: server.at('/other', 2) }).end();
    else response.end('x');
  });
  await fetch(server.at('/').replace('//', '//me:secret@'), none, open());
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    `Basic ${Buffer.from('me:secret').toString('base64')}`,
    undefined,
  ]);
});

it('tells how long a server wants to be left alone', async () => {
  const server = await startFeedServer((_, response) => response.writeHead(503, { 'Retry-After': '120' }).end());
  await expect(fetch(server.at('/'), none, open())).rejects.toMatchObject({ pause: 120_000 });
});

it('can be called off, with its reason', async () => {
  const server = await startFeedServer(() => abort.abort(new Error('enough')));
  const abort = new AbortController();
  await expect(fetch(server.at('/'), none, abort.signal)).rejects.toThrow('enough');
  await expect(fetch(server.at('/'), none, abort.signal)).rejects.toThrow('enough');
});
