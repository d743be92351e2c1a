/** The listening socket: limits, the gate, the fast path for playlists, and upgrades to WebSockets. */
import { readFile } from 'node:fs/promises';
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';
import type { Logger } from 'pino';
import { type WebSocket, WebSocketServer } from 'ws';
import type { SignResponse } from '../auth/access.ts';
import { CodedError, type ErrorCode } from '../contract/errors.ts';
import { deviceHeader } from '../contract/onboarding.ts';
import { socketProtocol } from '../contract/socket.ts';
import { signatureHeader } from '../domain/request-signature.ts';
import { refusal } from '../platform/options/index.ts';
import { errorAnswer, toCodedError } from './answer.ts';
import { hasBody } from './body.ts';
import { createPendingResponses, dropStalled, ignoreUpgrade, maxConnections } from './connections.ts';
import { type Gate, MAX_HEADERS } from './gate.ts';
import { createRequestQueue } from './pacing.ts';
import type { AnswerOpen } from './routes.ts';
import { ClosingSocket, createHeldMessages } from './sockets.ts';

interface Dependencies {
  log: Logger;
  gate: Gate;
  app: RequestListener;
  /** The client that has sent a request. */
  partyOf(request: IncomingMessage): string;
  answerOpen: AnswerOpen;
  /** Admits an upgrade. @throws CodedError that rejects it */
  admitSocket(
    request: IncomingMessage,
    onSigned: (signResponse: SignResponse) => void,
  ): Promise<(socket: WebSocket) => void>;
}

export type Server = Awaited<ReturnType<typeof listen>>;

const DRAIN_MS = 2_000;
/**
 * Connections that the kernel holds until they are accepted, where it allows as many (listen(2)). It drops further ones,
 * and their clients, other boxes among them, try again after 1 s and 3 s. Node's default is 511.
 */
export const MAX_BACKLOG = 4_096;
/** Minimum interval between log lines about refused connections. */
const WARN_INTERVAL_MS = 60_000;
/** Texts of pages are cut, not refused: this is far beyond the longest that a page shows. */
const MAX_MESSAGE_BYTES = 256 * 1024;

/** How long a client may keep sending an unread body after its response. */
const LINGER_MS = 5_000;

/** What every HTTP server of the service bounds. */
export const serverLimits = {
  headersTimeout: 10_000,
  // Bodies have their own deadlines: short for JSON, by size for uploads.
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 8 * 1024,
  // The gate checks Host, and its errors have the format of the service.
  requireHostHeader: false,
};

/** Error codes for malformed request heads, by Node's error codes. */
const codeOfClientError: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/**
 * Closes the connection of a request whose body is still incomplete LINGER_MS after its response. Node itself would reset at
 * once a connection that is to be closed, and a client that still sends would not see the response.
 */
const closeUnfinished = (request: IncomingMessage): void => {
  if (request.complete) return;
  const { socket } = request;
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    socket.end();
    request.once('end', destroySoon);
  };
  request.once('end', () => {
    clearTimeout(timer);
    socket.destroySoon = destroySoon;
  });
};

/** The URL to open on this machine; a wildcard listen address becomes loopback. */
const localUrl = (host: string, port: number): string => {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
};

/** Converts an error of `listen` to a message with the remedy. */
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

/**
 * Checks that the service can listen on the address, before anything else is opened.
 * @throws OptionsError if this machine does not have it
 */
export const checkAddress = async (host: string): Promise<void> => {
  const probe = createTcpServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error) => reject(listenError(error, host, 0)));
    probe.listen({ host, port: 0 }, resolve);
  });
  await new Promise((resolve) => probe.close(resolve));
};

