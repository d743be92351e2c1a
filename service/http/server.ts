/** The listening socket: limits, the gate, the shortcut for playlists, and the upgrade to WebSockets. */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { type WebSocket, WebSocketServer } from 'ws';
import { signatureHeader } from '../auth/sign.ts';
import { CodedError, type ErrorCode } from '../contract/errors.ts';
import { deviceHeader } from '../contract/onboarding.ts';
import { socketProtocol } from '../contract/socket.ts';
import { refusal } from '../platform/options/index.ts';
import { errorAnswer, type PreparedPayload, sendPayload, toCodedError } from './answer.ts';
import { hasBody } from './body.ts';
import { mostConnections } from './connection-limit.ts';
import { type Gate, MOST_HEADERS } from './gate.ts';
import { ignoreOffer } from './ignore-upgrade.ts';
import { createPendingResponses } from './pending.ts';
import { dropStalled } from './stalled.ts';

interface Dependencies {
  log: Logger;
  gate: Gate;
  app: RequestListener;
  payload(slug: string): PreparedPayload | undefined;
  /** The sockets, by path: admits an upgrade, or throws the CodedError that refuses it. */
  admitSocket(request: IncomingMessage): Promise<(socket: WebSocket) => void>;
}

export interface Server {
  /** The port it listens on. */
  port: number;
  /** Where it can be reached on this machine. */
  url: string;
  /** Takes no more connections; resolves when those there were are gone, or cut after 2 s. */
  close(): Promise<void>;
}

const DRAIN_MS = 2_000;
/** How often the log says that there are too many connections. */
const TELL_MS = 60_000;
const MOST_MESSAGE_BYTES = 64 * 1024;

/** How long a client may go on sending a body that nobody reads. */
const LINGER_MS = 5_000;

const limits = {
  headersTimeout: 10_000,
  // Bodies have deadlines of their own: a JSON body's is short, an upload's depends on its size.
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 8 * 1024,
  // The gate judges Host, and answers as the rest of the service does.
  requireHostHeader: false,
};

/** Faults in a head, by the codes that Node has for them. */
const codeOfClientError: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** Ends a connection on which a body is still to come, some time after its answer. */
const cutOff = (request: IncomingMessage): void => {
  if (request.complete) return;
  const timer = setTimeout(() => request.socket.destroy(), LINGER_MS).unref();
  request.once('end', () => clearTimeout(timer));
};

const playlistPath = /^\/api\/screens\/([a-z0-9-]{1,64})\/playlist(?:\?|$)/;

/** The address to open on this machine, for a listen address that may stand for all of them. */
const localUrl = (host: string, port: number): string => {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
};

/** A listen error as what a person can do about it. */
const listenError = (error: NodeJS.ErrnoException, host: string, port: number): Error => {
  if (error.code === 'EADDRINUSE') {
    return new Error(`Port ${port} is taken by another program; set SIGNAGE_PORT to a free one.`, { cause: error });
  }
  if (error.code === 'EACCES') return refusal('port', String(port), 'a port that this user may listen on');
  if (error.code === 'EADDRNOTAVAIL' || error.syscall === 'getaddrinfo') {
    return refusal('host', host, 'an address of this machine');
  }
  return error;
};

