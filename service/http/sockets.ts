/** Common behaviour of all WebSockets: heartbeat, message rate limit, bounded writes, and closing. */
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { createRate } from '../domain/rate.ts';
import { inSlices, type Steps } from '../platform/slices.ts';
import type { SourceLog } from '../platform/source-log.ts';
import { type Frame, writeFrame } from './frame.ts';

interface SocketListener {
  /** Called for every message, ping and pong of the client. */
  onSeen?: () => void;
  /** Called with each ping of the service. */
  onPing?: () => void;
  /** Called when a close begins on either side; `close` of the socket may follow much later. */
  onClosing?: () => void;
}

/** Emits `closing` when a close begins: ws itself emits nothing before the connection has ended. */
export class ClosingSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    super.close(code, reason);
    this.emit('closing');
  }

  override terminate(): void {
    super.terminate();
    this.emit('closing');
  }
}

export interface Sockets {
  /**
   * Tracks a socket until it closes. More than 200 messages in 10 s, pings included, close it with 1008.
   * @param log of the client
   * @param context fields of each log line about the socket
   */
  add(socket: WebSocket, log: SourceLog, context: object, listener?: SocketListener): void;
  /** Closes a socket with 1008, and terminates it after 1 s if it is still open. */
  refuse(socket: WebSocket, reason: string): void;
  /** Whether the socket is open and its client has sent anything within the last 40 s. */
  isLive(socket: WebSocket): boolean;
  /** @returns false if the socket is closed, or was terminated because its client does not read */
  write(socket: WebSocket, frame: Frame): boolean;
  /** Closes all sockets with 1001; terminates those that are still open after 1 s. */
  close(): Promise<void>;
}

const PING_MS = 15_000;
const SILENCE_TIMEOUT_MS = 40_000;
const CLOSE_TIMEOUT_MS = 1_000;
/** A socket with more unread bytes than this is terminated. */
const MAX_UNREAD_BYTES = 1024 ** 2;

/** WebSocket close codes of RFC 6455. */
export const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;

const MAX_MESSAGES = 200;
const MESSAGES_MS = 10_000;

interface SocketState {
  log: SourceLog;
  context: object;
  listener: SocketListener;
  lastSeen: number;
}

export const createSockets = (): Sockets => {
  const known = new Map<WebSocket, SocketState>();
  let isClosing = false;

  const isLive = (socket: WebSocket): boolean => {
    const state = known.get(socket);
    return (
      state !== undefined &&
      socket.readyState === WebSocket.OPEN &&
      performance.now() - state.lastSeen <= SILENCE_TIMEOUT_MS
    );
  };

  function* pingSteps(): Steps<void> {
    for (const [socket, { listener }] of known) {
      if (isClosing) return;
      if (isLive(socket)) {
        socket.ping();
        listener.onPing?.();
      } else socket.terminate();
      yield;
    }
  }
  const heartbeat = setInterval(() => void inSlices(pingSteps()), PING_MS);
  heartbeat.unref();

  const refuse: Sockets['refuse'] = (socket, reason) => {
    const { log, context } = known.get(socket) ?? {};
    log?.warn({ ...context, reason }, 'a socket broke the protocol');
    socket.close(POLICY_VIOLATION, reason);
    // A client that keeps sending never completes the closing handshake.
    setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref();
  };

  return {
    add: (socket, log, context, listener = {}) => {
      const state = { log, context, listener, lastSeen: performance.now() };
      known.set(socket, state);
      const rate = createRate(MAX_MESSAGES, MESSAGES_MS);
      const seen = (): void => {
        state.lastSeen = performance.now();
        listener.onSeen?.();
      };
      const received = (): void => {
        if (socket.readyState !== WebSocket.OPEN) return;
        seen();
        if (!rate.take(performance.now())) refuse(socket, `more than ${MAX_MESSAGES} messages in 10 s`);
      };
      socket.on('message', received);
      socket.on('ping', received);
      socket.on('pong', seen);
      socket.on('closing', () => listener.onClosing?.());
      socket.on('error', (error) => log.debug({ err: error, ...context }, 'a socket failed'));
      socket.on('close', () => known.delete(socket));
    },
    refuse,
    isLive,
    write: (socket, frame) => {
      if (socket.readyState !== WebSocket.OPEN) return false;
      if (socket.bufferedAmount > MAX_UNREAD_BYTES) {
        const { log, context } = known.get(socket) ?? {};
        log?.warn(context ?? {}, 'closed the socket of a page that stopped reading');
        socket.terminate();
        return false;
      }
      writeFrame(socket, frame);
      return true;
    },
    close: async () => {
      clearInterval(heartbeat);
      isClosing = true;
      // Not `once` of node:events: it rejects where a page answers the close frame with invalid data.
      const gone = [...known.keys()].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
      for (const socket of known.keys()) socket.close(GOING_AWAY, 'the service is stopping');
      await Promise.race([Promise.all(gone), delay(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
      for (const socket of known.keys()) socket.terminate();
    },
  };
};
