/** Bounds the memory of messages that clients have begun and not ended. */
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';

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
