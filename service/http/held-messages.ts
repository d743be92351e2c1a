/** Bounds the memory of messages that clients have begun and not ended. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** Of all sockets together; each may hold a message of the maximum size, and there may be thousands. */
const MAX_HELD_BYTES = 32 * 1024 ** 2;

/** Header and mask of a ping or pong of a client (RFC 6455, 5.2). */
const CONTROL_BYTES = 6;

/** @param onDrop called where a client is dropped */
export const createHeldMessages = (onDrop: () => void) => {
  const held = new Map<WebSocket, number>();
  let total = 0;

  const set = (socket: WebSocket, bytes: number): void => {
    total += bytes - (held.get(socket) ?? 0);
    if (bytes > 0) held.set(socket, bytes);
    else held.delete(socket);
  };

  const dropLargest = (): void => {
    const [largest] = [...held].reduce((a, b) => (b[1] > a[1] ? b : a));
    set(largest, 0);
    largest.terminate();
    onDrop();
  };

  return {
    /**
     * Counts what a client sends. Beyond the bound, the client that holds most is dropped. Less than one read of the
     * connection, 64 KiB, may go uncounted after the end of a message.
     * @param connection under the socket
     */
    watch: (socket: WebSocket, connection: Duplex): void => {
      // Before the listener of the library, which emits the messages that the bytes complete.
      connection.prependListener('data', (bytes: Buffer) => {
        set(socket, (held.get(socket) ?? 0) + bytes.length);
        while (total > MAX_HELD_BYTES) dropLargest();
      });
      const onControl = ({ length }: Buffer): void =>
        set(socket, Math.max(0, (held.get(socket) ?? 0) - length - CONTROL_BYTES));
      socket.on('message', () => set(socket, 0));
      socket.on('ping', onControl);
      socket.on('pong', onControl);
      socket.on('close', () => set(socket, 0));
    },
  };
};
