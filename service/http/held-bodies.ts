import type { ServerResponse } from 'node:http';

/**
 * Bounds the memory of bodies that slow clients keep alive: beyond `limit` bytes the connections that still read the
 * oldest body are closed. The newest body is never given up, however large it is.
 */
export const createHeldBodies = (limit: number) => {
  const readers = new Map<Buffer, Set<ServerResponse>>();

  return {
    /** Counts a body as held until its response is over. */
    add(body: Buffer, response: ServerResponse): void {
      if (response.destroyed) return;
      const waiting = readers.get(body) ?? new Set();
      readers.set(body, waiting.add(response));
      response.once('close', () => {
        waiting.delete(response);
        if (waiting.size === 0 && readers.get(body) === waiting) readers.delete(body);
      });
      let held = [...readers.keys()].reduce((sum, { length }) => sum + length, 0);
      for (const [oldest, slow] of readers) {
        if (held <= limit || oldest === body) break;
        held -= oldest.length;
        readers.delete(oldest);
        for (const { req } of slow) req.socket.destroy();
      }
    },
  };
};
