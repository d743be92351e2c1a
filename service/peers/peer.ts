/** The types of peers and of their registry. */
import type { z } from 'zod';
import type { MemberEntry, MemberRecord, SiteSummary } from '../contract/gossip.ts';
import type { PeerHealth } from '../contract/health.ts';
import type { ContentVersion, PeerState } from '../contract/peers.ts';
import type { AddressOrigin } from './addresses.ts';
import type { PeerRequest } from './call.ts';
import type { PeerAnswer } from './reply.ts';

/** A box of the same site, or a static address where no box has answered yet. */
export interface Peer {
  /** Null for a static peer that has never answered. */
  nodeId: string | null;
  /** Base URL at which it answered last. */
  url: string;
  /** Whether it answered and no call has failed since. */
  alive: boolean;
  /** The last state that it sent. */
  state: PeerState | null;
  /** Time of its last answer, ms since the epoch. */
  contactAt: number | null;
  /** When it sent that state, ms, monotonic. */
  stateAt: number | null;
  /** Why it is not alive; completes "the box ...". Null while it is alive, or was never called. */
  reason: string | null;
}

export type LivePeer = Peer & { nodeId: string; alive: true; state: PeerState; stateAt: number };

export const isLive = (peer: Peer | undefined): peer is LivePeer => peer?.alive === true;

/** Whom to call: a peer, or a static address at which no peer has answered yet. */
export type PeerAddress = { nodeId: string; url?: string } | { nodeId: null; url: string };

export interface Peers {
  /** Static peers always; discovered peers until 25 hours after their last answer. */
  all(): Peer[];
  alive(): LivePeer[];
  /** The peer with that node id; undefined: it is not known. */
  find(nodeId: string): Peer | undefined;
  /** Whether {@link all} is empty; cheap enough for every request. */
  isAlone(): boolean;
  /** Resolves once every static peer has been probed, at the latest a second after `start`. */
  settled(): Promise<void>;
  /**
   * Calls a peer. A peer that does not answer is not alive until a probe succeeds; meanwhile calls fail immediately. A
   * static peer without a node id is called too if its address is reachable: the operator configured it as a peer.
   */
  call<Schema extends z.ZodType>(
    peer: PeerAddress,
    request: PeerRequest<Schema>,
  ): Promise<PeerAnswer<z.output<Schema>>>;
  /** Calls `listener` each time a peer has sent its state. */
  onState(listener: (peer: LivePeer) => void): void;
  /** Probes the static addresses at which no peer has answered yet. */
  refresh(): Promise<void>;
  health(): PeerHealth[];
}

export interface Registry extends Peers {
  /** Starts probing. @param port on which this box listens */
  start(port: number): void;
  /** Adds an address at which a box may be. */
  addCandidate(url: string, source: AddressOrigin): void;
  /** Handles the goodbye of a box. */
  goodbye(url: string): void;
  /** Static peers that are boxes of other sites. */
  externalBoxes(): { url: string; reason: string }[];
  /** The live peers that this box advertises to another one. */
  advertised(): PeerState['peers'];
  /** The peers that are not away: the versions of their records, by node id. */
  reached(): Map<string, number>;
  /** A peer that is not away, as other boxes learn of it; null if it is away, or unknown. */
  entry(nodeId: string): MemberEntry | null;
  /** The record that a peer keeps of itself; null if it is unknown. */
  record(nodeId: string): MemberRecord | null;
  /** Applies the record of a peer that another one forwarded, if it is newer. @returns whether it was newer */
  applyRecord(record: MemberRecord): boolean;
  /** Handles the answer of a peer to a gossip request. @param serverTime its clock */
  onGossipAnswer(nodeId: string, instance: string, summary: SiteSummary, serverTime: number): void;
  /** Handles the content version that a peer reports. @returns whether it is a live peer */
  offered(nodeId: string, content: ContentVersion): boolean;
  /** Probes a box that another one reports as reachable. @param advertiser base URL of the other one */
  addReported(nodeId: string, url: string, advertiser: string): void;
  /** Probes a peer that another one cannot reach; resolves with whether this box can, or null: it is too busy to know. */
  verify(nodeId: string): Promise<boolean | null>;
  /** Calls `listener` when a peer goes away and when it comes back. */
  onReachabilityChange(listener: () => void): void;
  /** Whether boxes that are there answer late: what can wait is not sent. */
  isCongested(): boolean;
  /** Whether there are more boxes than a box can know. */
  isFull(): boolean;
  /**
   * Handles a request from another box.
   * @param host its address, as in a URL
   * @param instance its start of the service; absent: not told
   */
  onContact(from: string, host: string, port: number, hasNews: boolean, instance?: string): void;
  close(): void;
}
