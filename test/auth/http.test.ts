/** The judge behind a real server: heads as Node reads them, bodies as they arrive, sockets. */
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createAccess } from '../../service/auth/access.ts';
import { signRequest } from '../../service/auth/sign.ts';
import { checkBody } from '../../service/auth/signatures.ts';
import { upgradeHeaders } from '../../service/auth/tokens.ts';
import type { Access } from '../../service/contract/operations/index.ts';
import { type Signable, signatureHeader, timestampHeader } from '../../service/domain/request-signature.ts';
import { createTestGuard, noRule, outcome, secret } from './support.ts';

const start = async () => {
  const log = { warn: () => undefined };
  const guard = createTestGuard({ now: Date.now, monotonicNow: () => performance.now() });
  const access = createAccess({
    secret,
    previous: null,
    nodeId: 'node-1',
    pageTokenSeconds: 60,
    guard,
    keyring: null,
    now: Date.now,
    log,
  });
  const kept: string[] = [];

  const admit = (req: IncomingMessage, as: Access, headers = req.headersDistinct) =>
    access.admit({
      ...noRule,
      access: as,
      method: req.method ?? '',
      host: req.headers.host ?? '',
      target: req.url ?? '',
      headers,
      address: req.socket.remoteAddress ?? '',
      isOwnHost: () => true,
    });

  const server = createServer(async (req, res) => {
    const said = await outcome(async () => {
      const { bodySha256 } = await admit(req, 'signed');
      const hash = createHash('sha256');
      let body = '';
      for await (const chunk of req) {
        hash.update(chunk);
        body += String(chunk);
      }
      checkBody(hash.digest('hex'), bodySha256);
      kept.push(body);
    });
    res.end(said);
  });

  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'signage.v1' });
  server.on('upgrade', async (req, socket, rest) => {
    const said = await outcome(() => admit(req, 'signed or page', upgradeHeaders(req.headersDistinct)));
    if (said === 'accepted') sockets.handleUpgrade(req, socket, rest, (open) => open.close());
    else socket.end(`HTTP/1.1 401 Unauthorized\r\nX-Code: ${said}\r\n\r\n`);
  });

  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { access, kept, port, url: `http://127.0.0.1:${port}`, close: () => server.close().closeAllConnections() };
};

let running: Awaited<ReturnType<typeof start>>;

beforeEach(async () => {
  running = await start();
});

afterEach(() => {
  running.close();
});

const send = async (
  path: string,
  method: string,
  headers: Record<string, string | string[]>,
  chunks: string[] = [],
) => {
  const req = request(running.url + path, { method, headers });
  for (const chunk of chunks) req.write(chunk);
  const answered = once(req.end(), 'response') as Promise<[IncomingMessage]>;
  return text((await answered)[0]);
};

const sign = (path: string, method: string, more: Partial<Signable> = {}) =>
  signRequest({ url: running.url + path, method, secret, ...more });

test.each(['GET', 'POST', 'PUT', 'DELETE'])('a signed %s is accepted', async (method) => {
  expect(await send('/a%20b?c=%2F&d', method, sign('/a%20b?c=%2F&d', method))).toBe('accepted');
});

test('fetch sends the target and host that were signed from its URL', async () => {
  const url = `${running.url}/a b/../ü?q=ä b#c`;
  const body = JSON.stringify({ command: 'next' });
  const answer = await fetch(url, {
    method: 'POST',
    headers: signRequest({ url, method: 'POST', secret, body }),
    body,
  });
  expect(await answer.text()).toBe('accepted');
});

test('one of a hundred concurrent copies is accepted', async () => {
  const headers = sign('/', 'POST', { body: 'once' });
  const said = await Promise.all(Array.from({ length: 100 }, () => send('/', 'POST', headers, ['on', 'ce'])));
  expect(said.filter((code) => code === 'accepted')).toHaveLength(1);
  expect(said.filter((code) => code === 'signature_replayed')).toHaveLength(99);
  expect(running.kept).toEqual(['once']);
});

test.each([
  ['another body', ['tw', 'ice']],
  ['a longer body', ['on', 'ce', '!']],
  ['a shorter body', ['on']],
  ['no body', []],
])('%s than was signed is refused', async (_, chunks) => {
  expect(await send('/', 'POST', sign('/', 'POST', { body: 'once' }), chunks)).toBe('signature_invalid');
  expect(running.kept).toEqual([]);
});

test('a body is refused where an empty body was signed', async () => {
  expect(await send('/', 'POST', sign('/', 'POST'), ['once'])).toBe('signature_invalid');
});

test.each([timestampHeader, signatureHeader])(
  'a repeated %s header is refused, even with equal values',
  async (name) => {
    const headers = sign('/', 'GET');
    const value = Object.entries(headers).find(([own]) => own === name)?.[1] ?? '';
    expect(await send('/', 'GET', { ...headers, [name]: [value, value] })).toBe('signature_invalid');
  },
);

test('the signature covers the lower-case Host header', async () => {
  const host = `Player.Local:${running.port}`;
  const signed = () => signRequest({ host, target: '/', method: 'GET', secret });
  expect(await send('/', 'GET', { ...signed(), Host: host })).toBe('accepted');
  expect(await send('/', 'GET', { ...signed(), Host: host.toLowerCase() })).toBe('accepted');
  expect(await send('/', 'GET', { ...signed(), Host: `other.local:${running.port}` })).toBe('signature_invalid');
});

test('the signature covers the bytes of the target, as an independent client sends and signs it', async () => {
  const target = '/caf%C3%a9/../%2e?q=%zz|"{}&&=\\';
  const timestamp = String(Date.now());
  const nonce = 'n'.repeat(16);
  const sha256 = createHash('sha256').digest('hex');
  const lines = ['signage-request-v1', timestamp, nonce, 'GET', 'player', target, sha256];
  const mac = createHmac('sha256', secret).update(lines.join('\n')).digest('hex');
  const head = [
    `GET ${target} HTTP/1.1`,
    'Host: Player',
    `${timestampHeader}: ${timestamp}`,
    `${signatureHeader}: v1;nonce=${nonce};sha256=${sha256};mac=${mac}`,
    'Connection: close',
  ];
  const socket = connect(running.port, '127.0.0.1');
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  expect(await text(socket)).toMatch(/accepted/);
});

const open = async (protocols: string[], headers: Record<string, string> = {}) => {
  const socket = new WebSocket(`${running.url}/socket`, protocols, { headers });
  return new Promise<string>((resolve, reject) => {
    socket.on('open', () => resolve(socket.protocol));
    socket.on('unexpected-response', (_, answer) => resolve(String(answer.headers['x-code'])));
    socket.on('error', reject);
  });
};

test('a socket opens with a page token or a signature, and the response does not repeat the token', async () => {
  const token = (await running.access.pageToken())?.token ?? '';
  expect(await open(['signage.v1', `token.${token}`])).toBe('signage.v1');
  expect(await open(['signage.v1'], sign('/socket', 'GET'))).toBe('signage.v1');
  expect(await open(['signage.v1'])).toBe('credentials_required');
  expect(await open(['signage.v1', 'token.nonsense'])).toBe('page_token_invalid');
  expect(await open(['signage.v1', `token.${token}`, `token.${token}x`])).toBe('page_token_invalid');
  expect(await open(['signage.v1'], sign('/other', 'GET'))).toBe('signature_invalid');
});
