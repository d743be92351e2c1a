/** What the sockets of all pages have in common: a heartbeat, writing within bounds, and a goodbye. */
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { createRate } from '../domain/rate.ts';
import type { SourceLog } from '../platform/source-log.ts';

interface SocketListener {
  /** Called at every sign of life. */
  onSeen?: () => void;
  /** Called with each ping of the service. */
  onPing?: () => void;
}

export interface Sockets {
  /**
   * Takes care of a socket until it closes. More than 200 messages in 10 s, pings included, close it with 1008.
   * @param log of the client
   * @param context what the log says of the socket
   */
  add(socket: WebSocket, log: SourceLog, context: object, listener?: SocketListener): void;
  /** Closes a socket with 1008, and hangs up a second later where the client does not. */
  refuse(socket: WebSocket, reason: string): void;
  /** Whether it is open, and there was a sign of life within the last 40 s. */
  isLive(socket: WebSocket): boolean;
  /** False where a socket is closed, or too far behind to be worth another byte. */
  write(socket: WebSocket, frame: Buffer): boolean;
  /** Says goodbye, and hangs up on whoever has not gone within a second. */
  close(): Promise<void>;
}

const PING_MS = 15_000;
const SILENT_MS = 40_000;
const GOODBYE_MS = 1_000;
/** A page that leaves more than this unread is gone for all practical purposes. */
const MOST_UNREAD_BYTES = 1024 ** 2;

/** WebSocket close codes of RFC 6455. */
export const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;

const MOST_MESSAGES = 200;
const MESSAGES_MS = 10_000;

interface Known {
  log: SourceLog;
  context: object;
  listener: SocketListener;
  lastSeen: number;
}

export const createSockets = (): Sockets => {
  const known = new Map<WebSocket, Known>();

  const isLive = (socket: WebSocket): boolean => {
    const state = known.get(socket);
    return (
      state !== undefined && socket.readyState === WebSocket.OPEN && performance.now() - state.lastSeen <= SILENT_MS
    );
  };

  const heartbeat = setInterval(() => {
    for (const [socket, { listener }] of known) {
      if (!isLive(socket)) {
        socket.terminate();
        continue;
      }
      socket.ping();
      listener.onPing?.();
    }
  }, PING_MS);
  heartbeat.unref();

  const refuse: Sockets['refuse'] = (socket, reason) => {
    const { log, context } = known.get(socket) ?? {};
    log?.warn({ ...context, reason }, 'a socket broke the protocol');
    socket.close(POLICY_VIOLATION, reason);
    // A client that goes on sending never gets to the end of the closing handshake.
    setTimeout(() => socket.terminate(), GOODBYE_MS).unref();
  };

  return {
    add: (socket, log, context, listener = {}) => {
      const state = { log, context, listener, lastSeen: performance.now() };
      known.set(socket, state);
      const rate = createRate(MOST_MESSAGES, MESSAGES_MS);
      const seen = (): void => {
        state.lastSeen = performance.now();
        listener.onSeen?.();
      };
      const received = (): void => {
        if (socket.readyState !== WebSocket.OPEN) return;
        seen();
        if (!rate.take(performance.now())) refuse(socket, `more than ${MOST_MESSAGES} messages in 10 s`);
      };
      socket.on('message', received);
      socket.on('ping', received);
      socket.on('pong', seen);
      socket.on('error', (error) => log.debug({ err: error, ...context }, 'a socket failed'));
      socket.on('close', () => known.delete(socket));
    },
    refuse,
    isLive,
    write: (socket, frame) => {
      if (socket.readyState !== WebSocket.OPEN) return false;
      if (socket.bufferedAmount > MOST_UNREAD_BYTES) {
        const { log, context } = known.get(socket) ?? {};
        log?.warn(context ?? {}, 'a page that reads nothing is dropped');
        socket.terminate();
        return false;
      }
      socket.send(frame, { binary: false });
      return true;
    },
    close: async () => {
      clearInterval(heartbeat);
      // Not `once` of node:events, which rejects where a page answers the goodbye with nonsense.
      const gone = [...known.keys()].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
      for (const socket of known.keys()) socket.close(GOING_AWAY, 'the service is stopping');
      await Promise.race([Promise.all(gone), delay(GOODBYE_MS, undefined, { ref: false })]);
      for (const socket of known.keys()) socket.terminate();
    },
  };
};