/** @throws OptionsError or Error, with a message for the operator, if the address or port is not available */
export const listen = async (
  { log, gate, app, partyOf, answerOpen, admitSocket }: Dependencies,
  { host, port }: { host: string; port: number },
) => {
  const pending = createPendingResponses();
  const requests = createRequestQueue(partyOf);
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (!pending.add(response)) return;
    const { method, url = '', headers } = request;
    // Before Node closes the connection.
    if (hasBody(request)) response.prependOnceListener('finish', () => closeUnfinished(request));
    const reads = method === 'GET' || method === 'HEAD';
    const reject = (error: unknown): void => {
      const { status, headers: more, body } = errorAnswer(url, toCodedError(error, log));
      response.writeHead(status, { ...more, Connection: 'close' }).end(body);
    };
    try {
      gate.checkHost(request);
    } catch (error) {
      return reject(error);
    }
    const isExpecting = headers.expect?.toLowerCase() === '100-continue' && request.httpVersion === '1.1';
    if (isExpecting && !gate.isForeign(request)) response.writeContinue();
    // Requests with credentials, a device or an expectation need the full application.
    const isPlain =
      reads &&
      headers[signatureHeader] === undefined &&
      headers[deviceHeader] === undefined &&
      headers.expect === undefined;
    const isAnswered = isPlain && answerOpen(request, response);
    if (response.writableEnded) return;
    if (isAnswered) return;
    try {
      requests.enqueue(request, () => app(request, response));
    } catch (error) {
      reject(error);
    }
  };
  const server = createServer(serverLimits);
  const limit = maxConnections(await readFile('/proc/self/limits', 'utf8').catch(() => ''));
  server.maxConnections = limit;
  let warnedAt = Number.NEGATIVE_INFINITY;
  const warnOfLimit = (): void => {
    if (performance.now() - warnedAt < WARN_INTERVAL_MS) return;
    warnedAt = performance.now();
    log.warn({ limit }, 'refusing connections: the limit of open connections is reached');
  };

  /** Answers on a socket that Node has detached. The body is JSON, as only programs get here. */
  const refuse = (socket: Duplex, error: CodedError, signResponse: SignResponse | null = null): void => {
    if (!socket.writable) return void socket.destroy();
    const { status, headers, body } = errorAnswer('/api', error);
    const proof = signResponse?.(status, body);
    const lines = Object.entries({ ...headers, ...proof, Connection: 'close' }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    socket.end(`HTTP/1.1 ${status} ${error.code}\r\n${lines.join('')}\r\n${body}`, () => socket.destroy());
  };

  const connections = new Set<Socket>();
  const accept = (socket: Socket): void => {
    // A connection whose upgrade was ignored is emitted a second time.
    if (connections.has(socket)) return;
    connections.add(socket);
    socket.once('close', () => {
      connections.delete(socket);
      pending.close(socket);
    });
  };

  const onClientError = async (error: NodeJS.ErrnoException, socket: Duplex): Promise<void> => {
    // A client whose TLS handshake has failed would not understand an answer.
    if (!connections.has(socket as Socket)) return void socket.destroy();
    // Earlier requests on this connection must be answered first.
    await pending.settled(socket as Socket);
    refuse(socket, new CodedError(codeOfClientError[error.code ?? ''] ?? 'invalid_request'));
  };

  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    WebSocket: ClosingSocket,
    handleProtocols: (offered) => (offered.has(socketProtocol) ? socketProtocol : false),
  });

  const heldMessages = createHeldMessages(() =>
    log.debug('closed the socket that has held a message for longest, as all sockets together hold too much'),
  );

  sockets.on('wsClientError', (error, socket) => {
    const headers = { 'Sec-WebSocket-Version': '13' };
    refuse(socket, new CodedError('invalid_request', `${error.message}.`, { headers }));
  });

  const upgrade = async (of: HttpServer, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const onError = (error: Error): void => log.debug({ err: error }, 'a socket failed during its upgrade');
    // Without a listener, a socket error would end the process.
    socket.on('error', onError);
    await pending.settled(request.socket);
    if (!socket.writable) return void socket.destroy();
    // Sockets are opened by GET (RFC 6455, 4.1): to other methods the service answers as ever.
    if (request.method !== 'GET' || request.headers.upgrade?.toLowerCase() !== 'websocket') {
      socket.off('error', onError);
      return ignoreUpgrade(of, request, head, of instanceof TlsServer ? 'secureConnection' : 'connection');
    }
    let signResponse = null as SignResponse | null;
    try {
      gate.checkHost(request);
      gate.checkExpectation(request);
      const accept = await admitSocket(request, (sign) => {
        signResponse = sign;
      });
      // The service may have begun to stop meanwhile, and its modules have closed their sockets.
      if (!of.listening) throw new CodedError('busy', 'The service is stopping.');
      const proof = Object.entries(signResponse?.(101, '') ?? {});
      const addProof = (lines: string[]): void => void lines.push(...proof.map(([name, value]) => `${name}: ${value}`));
      sockets.once('headers', addProof);
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        webSocket.on('error', (error) => log.debug({ err: error }, 'a WebSocket failed'));
        heldMessages.watch(webSocket, socket);
        accept(webSocket);
      });
      // One that is refused after all has emitted none.
      sockets.off('headers', addProof);
    } catch (error) {
      refuse(socket, toCodedError(error, log), signResponse);
    }
  };

  /** Answers what reaches a server, which listens with {@link serverLimits} on another port or over TLS. */
  const serve = (of: HttpServer): void => {
    of.on('request', handle);
    // By default Node asks the client for its body before the gate has checked the request.
    of.on('checkContinue', handle);
    // By default Node rejects other expectations itself, without our response headers.
    of.on('checkExpectation', handle);
    // Node silently drops headers beyond the limit; the gate must see that there was one too many.
    of.maxHeadersCount = MAX_HEADERS + 1;
    of.on('drop', warnOfLimit);
    of.on(of instanceof TlsServer ? 'secureConnection' : 'connection', accept);
    of.on('clientError', onClientError);
    of.on('upgrade', (request, socket, head) => upgrade(of, request, socket, head));
  };
  serve(server);

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)));
    server.listen({ host, port, backlog: MAX_BACKLOG }, resolve);
  });
  const stalled = dropStalled(connections, ({ remoteAddress }) => {
    log.debug({ address: remoteAddress }, 'closed the connection of a client that stopped reading');
  });
  server.on('error', (error) => log.error({ err: error }, 'the listening socket failed'));

  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    /** The base URL on this machine. */
    url: localUrl(host, bound),
    serve,
    /** Of all servers together. */
    maxConnections: limit,
    /** Stops accepting connections; resolves when the open ones have ended. After 2 s they are closed. */
    close: (): Promise<void> =>
      new Promise((resolve) => {
        // Includes upgraded sockets, which Node no longer tracks.
        const deadline = setTimeout(() => {
          for (const socket of connections) socket.destroy();
        }, DRAIN_MS);
        server.close(() => {
          clearTimeout(deadline);
          stalled.close();
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
};
