/** What this box tells of itself when another one asks. */
import type { PeerState } from '../contract/peers.ts';
import type { Mirror } from './media-replication.ts';
import type { Registry } from './registry.ts';
import type { Replication } from './replication.ts';

interface Dependencies {
  peers: Pick<Registry, 'told'>;
  replication: Pick<Replication, 'state'>;
  mirror: Pick<Mirror, 'state'>;
  presence: { state(): Pick<PeerState, 'devices'> };
}

/** Who this box is, and of which start. */
type Identity = Pick<PeerState, 'nodeId' | 'instance' | 'site' | 'version'>;

export const createOwnState =
  ({ peers, replication, mirror, presence }: Dependencies, identity: Identity) =>
  (): PeerState => ({
    ...identity,
    serverTime: Date.now(),
    peers: peers.told(),
    ...replication.state(),
    ...mirror.state(),
    ...presence.state(),
  });
