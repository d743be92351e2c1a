/** What Node's HTTP server leaves to do for its connections: how many, which stall, pipelined responses, other upgrades. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const STALLED_MS = 30_000;
const CHECK_MS = 2_000;

/** Counters of Node's internal socket handle. No public counter advances within one large write. */
interface Handle {
  /** The handle of the connection under TLS, whose own counts what it has encrypted, not what was accepted. */
  _parent?: Handle;
  /** Bytes handed to libuv. */
  bytesWritten: number;
  /** Those of them that libuv still buffers. */
  writeQueueSize: number;
}

/** Bytes that the kernel has accepted for sending. It accepts more only as the client reads. */
export const acceptedBytes = (socket: Socket): number => {
  const handle = (socket as unknown as { _handle: Handle | null })._handle;
  const { bytesWritten, writeQueueSize } = handle?._parent ?? handle ?? { bytesWritten: 0, writeQueueSize: 0 };
  return bytesWritten - writeQueueSize;
};

/**
 * Closes connections whose client has read none of the pending data for 30 s, so that no client can keep a response in
 * memory. Any progress counts as reading; data from the client does not.
 */
export const dropStalled = (connections: ReadonlySet<Socket>, onDrop: (socket: Socket) => void) => {
  const progress = new WeakMap<Socket, { accepted: number; since: number }>();

  const check = (): void => {
    const now = performance.now();
    for (const socket of connections) {
      const accepted = acceptedBytes(socket);
      const last = progress.get(socket);
      if (socket.writableLength === 0 || last?.accepted !== accepted) progress.set(socket, { accepted, since: now });
      else if (now - last.since >= STALLED_MS) {
        onDrop(socket);
        socket.destroy();
      }
    }
  };
  const timer = setInterval(check, CHECK_MS).unref();

  return { close: () => clearInterval(timer) };
};

const MAX_CONNECTIONS = 10_000;
/** File descriptors reserved for state files, media, ffmpeg and requests to peers. */
const RESERVED_DESCRIPTORS = 256;

/**
 * The maximum number of concurrent connections. Each uses a file descriptor; without a free one the service could not
 * save its state.
 * @param limits content of `/proc/self/limits` (proc(5)); empty if the system has no such file
 */
export const maxConnections = (limits: string): number => {
  const descriptors = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  return Math.min(MAX_CONNECTIONS, Math.max(descriptors - RESERVED_DESCRIPTORS, Math.floor(descriptors / 2)));
};

const upgradeHeaders = /^(upgrade|http2-settings)$/i;

/** Socket events whose listeners Node's HTTP server leaves behind when it hands over a socket for an upgrade. */
const leftoverEvents = ['timeout', 'pause', 'resume'];

/**
 * Ignores an upgrade to another protocol (RFC 9110, 7.8), such as the HTTP/2 upgrade that Java's client and curl request.
 * Node has detached the socket from the server by then, so the request is pushed back without its upgrade headers and the
 * socket is handed to the server again. All earlier responses on it must be finished: the server has forgotten them.
 * @param event with which the server takes a connection: `secureConnection` over TLS
 */
export const ignoreUpgrade = (
  server: Server,
  { method, url, httpVersion, rawHeaders, socket }: IncomingMessage,
  head: Buffer,
  event: 'connection' | 'secureConnection',
): void => {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!upgradeHeaders.test(name)) lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  for (const event of leftoverEvents) socket.removeAllListeners(event);
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit(event, socket);
};

/** Browsers and proxies send the next request of a connection after the response; some programs send a few at once. */
const MAX_UNANSWERED = 16;

/**
 * Closes connections with more than 16 unanswered requests: Node emits all requests that it has read at once, and each
 * would hold its file and its response in memory until those before it are sent. Also closes queued responses to pipelined
 * requests when their connection is lost. Node closes only the response that currently owns the socket; the handlers of
 * the others would wait forever, with their files open.
 */
export const createPendingResponses = () => {
  const pending = new WeakMap<Socket, Set<ServerResponse>>();

  return {
    /** @returns false if the connection is closed: its request is not answered */
    add(response: ServerResponse): boolean {
      const { socket } = response.req;
      // Node goes on with what it has read before.
      if (socket.destroyed) return false;
      const responses = pending.get(socket) ?? new Set();
      if (responses.size >= MAX_UNANSWERED) {
        socket.destroy();
        return false;
      }
      pending.set(socket, responses.add(response));
      response.once('close', () => responses.delete(response));
      return true;
    },
    /** Resolves when all fully received requests of a connection have been answered. */
    async settled(socket: Socket): Promise<void> {
      const responses = [...(pending.get(socket) ?? [])].filter(({ req }) => req.complete);
      await Promise.all(responses.map((response) => new Promise((resolve) => response.once('close', resolve))));
    },
    /** Must be called when a connection closes. */
    close(socket: Socket): void {
      for (const response of pending.get(socket) ?? []) {
        if (response.socket !== null) continue;
        response.destroy();
        response.emit('close');
      }
    },
  };
};
