/** A box whose answers are wrong, for what a client makes of them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type OperationName, operations } from '../../service/contract/operations/index.ts';
import type { Operation } from '../../service/contract/operations/operation.ts';
import { listenOn } from '../peers/support.ts';

/** What a box answers, as its documents show it. */
export const exampleOf = <Body>(name: OperationName, status = 200): Body =>
  structuredClone((operations[name] as Operation).answer[status]?.content?.['application/json']?.example) as Body;

type Handle = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** @returns the base URL of a box that answers as `handle` says */
export const startHostileBox = (handle: Handle): Promise<string> =>
  listenOn(
    createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      handle(request, response, body);
    }),
  );

const send =
  (status: number, body: string, headers: Record<string, string> = {}): Handle =>
  (_, response) =>
    void response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);

/** What is no answer of a box: by what it is, and how it is sent. */
export const rubbish: Readonly<Record<string, Handle>> = {
  'an empty object': send(200, '{}'),
  null: send(200, 'null'),
  'a list': send(200, '[]'),
  'a number': send(200, '1e999'),
  nothing: send(200, ''),
  'JSON that is 50,000 deep': send(200, '['.repeat(50_000) + ']'.repeat(50_000)),
  'half of JSON': send(200, '{"screens":[{"screen":'),
  'the page of a router': send(200, '<html><title>Router</title></html>', { 'Content-Type': 'text/html' }),
  'a redirect': send(302, '', { Location: 'http://192.0.2.1/' }),
  'an error that is a list': send(400, '[]'),
  'an error with the code of a prototype and a list that is none': send(
    400,
    '{"error":{"code":"constructor","message":"x","errors":null}}',
  ),
  'an error that is a page': send(502, '<html>Bad gateway</html>', { 'Content-Type': 'text/html' }),
  'a connection that ends': (_, response) => void response.destroy(),
  'a body that ends too early': (_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' }).write('{');
    setTimeout(() => response.destroy(), 10);
  },
  'no answer': () => undefined,
  'a drip': (_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  },
};

/** Headers that a host on the way may add, with values that mean something somewhere. */
export const hostileHeaders: Readonly<Record<'request' | 'answer', Readonly<Record<string, string>>>> = {
  request: {
    accept: 'text/html',
    'accept-encoding': 'gzip, br',
    authorization: 'Basic YWRtaW46YWRtaW4=',
    'cache-control': 'only-if-cached',
    connection: 'upgrade',
    'content-encoding': 'gzip',
    'content-range': 'bytes 0-1/2',
    'content-type': 'application/jose',
    cookie: 'a=b',
    expect: '200-ok',
    forwarded: 'for=192.0.2.1;host=evil.example;proto=https',
    'if-modified-since': 'Wed, 01 Jan 2025 00:00:00 GMT',
    'if-range': '"abc"',
    'if-unmodified-since': 'Wed, 01 Jan 2025 00:00:00 GMT',
    origin: 'http://evil.example',
    range: 'bytes=0-1',
    referer: 'http://evil.example/',
    'sec-fetch-site': 'cross-site',
    'transfer-encoding': 'chunked',
    upgrade: 'websocket',
    'user-agent': 'Mozilla/5.0',
    'x-forwarded-for': '192.0.2.1',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    'x-http-method-override': 'DELETE',
    'x-signage-claim': 'AAAAAAAAAA',
    'x-signage-command-id': '0123456789abcdef',
    'x-signage-device': 'AAAA-AAAA-AAAA-AAAA',
    'x-signage-device-proof': 'v1;key=a;at=1;nonce=b;sig=c',
    'x-signage-page-auth': 'token',
    'x-signage-relay': 'node-2',
  },
  answer: {
    'clear-site-data': '"*"',
    'content-encoding': 'gzip',
    'content-range': 'bytes 0-1/2',
    etag: '*',
    location: 'http://evil.example/',
    'repr-digest': 'sha-256=:AAAA:',
    'retry-after': '1',
    'transfer-encoding': 'chunked',
    upgrade: 'websocket',
  },
};
