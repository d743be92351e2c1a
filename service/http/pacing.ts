import type { ServerResponse } from 'node:http';
import { claimsBox } from '../auth/signatures.ts';

/** A request takes about a millisecond. */
const MAX_PER_TURN = 4;

interface Asked {
  method?: string | undefined;
  url?: string | undefined;
  headers: Parameters<typeof claimsBox>[0];
}

/** Whether the request can wait: a state-changing one of a client. */
const canWait = ({ method = '', url = '', headers }: Asked): boolean =>
  method !== 'GET' && method !== 'HEAD' && !claimsBox(headers, url);

/**
 * Starts at most 4 state-changing client requests per event-loop turn, so that requests of other boxes are read in time: a
 * late box counts as away.
 */
export const createRequestQueue = () => {
  const waiting: (() => void)[] = [];
  let begun = 0;
  let isScheduled = false;

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      const next = waiting.splice(0, MAX_PER_TURN);
      begun = next.length;
      if (begun > 0) schedule();
      for (const begin of next) begin();
    });
  };

  return {
    /** Calls `begin` now or in a later turn of the event loop; the requests of clients keep their order. */
    enqueue(request: Asked, begin: () => void): void {
      if (!canWait(request)) return begin();
      schedule();
      if (waiting.length > 0 || begun >= MAX_PER_TURN) return void waiting.push(begin);
      begun += 1;
      begin();
    },
  };
};

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
