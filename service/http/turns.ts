/**
 * Begins few requests of clients in each turn of the event loop. Where thousands arrive at once, what other boxes send is
 * read in between: they would take a box that answers late for one that is away.
 */
import { claimsBox } from '../auth/signatures.ts';

/** A request takes about a millisecond. */
const MAX_A_TURN = 4;

interface Asked {
  method?: string | undefined;
  url?: string | undefined;
  headers: Parameters<typeof claimsBox>[0];
}

/** Whether the request can wait for a turn: one of a client that changes something. */
const canWait = ({ method = '', url = '', headers }: Asked): boolean =>
  method !== 'GET' && method !== 'HEAD' && !claimsBox(headers, url);

export const createTurns = () => {
  const waiting: (() => void)[] = [];
  let begun = 0;
  let isScheduled = false;

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      const next = waiting.splice(0, MAX_A_TURN);
      begun = next.length;
      if (begun > 0) schedule();
      for (const begin of next) begin();
    });
  };

  return {
    /** Calls `begin` now or in a later turn; the requests of clients keep their order. */
    take(request: Asked, begin: () => void): void {
      if (!canWait(request)) return begin();
      schedule();
      if (waiting.length > 0 || begun >= MAX_A_TURN) return void waiting.push(begin);
      begun += 1;
      begin();
    },
  };
};