/** @throws OptionsError or Error, with a sentence for a person, where the address or the port can't be had */
export const listen = async (
  { log, gate, app, payload, admitSocket }: Dependencies,
  { host, port }: { host: string; port: number },
): Promise<Server> => {
  const pending = createPendingResponses();
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const { method, url = '' } = request;
    pending.add(response);
    if (hasBody(request)) response.once('finish', () => cutOff(request));
    const reads = method === 'GET' || method === 'HEAD';
    try {
      gate.checkHost(request);
      if (!reads) gate.checkOrigin(request);
    } catch (error) {
      const { status, headers, body } = errorAnswer(url, toCodedError(error, log));
      response.writeHead(status, { ...headers, Connection: 'close' }).end(body);
      return;
    }
    if (request.httpVersion === '1.1' && request.headers.expect?.toLowerCase() === '100-continue')
      response.writeContinue();
    // Whoever signs a request wants the answer signed, and is judged on the way.
    const isPlain =
      reads && [signatureHeader, deviceHeader, 'expect'].every((name) => request.headers[name] === undefined);
    const prepared = isPlain ? payload(playlistPath.exec(url)?.[1] ?? '') : undefined;
    if (prepared === undefined) app(request, response);
    else sendPayload(request, response, prepared, null);
  };
  const server = createServer(limits, handle);
  // Node would tell a client to send its body before the gate has judged the request.
  server.on('checkContinue', handle);
  // Node would refuse other expectations itself, without the headers of other answers.
  server.on('checkExpectation', handle);
  // Node drops what is beyond, silently: the gate must see that there was one too many.
  server.maxHeadersCount = MOST_HEADERS + 1;
  const most = mostConnections(await readFile('/proc/self/limits', 'utf8').catch(() => ''));
  server.maxConnections = most;
  let toldAt = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    if (performance.now() - toldAt < TELL_MS) return;
    toldAt = performance.now();
    log.warn({ most }, 'connections are turned away: there are as many as the service takes');
  });

  /** Answers where Node has given a socket away: as under /api, since programs alone get there. */
  const refuse = (socket: Duplex, error: CodedError): void => {
    if (!socket.writable) return void socket.destroy();
    const { status, headers, body } = errorAnswer('/api', error);
    const lines = Object.entries({ ...headers, Connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${error.code}\r\n${lines.join('')}\r\n${body}`, () => socket.destroy());
  };

  const connections = new Set<Socket>();
  server.on('connection', (socket) => {
    // A connection whose offer of another protocol was ignored comes a second time.
    if (connections.has(socket)) return;
    connections.add(socket);
    socket.once('close', () => {
      connections.delete(socket);
      pending.close(socket);
    });
  });
  const stalled = dropStalled(connections, ({ remoteAddress }) => {
    log.debug({ address: remoteAddress }, 'a client that reads nothing is dropped');
  });

  server.on('clientError', async (error: NodeJS.ErrnoException, socket) => {
    // It would take the place of the answer to a request before it.
    await pending.settled(socket as Socket);
    refuse(socket, new CodedError(codeOfClientError[error.code ?? ''] ?? 'invalid_request'));
  });

  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MOST_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(socketProtocol) ? socketProtocol : false),
  });

  sockets.on('wsClientError', (error, socket) => {
    const headers = { 'Sec-WebSocket-Version': '13' };
    refuse(socket, new CodedError('invalid_request', `${error.message}.`, { headers }));
  });

  server.on('upgrade', async (request, socket, head) => {
    const onError = (error: Error): void => log.debug({ err: error }, 'an upgrading socket failed');
    // A socket without this listener takes the process with it when it fails.
    socket.on('error', onError);
    await pending.settled(request.socket);
    if (!socket.writable) return void socket.destroy();
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
      socket.off('error', onError);
      return ignoreOffer(server, request, head);
    }
    try {
      gate.checkHost(request);
      gate.checkOrigin(request);
      const accept = await admitSocket(request);
      // Whoever takes sockets over may have said goodbye to theirs meanwhile.
      if (!server.listening) throw new CodedError('busy', 'The service is stopping.');
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        webSocket.on('error', (error) => log.debug({ err: error }, 'a WebSocket failed'));
        accept(webSocket);
      });
    } catch (error) {
      refuse(socket, toCodedError(error, log));
    }
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)));
    server.listen({ host, port }, resolve);
  });
  server.on('error', (error) => log.error({ err: error }, 'the listening socket failed'));

  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    url: localUrl(host, bound),
    close: () =>
      new Promise((resolve) => {
        // Those that were upgraded too, which Node does not count as its own any more.
        const cut = setTimeout(() => {
          for (const socket of connections) socket.destroy();
        }, DRAIN_MS);
        server.close(() => {
          clearTimeout(cut);
          stalled.close();
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
};
