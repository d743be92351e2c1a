import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Closes the responses that wait behind another one when their connection is lost. Node closes only the response that
 * has the socket at that time: the handlers of pipelined requests would wait forever, with their files open.
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
    /** Resolves when the responses to all requests that have arrived whole on a connection are over. */
    async settled(socket: Socket): Promise<void> {
      const responses = [...(pending.get(socket) ?? [])].filter(({ req }) => req.complete);
      await Promise.all(responses.map((response) => new Promise((resolve) => response.once('close', resolve))));
    },
    /** To be called when a connection is lost. */
    close(socket: Socket): void {
      for (const response of pending.get(socket) ?? []) {
        if (response.socket !== null) continue;
        response.destroy();
        response.emit('close');
      }
    },
  };
};
