import type { ServerResponse } from 'node:http';
import { claimsBox } from '../auth/signatures.ts';
import { CodedError } from '../contract/errors.ts';

/** A request takes about a millisecond. */
const MAX_PER_TURN = 4;
/** Requests that wait; beyond them, only a client of which none waits may add one. */
const MAX_WAITING = 4_096;

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
 * late box counts as away. Clients take turns, so that none waits for all requests of another one.
 * @param partyOf the client that has sent a request
 */
export const createRequestQueue = <Request extends Asked>(partyOf: (request: Request) => string) => {
  /** By client, in the order of their turns. */
  const waiting = new Map<string, (() => void)[]>();
  let count = 0;
  let begun = 0;
  let isScheduled = false;

  const takeNext = (): (() => void)[] => {
    const [next] = waiting;
    if (next === undefined) return [];
    const [party, requests] = next;
    waiting.delete(party);
    const taken = requests.splice(0, 1);
    if (requests.length > 0) waiting.set(party, requests);
    count -= 1;
    return taken;
  };

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      const next = Array.from({ length: MAX_PER_TURN }, takeNext).flat();
      begun = next.length;
      if (begun > 0) schedule();
      for (const begin of next) begin();
    });
  };

  return {
    /**
     * Calls `begin` now or in a later turn of the event loop; the requests of a client keep their order.
     * @throws CodedError `busy` if too many wait, some of this client among them
     */
    enqueue(request: Request, begin: () => void): void {
      if (!canWait(request)) return begin();
      schedule();
      if (count === 0 && begun < MAX_PER_TURN) {
        begun += 1;
        return begin();
      }
      const party = partyOf(request);
      const requests = waiting.get(party);
      if (requests !== undefined && count >= MAX_WAITING) {
        throw new CodedError('busy', undefined, { headers: { 'Retry-After': '1' } });
      }
      if (requests === undefined) waiting.set(party, [begin]);
      else requests.push(begin);
      count += 1;
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
