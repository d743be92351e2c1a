import type { ServerResponse } from 'node:http';

/**
 * Bounds the memory of response bodies that slow clients keep alive. Beyond `limit` bytes, the connections that still
 * read the oldest bodies are closed. The newest body is never dropped, even if it alone exceeds the limit.
 */
export const createHeldBodies = (limit: number) => {
  const readers = new Map<Buffer, Set<ServerResponse>>();

  return {
    /** Counts `body` towards the limit until its response closes. */
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
