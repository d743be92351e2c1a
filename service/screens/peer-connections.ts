/** The connections of screens on all peers: one request per peer for any number of screens. */
import type { PeerConnections } from '../contract/peers.ts';
import type { Peers } from '../peers/index.ts';

/** The connections of one screen on all peers. */
export interface ScreenConnections {
  connections: PeerConnections['screens'][number]['connections'];
  /** Whether a known peer did not answer in time. */
  degraded: boolean;
}

/** Requests the connections of screens from all peers; returns them by slug; never rejects. */
export type AskForConnections = (slugs: readonly string[]) => Promise<ReadonlyMap<string, ScreenConnections>>;

export const createAskForConnections =
  (peers: Pick<Peers, 'broadcast'>): AskForConnections =>
  async (slugs) => {
    const { answers, degraded } = await peers.broadcast('screens.connections', slugs);
    const found = new Map(slugs.map((slug): [string, ScreenConnections] => [slug, { connections: [], degraded }]));
    for (const { screens } of answers) {
      for (const { slug, connections } of screens) found.get(slug)?.connections.push(...connections);
    }
    return found;
  };
