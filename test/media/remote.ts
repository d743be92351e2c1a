/** A web server that behaves as badly as a test wants it to. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface Remote {
  url: string;
  /** Every request so far. */
  requests: IncomingMessage[];
  answer(path: string, how: Answer): void;
  close(): Promise<void>;
}

export const startRemote = async ({ host = '127.0.0.1', port = 0 } = {}): Promise<Remote> => {
  const answers = new Map<string, Answer>();
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const answer = answers.get(new URL(request.url ?? '', 'http://remote').pathname);
    if (answer) answer(request, response);
    else response.writeHead(404).end();
  }).listen(port, host);
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: (path, how) => answers.set(path, how),
    close,
  };
};

/** Bytes that nothing compresses and no two offsets share. */
export const noise = (length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  let state = 1;
  for (let at = 0; at + 4 <= length; at += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes.writeUInt32LE(state, at);
  }
  return bytes;
};

interface Manner {
  etag?: string;
  type?: string;
  /** Cut the connection after this many bytes of an answer. */
  cutAfter?: number;
  ranges?: boolean;
  headers?: Record<string, string>;
}

/** Serves bytes as a good server does, but for what is asked otherwise. */
export const serveBytes =
  (
    bytes: Buffer,
    { etag = '"one"', type = 'application/octet-stream', cutAfter, ranges = true, headers }: Manner = {},
  ): Answer =>
  (request, response) => {
    const head = { 'Content-Type': type, ...(etag && { ETag: etag }), ...headers };
    if (etag && request.headers['if-none-match'] === etag) return void response.writeHead(304, head).end();
    const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
    const condition = request.headers['if-range'];
    const start = ranges && from !== undefined && (condition === undefined || condition === etag) ? Number(from) : 0;
    const body = bytes.subarray(start);
    const range = { 'Content-Range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` };
    response.writeHead(start > 0 ? 206 : 200, { ...head, 'Content-Length': body.length, ...(start > 0 && range) });
    if (cutAfter === undefined || cutAfter >= body.length) return void response.end(body);
    // Later than a busy machine has read it: what a client has not read by then is lost with the connection.
    response.write(body.subarray(0, cutAfter), () => setTimeout(() => response.destroy(), 300));
  };
