import type { Socket } from 'node:net';

const STALLED_MS = 30_000;
const CHECK_MS = 2_000;

/** Counters of Node's internal socket handle. No public counter advances within one large write. */
interface Handle {
  /** Bytes handed to libuv. */
  bytesWritten: number;
  /** Those of them that libuv still buffers. */
  writeQueueSize: number;
}

/** Bytes that the kernel has accepted for sending. It accepts more only as the client reads. */
const acceptedBytes = (socket: Socket): number => {
  const handle = (socket as unknown as { _handle: Handle | null })._handle;
  return handle === null ? 0 : handle.bytesWritten - handle.writeQueueSize;
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
