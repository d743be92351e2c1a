/** The state that this box sends to peers. */
import type { MemberRecord } from '../contract/gossip.ts';
import type { PeerState } from '../contract/peers.ts';
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

/** The calling box. */
export interface Asking {
  /** It reads tags of screens. */
  knowsTags: boolean;
  /** It accepts fewer peers. */
  isOlder: boolean;
  /** It accepts none: it receives them by gossip. */
  isBrief: boolean;
}

export const createOwnState =
  ({ peers, replication, takeovers, siteNow, startedAt, record }: Dependencies, identity: Identity) =>
  ({ knowsTags, isOlder, isBrief }: Asking): PeerState => ({
    ...identity,
    serverTime: siteNow(),
    startedAt: startedAt(),
    takesCommands: true,
    sharesCopies: true,
    gossip: 1,
    peers: isBrief ? [] : peers.advertised(isOlder),
    ...replication.state(knowsTags),
    ...takeovers.state(),
    ...record(),
  });
