import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Closes queued responses to pipelined requests when their connection is lost. Node closes only the response that
 * currently owns the socket; the handlers of the others would wait forever, with their files open.
 */
export const createPendingResponses = () => {
  const pending = new WeakMap<Socket, Set<ServerResponse>>();

  return {
    add(response: ServerResponse): void {
      const { socket } = response.req;
      const responses = pending.get(socket) ?? new Set();
      pending.set(socket, responses.add(response));
      response.once('close', () => responses.delete(response));
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
