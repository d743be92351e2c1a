import type { Connection } from '../contract/connections.ts';
import type { Peers } from '../peers/index.ts';
import { createRounds } from '../platform/rounds.ts';
import type { Hub } from './hub.ts';
import type { AskForConnections } from './peer-connections.ts';

/** The connections of a screen, on all boxes. */
export interface Snapshot {
  /** Oldest first. */
  connections: readonly Readonly<Connection>[];
  /** Whether a known peer did not answer in time. */
  degraded: boolean;
}

/**
 * Resolves with the connections of a screen. Concurrent callers that wait for the same round get the same object.
 * @param relayed whether the request is from a peer; then it is not forwarded
 */
export type TakeSnapshot = (slug: string, relayed: boolean) => Promise<Snapshot>;

export type TakeLocally = ReturnType<typeof createSnapshot>['takeLocally'];

/** Snapshots are public, and each round sends a signed request to every peer, so rounds are limited to four a second. */
const ROUND_MS = 250;

interface Dependencies {
  hub: Pick<Hub, 'snapshot'>;
  peers: Pick<Peers, 'isAlone' | 'settled'>;
  askPeers: AskForConnections;
}

export const createSnapshot = ({ hub, peers, askPeers }: Dependencies) => {
  const local = (slug: string): Snapshot => ({ connections: hub.snapshot(slug), degraded: false });

  /** The snapshot if no peer has to be asked; undefined: use {@link TakeSnapshot}. */
  const takeLocally = (slug: string): Snapshot | undefined => (peers.isAlone() ? local(slug) : undefined);

  const takeFromRound = createRounds<Snapshot>({
    intervalMs: ROUND_MS,
    ask: async (slugs) => {
      const answers = await askPeers(slugs);
      const merge = (slug: string): Snapshot => {
        const { connections = [], degraded = false } = answers.get(slug) ?? {};
        const all = [...hub.snapshot(slug), ...connections];
        return { connections: all.toSorted((a, b) => Date.parse(a.connectedAt) - Date.parse(b.connectedAt)), degraded };
      };
      return new Map(slugs.map((slug) => [slug, merge(slug)]));
    },
  });

  const takeSnapshot: TakeSnapshot = async (slug, relayed) => {
    if (relayed) return local(slug);
    await peers.settled();
    return takeLocally(slug) ?? (await takeFromRound(slug)) ?? local(slug);
  };
  return { takeSnapshot, takeLocally };
};
