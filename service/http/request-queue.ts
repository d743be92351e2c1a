/**
 * Starts at most 4 state-changing client requests per event-loop turn, so that requests of other boxes are read in time: a
 * late box counts as away.
 */
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
