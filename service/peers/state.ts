/** The state that this box sends to peers. */
import type { MemberRecord } from '../contract/gossip.ts';
import { type PeerState, protocol } from '../contract/peers.ts';
import type { Registry } from './peer.ts';
import type { Replication } from './replication.ts';
import type { ReplicatedTakeovers } from './takeovers.ts';

interface Dependencies {
  peers: Pick<Registry, 'advertised'>;
  replication: Pick<Replication, 'state'>;
  takeovers: Pick<ReplicatedTakeovers, 'state'>;
  /** The site's time, ms since the epoch. */
  siteNow(): number;
  /** When this box was started, by the site's clock, ms since the epoch. */
  startedAt(): number;
  /** The record of this box. */
  record(): MemberRecord;
}

/** Identity of this box and of this start of the service. */
type Identity = Pick<PeerState, 'nodeId' | 'instance' | 'site' | 'version'>;

export const createOwnState =
  ({ peers, replication, takeovers, siteNow, startedAt, record }: Dependencies, identity: Identity) =>
  /** @param isBrief the calling box learns of peers by gossip */
  ({ isBrief }: { isBrief: boolean }): PeerState => ({
    ...identity,
    protocol,
    serverTime: siteNow(),
    startedAt: startedAt(),
    peers: isBrief ? [] : peers.advertised(),
    ...replication.state(),
    ...takeovers.state(),
    ...record(),
  });
