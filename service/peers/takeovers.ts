/** Exchanges takeovers with the other boxes of the site. A change is sent to all of them immediately. */
import { readFields } from '../contract/fields.ts';
import { mostPeers, type PeerState, peerTakeovers, type TakeoverRecord } from '../contract/peers.ts';
import { remember } from '../domain/collections.ts';
import { clockMonth } from '../domain/merge.ts';
import { readJson } from '../http/body.ts';
import type { Routes } from '../http/routes.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import type { AskPeers } from './ask.ts';
import type { Misdated } from './misdated.ts';
import type { LivePeer, Peers } from './peer.ts';

/** The part of the takeovers module that replication uses. */
export interface ReplicatedTakeovers {
  /** Every record that is kept. */
  records(): TakeoverRecord[];
  /** Stores the newer records of another box. @returns what it lacks: the ends of those that it still has */
  merge(theirs: readonly TakeoverRecord[]): Promise<TakeoverRecord[]>;
  state(): Pick<PeerState, 'takeovers'>;
}

interface Dependencies {
  logs: SourceLogs;
  peers: Pick<Peers, 'onState'>;
  asking: AskPeers;
  takeovers: ReplicatedTakeovers;
  misdated: Pick<Misdated, 'note'>;
  /** The machine's time of day, ms since the epoch. */
  now(): number;
  /** Called when this box has received records that others may lack. */
  onNews(): void;
}

export interface TakeoverExchange {
  routes: Routes;
  /** Sends a changed record to all peers; those that do not answer fetch it later. Never rejects. */
  send(record: TakeoverRecord): Promise<void>;
}

export const createTakeoverExchange = ({
  logs,
  peers,
  asking,
  takeovers,
  misdated,
  now,
  onNews,
}: Dependencies): TakeoverExchange => {
  /** By node id: the digests of its records and of ours after the last exchange, and the {@link clockMonth}. */
  const compared = new Map<string, string>();
  const busy = new Set<string>();
  const own = (): string => takeovers.state().takeovers;
  const comparison = (theirs: string): string => `${theirs} ${own()} ${clockMonth(now())}`;

  const fetchFrom = async ({ nodeId, state: { takeovers: theirs } }: LivePeer): Promise<void> => {
    if (compared.get(nodeId) === comparison(theirs)) return;
    if (theirs === own()) return misdated.note(nodeId, 'takeovers', []);
    const answer = await asking.ask({ nodeId }, 'takeovers.list');
    if (!answer.ok) return;
    const dated = answer.body.takeovers.map(({ id, updatedAt }) => [id, updatedAt] as const);
    misdated.note(nodeId, 'takeovers', dated);
    const before = own();
    const lacking = await takeovers.merge(answer.body.takeovers);
    if (lacking.length > 0) await asking.ask({ nodeId }, 'takeovers.send', lacking);
    remember(compared, nodeId, comparison(theirs), mostPeers);
    if (own() !== before) onNews();
  };

  peers.onState((peer) => {
    const { nodeId } = peer;
    if (busy.has(nodeId)) return;
    busy.add(nodeId);
    fetchFrom(peer)
      .catch((err: unknown) => logs(`peer ${nodeId}`).error({ nodeId, err }, 'the takeovers of a peer were not stored'))
      .finally(() => busy.delete(nodeId));
  });

  return {
    send: async (record) => {
      await asking.broadcast('takeovers.send', [record]);
    },
    routes: {
      'GET /api/peers/takeovers': (ctx) => {
        ctx.set('Cache-Control', 'no-store');
        ctx.body = { takeovers: takeovers.records() };
      },
      'POST /api/peers/takeovers': async (ctx) => {
        await takeovers.merge(readFields(peerTakeovers, await readJson(ctx)).takeovers);
        ctx.body = {};
      },
    },
  };
};
