/** Sends one request to all peers at once and collects their answers. */
import type { z } from 'zod';
import { relayHeader } from '../contract/peers.ts';
import type { PeerRequest } from './call.ts';
import type { Peers } from './registry.ts';

/** The answers of the peers. A peer without the screen counts as answered, and adds no answer. */
export interface Gathered<T> {
  answers: T[];
  /** Whether a known peer did not answer within a second, or answered with an error. */
  degraded: boolean;
}

/** Calls all peers at once; never rejects. */
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
