/** The listening socket: limits, the gate, the shortcut for playlists, and the upgrade to WebSockets. */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Payload } from '../content/payload.ts';
import { CodedError } from '../errors.ts';
import { socketProtocol } from '../wire.ts';
import { errorAnswer, sendPayload, toCodedError } from './answer.ts';
import type { Gate } from './gate.ts';

interface Dependencies {
  log: Logger;
  gate: Gate;
  app: RequestListener;
  payload(slug: string): Payload | undefined;
  /** The sockets, by path: admits an upgrade, or throws the CodedError that refuses it. */
  admitSocket(request: IncomingMessage): Promise<(socket: WebSocket) => void>;
}

export interface Server {
  /** The port it listens on. */
  port: number;
  /** Takes no more connections; resolves when those there were are gone, or cut after 2 s. */
  close(): Promise<void>;
}

const DRAIN_MS = 2_000;
const MOST_CONNECTIONS = 10_000;
const MOST_MESSAGE_BYTES = 64 * 1024;

const limits = {
  headersTimeout: 10_000,
  // Bodies have deadlines of their own: a JSON body's is short, an upload's depends on its size.
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 8 * 1024,
};

const playlistPath = /^\/api\/screens\/([a-z0-9-]{1,64})\/playlist(?:\?|$)/;

/** @throws the listen error, such as EADDRINUSE */
export const listen = async (
  { log, gate, app, payload, admitSocket }: Dependencies,
  { host, port }: { host: string; port: number },
): Promise<Server> => {
  const server = createServer(limits, (request, response) => {
    const { method, url = '' } = request;
    const reads = method === 'GET' || method === 'HEAD';
    try {
      gate.checkHost(request);
      if (!reads) gate.checkOrigin(request);
    } catch (error) {
      const { status, headers, body } = errorAnswer(url, toCodedError(error, log));
      response.writeHead(status, { ...headers, Connection: 'close' }).end(body);
      return;
    }
    const prepared = reads ? payload(playlistPath.exec(url)?.[1] ?? '') : undefined;
    if (prepared === undefined) app(request, response);
    else sendPayload(request, response, prepared);
  });
  server.maxHeadersCount = 64;
  server.maxConnections = MOST_CONNECTIONS;

  const refuse = (socket: Duplex, path: string, error: CodedError): void => {
    if (!socket.writable) return void socket.destroy();
    const { status, headers, body } = errorAnswer(path, error);
    const lines = Object.entries({ ...headers, Connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${error.code}\r\n${lines.join('')}\r\n${body}`, () => socket.destroy());
  };

  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const code =
      error.code === 'HPE_HEADER_OVERFLOW'
        ? 'headers_too_large'
        : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
          ? 'request_timeout'
          : 'invalid_request';
    refuse(socket, '/api', new CodedError(code));
  });

  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MOST_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(socketProtocol) ? socketProtocol : false),
  });

  server.on('upgrade', async (request, socket, head) => {
    // A socket without this listener takes the process with it when it fails.
    socket.on('error', (error) => log.debug({ err: error }, 'an upgrading socket failed'));
    try {
      gate.checkHost(request);
      gate.checkOrigin(request);
      const accept = await admitSocket(request);
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        webSocket.on('error', (error) => log.debug({ err: error }, 'a WebSocket failed'));
        accept(webSocket);
      });
    } catch (error) {
      refuse(socket, '/api', toCodedError(error, log));
    }
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  server.on('error', (error) => log.error({ err: error }, 'the listening socket failed'));

  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
};
