/** Common behaviour of all WebSockets: heartbeat, message rate limit, bounded writes, and closing. */
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import * as library from 'ws';
import { type RawData, WebSocket } from 'ws';
import { createRate } from '../domain/rate.ts';
import { inSlices, type Steps } from '../platform/slices.ts';
import type { SourceLog } from '../platform/source-log.ts';

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

const PING_MS = 15_000;
const SILENCE_TIMEOUT_MS = 40_000;
const CLOSE_TIMEOUT_MS = 1_000;
/** A socket with more unread bytes than this is terminated. */
const MAX_UNREAD_BYTES = 1024 ** 2;

/** WebSocket close codes of RFC 6455. */
export const GOING_AWAY = 1001;
export const POLICY_VIOLATION = 1008;

const MAX_MESSAGES = 200;
const MESSAGES_MS = 10_000;

interface SocketState {
  log: SourceLog;
  context: object;
  listener: SocketListener;
  lastSeen: number;
  /** What is called with the answer to a ping of its own. */
  awaited?: { ping: string; then: () => void } | undefined;
}

export const createSockets = () => {
  const known = new Map<WebSocket, SocketState>();
  let isClosing = false;
  let asked = 0;

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

  const refuse = (socket: WebSocket, reason: string): void => {
    const { log, context } = known.get(socket) ?? {};
    log?.warn({ ...context, reason }, 'a socket broke the protocol');
    socket.close(POLICY_VIOLATION, reason);
    // A client that keeps sending never completes the closing handshake.
    setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref();
  };

  return {
    /**
     * Tracks a socket until it closes. More than 200 messages in 10 s, pings included, close it with 1008.
     * @param log of the client
     * @param context fields of each log line about the socket
     */
    add: (socket: WebSocket, log: SourceLog, context: object, listener: SocketListener = {}): void => {
      const state: SocketState = { log, context, listener, lastSeen: performance.now() };
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
      socket.on('pong', (data) => {
        seen();
        if (state.awaited?.ping !== String(data)) return;
        state.awaited.then();
        state.awaited = undefined;
      });
      socket.on('closing', () => listener.onClosing?.());
      socket.on('error', (error) => log.debug({ err: error, ...context }, 'a socket failed'));
      socket.on('close', () => known.delete(socket));
    },
    /** Closes a socket with 1008, and terminates it after 1 s if it is still open. */
    refuse,
    /** Whether the socket is open and its client has sent anything within the last 40 s. */
    isLive,
    /** @returns false if the socket is closed, or was terminated because its client does not read */
    write: (socket: WebSocket, frame: Frame): boolean => {
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
    /** Pings the client of an open socket; `then` is called with the answer to that ping, unless another call comes before. */
    whenHeard: (socket: WebSocket, then: () => void): void => {
      const state = known.get(socket);
      if (state === undefined || socket.readyState !== WebSocket.OPEN) return;
      asked += 1;
      state.awaited = { ping: String(asked), then };
      socket.ping(state.awaited.ping);
    },
    /** Closes all sockets with 1001; terminates those that are still open after 1 s. */
    close: async (): Promise<void> => {
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

/** What ws exports and its types leave out. */
interface FrameWriter {
  sendFrame(list: readonly Buffer[]): void;
}
const { Sender } = library as unknown as { Sender: { frame(data: Buffer, options: object): Buffer[] } };

const textFrame = { fin: true, rsv1: false, opcode: 1, mask: false, readOnly: true };

/** A whole frame, head included. */
export type Frame = Buffer & { readonly isFrame: true };

export const frameOf = (message: object): Frame =>
  Buffer.concat(Sender.frame(Buffer.from(JSON.stringify(message)), textFrame)) as Frame;

/**
 * Writes a frame with one system call. ws itself builds a head for each socket, and writes it apart from its payload.
 * Only for open sockets without compression, whose frames ws also writes immediately and in order.
 */
export const writeFrame = (socket: WebSocket, frame: Frame): void =>
  (socket as unknown as { _sender: FrameWriter })._sender.sendFrame([frame]);

/** Of all sockets together; each may hold a message of the maximum size, and there may be thousands. */
const MAX_HELD_BYTES = 32 * 1024 ** 2;

/** Header and mask of a frame of a client (RFC 6455, 5.2). */
const headBytes = (length: number): number => 6 + (length < 126 ? 0 : length < 65_536 ? 2 : 8);

/** @param onDrop called when a client is dropped */
export const createHeldMessages = (onDrop: () => void) => {
  /** The client that has not ended a message for longest is the first one. */
  const held = new Map<WebSocket, number>();
  let total = 0;

  const set = (socket: WebSocket, bytes: number): void => {
    total += bytes - (held.get(socket) ?? 0);
    if (bytes > 0) held.set(socket, bytes);
    else held.delete(socket);
  };

  /** Honest messages end within a moment, so that the oldest ones are the ones to drop. */
  const enforce = (): void => {
    for (const [oldest] of held) {
      if (total <= MAX_HELD_BYTES) return;
      set(oldest, 0);
      oldest.terminate();
      onDrop();
    }
  };

  return {
    /**
     * Counts what a client sends. Beyond the bound, the client is dropped that has held a message for longest.
     * @param connection under the socket
     */
    watch: (socket: WebSocket, connection: Duplex): void => {
      let chunkBytes = 0;
      // Before the listener of the library, which emits the messages that the bytes complete.
      connection.prependListener('data', (bytes: Buffer) => {
        chunkBytes = bytes.length;
        set(socket, (held.get(socket) ?? 0) + chunkBytes);
        if (total > MAX_HELD_BYTES) queueMicrotask(enforce);
      });
      /** What is left after a frame came in the last bytes that arrived. */
      const restAfter = (length: number): number => Math.max(0, (held.get(socket) ?? 0) - length - headBytes(length));
      const onControl = ({ length }: Buffer): void => set(socket, restAfter(length));
      socket.on('message', (data: RawData) => {
        const rest = Math.min(chunkBytes, restAfter((data as Buffer).length));
        set(socket, 0);
        set(socket, rest);
      });
      socket.on('ping', onControl);
      socket.on('pong', onControl);
      socket.on('close', () => set(socket, 0));
    },
  };
};
