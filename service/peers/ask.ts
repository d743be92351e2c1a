/** Sends operations to one peer, or to all concurrently. */
import { relayHeader } from '../contract/peers.ts';
import { type PeerInput, type PeerOperationName, type PeerOutput, requestOf } from './operations.ts';
import type { PeerAddress, Peers } from './peer.ts';
import type { PeerAnswer } from './reply.ts';

/** The answers of the peers. A peer without the screen counts as answered, and adds no answer. */
export interface Gathered<T> {
  answers: T[];
  /** Whether a known peer did not answer within a second, or answered with an error. */
  degraded: boolean;
}

export interface AskPeers {
  /** Asks one peer, as {@link Peers.call} does; never rejects. */
  ask<Name extends PeerOperationName>(
    peer: PeerAddress,
    operation: Name,
    ...input: PeerInput<Name>
  ): Promise<PeerAnswer<PeerOutput<Name>>>;
  /** Asks all peers concurrently; never rejects. */
  broadcast<Name extends PeerOperationName>(
    operation: Name,
    ...input: PeerInput<Name>
  ): Promise<Gathered<PeerOutput<Name>>>;
}

export const createAskPeers = (peers: Pick<Peers, 'all' | 'call' | 'settled'>, nodeId: string): AskPeers => {
  const ask: AskPeers['ask'] = (peer, operation, ...input) => {
    const { request, relayed } = requestOf(operation, input);
    return peers.call(peer, relayed ? { ...request, headers: { ...request.headers, [relayHeader]: nodeId } } : request);
  };
  return {
    ask,
    broadcast: async (operation, ...input) => {
      await peers.settled();
      const all = await Promise.all(peers.all().map((peer) => ask(peer, operation, ...input)));
      return {
        answers: all.flatMap((answer) => (answer.ok ? [answer.body] : [])),
        degraded: all.some((answer) => !answer.ok && answer.code !== 'screen_not_found'),
      };
    },
  };
};
