/** Bytes that are no HTTP, or HTTP that no client library sends. */
import { connect } from 'node:net';
import fc from 'fast-check';

const heads = [
  'GET / HTTP/1.1',
  'GET /healthz HTTP/1.0',
  'GET http://HOST/healthz HTTP/1.1',
  'GET * HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'CONNECT HOST HTTP/1.1',
  'GET /healthz HTTP/9.9',
  'GET  /healthz HTTP/1.1',
  'get /healthz HTTP/1.1',
  'PRI * HTTP/2.0',
  'POST /api/screens/lobby/commands HTTP/1.1',
  'PUT /api/media/a.png HTTP/1.1',
  `GET /${'a'.repeat(9_000)} HTTP/1.1`,
  'GET /\u0001 HTTP/1.1',
];

const lines = [
  'Host: HOST',
  'Host: HOST\r\nHost: evil.example',
  'Host : HOST',
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length: 5\r\nContent-Length: 6',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 5',
  'Transfer-Encoding: gzip, chunked',
  'Content-Type: application/json',
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x',
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 99\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  'Connection: Upgrade\r\nUpgrade: h2c',
  'Expect: 100-continue',
  `X-Long: ${'x'.repeat(9_000)}`,
  'X-Folded: a\r\n b',
  'No colon',
  'X-Nul: \u0000',
];

const bodies = [
  '',
  'hello',
  '0\r\n\r\n',
  '5\r\nhello\r\n0\r\n\r\n',
  'zz\r\n',
  'ffffffffffffffff\r\n',
  '{"command":"next"}',
];

/** A request put together of parts that may not belong together, now and then with a byte replaced. */
export const oddities = (host: string): fc.Arbitrary<Buffer> =>
  fc
    .tuple(
      fc.constantFrom(...heads),
      fc.subarray(lines, { maxLength: 5 }),
      fc.constantFrom(...bodies),
      fc.option(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }))),
    )
    .map(([head, some, body, flip]) => {
      const text = `${[head, 'Host: HOST', ...some].join('\r\n')}\r\n\r\n${body}`.replaceAll('HOST', host);
      const bytes = Buffer.from(text, 'latin1');
      if (flip !== null) bytes[flip[0] % bytes.length] = flip[1];
      return bytes;
    });

const PATIENCE_MS = 2_000;

/** Sends bytes, ends, and resolves with all that the service said until it hung up, or 2 s later. */
export const sendBytes = (url: string, bytes: Buffer): Promise<string> =>
  new Promise((done) => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => done(Buffer.concat(chunks).toString('latin1')));
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.end(bytes);
  });
