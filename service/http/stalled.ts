import type { Socket } from 'node:net';

const STALLED_MS = 30_000;
const CHECK_MS = 2_000;

/** What Node's handle of a socket counts; it has no public counterpart that moves within one large write. */
interface Handle {
  /** Bytes handed to libuv. */
  bytesWritten: number;
  /** Of these, the bytes that libuv still holds. */
  writeQueueSize: number;
}

/** Bytes that the system has accepted for sending. It accepts more only as the client reads. */
const acceptedBytes = (socket: Socket): number => {
  const handle = (socket as unknown as { _handle: Handle | null })._handle;
  return handle === null ? 0 : handle.bytesWritten - handle.writeQueueSize;
};

/**
 * Drops connections whose client has read nothing for 30 s of what is waiting for it, so that no client keeps a response
 * in memory. Any progress counts as reading; what the client sends does not.
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
