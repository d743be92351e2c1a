import type { ServerResponse } from 'node:http';

interface Pacing {
  /** Responses that are written at the same time. */
  limit: number;
  /** A response that takes longer no longer delays others, ms. */
  patienceMs: number;
}

/**
 * Writes large responses one after another, each in a turn of the event loop of its own, so that small requests that
 * arrive meanwhile wait for one of them, not for all.
 */
export const createPacing = ({ limit, patienceMs }: Pacing) => {
  const waiting = new Set<{ response: ServerResponse; write: () => void }>();
  let active = 0;

  const start = (response: ServerResponse, write: () => void): void => {
    active += 1;
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      // In a later turn: data that has arrived in the meantime comes first.
      setImmediate(() => {
        active -= 1;
        const [next] = waiting;
        if (next === undefined) return;
        waiting.delete(next);
        start(next.response, next.write);
      });
    };
    const timer = setTimeout(end, patienceMs).unref();
    response.once('close', end);
    write();
  };

  return {
    /** Calls `write` now or in a later turn; never if the response is closed before. */
    take(response: ServerResponse, write: () => void): void {
      if (active < limit) return start(response, write);
      const entry = { response, write };
      waiting.add(entry);
      response.once('close', () => waiting.delete(entry));
    },
  };
};
