/** The state that this box sends to peers. */
import type { PeerState } from '../contract/peers.ts';
import type { MediaReplication } from './media-replication.ts';
import type { Registry } from './registry.ts';
import type { Replication } from './replication.ts';

interface Dependencies {
  peers: Pick<Registry, 'advertised'>;
  replication: Pick<Replication, 'state'>;
  mediaReplication: Pick<MediaReplication, 'state'>;
  /** What other modules add. */
  additions(): Pick<PeerState, 'devices' | 'alerts'>;
}

/** Identity of this box and of this start of the service. */
type Identity = Pick<PeerState, 'nodeId' | 'instance' | 'site' | 'version'>;

export const createOwnState =
  ({ peers, replication, mediaReplication, additions }: Dependencies, identity: Identity) =>
  (knowsTags: boolean): PeerState => ({
    ...identity,
    serverTime: Date.now(),
    takesCommands: true,
    peers: peers.advertised(),
    ...replication.state(knowsTags),
    ...mediaReplication.state(),
    ...additions(),
  });
