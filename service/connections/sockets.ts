/** What the sockets of all pages have in common: a heartbeat, writing within bounds, and a goodbye. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { WebSocket } from 'ws';

export interface Sockets {
  /**
   * Takes care of a socket until it closes.
   * @param context what the log says of it
   * @param onSeen called at every sign of life
   * @param onPing called with each ping
   */
  add(socket: WebSocket, context: object, onSeen?: () => void, onPing?: () => void): void;
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
export const POLICY_VIOLATION = 1008;

export const createSockets = (log: Logger): Sockets => {
  const known = new Map<WebSocket, { context: object; lastSeen: number; onPing: (() => void) | undefined }>();

  const isLive = (socket: WebSocket): boolean => {
    const state = known.get(socket);
    return (
      state !== undefined && socket.readyState === WebSocket.OPEN && performance.now() - state.lastSeen <= SILENT_MS
    );
  };

  const heartbeat = setInterval(() => {
    for (const [socket, { onPing }] of known) {
      if (!isLive(socket)) {
        socket.terminate();
        continue;
      }
      socket.ping();
      onPing?.();
    }
  }, PING_MS);
  heartbeat.unref();

  return {
    add: (socket, context, onSeen, onPing) => {
      const state = { context, lastSeen: performance.now(), onPing };
      known.set(socket, state);
      const seen = (): void => {
        state.lastSeen = performance.now();
        onSeen?.();
      };
      socket.on('message', seen);
      socket.on('pong', seen);
      socket.on('error', (error) => log.debug({ err: error, ...context }, 'a socket failed'));
      socket.on('close', () => known.delete(socket));
    },
    isLive,
    write: (socket, frame) => {
      if (socket.readyState !== WebSocket.OPEN) return false;
      if (socket.bufferedAmount > MOST_UNREAD_BYTES) {
        log.warn(known.get(socket)?.context, 'a page that reads nothing is dropped');
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
