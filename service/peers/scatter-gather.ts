/** What every box has to do, or to tell, asked of all peers at once. */
import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { relayHeader } from '../contract/peers.ts';
import type { PeerRequest } from './call.ts';
import type { Peers } from './registry.ts';

/** From whom doesn't matter: all that the mark does is to keep a request to one box. */
export const isRelayed = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean => Boolean(headers[relayHeader]);

/** What the peers answered. One that has no such screen has answered too; there is nothing to add. */
export interface Gathered<T> {
  answers: T[];
  /** Whether a known peer did not answer within a second, or could not do it. */
  degraded: boolean;
}

/** Asks all peers at once; never throws. */
export type Gather = <Schema extends z.ZodType>(request: PeerRequest<Schema>) => Promise<Gathered<z.output<Schema>>>;

export const createGather = (peers: Pick<Peers, 'all' | 'call' | 'settled'>, nodeId: string): Gather => {
  const headers = { [relayHeader]: nodeId };
  return async (request) => {
    await peers.settled();
    const all = await Promise.all(peers.all().map((peer) => peers.call(peer, { ...request, headers })));
    return {
      answers: all.flatMap((answer) => (answer.ok ? [answer.body] : [])),
      degraded: all.some((answer) => !answer.ok && answer.code !== 'screen_not_found'),
    };
  };
};
