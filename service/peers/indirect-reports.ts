/** What other boxes report about peers: newer records, content versions and reachability. */
import { mostPeers, type PeerState } from '../contract/peers.ts';
import { remember } from '../domain/collections.ts';
import type { Address, Addresses } from './addresses.ts';
import { isOpen } from './breaker.ts';
import { isPlausibleSeq } from './own-record.ts';
import type { Peer, Registry } from './peer.ts';
import type { Prober } from './prober.ts';

/** The last state that a peer sent, updated with what others have forwarded since. */
export interface Report {
  state: PeerState;
  contactAt: number;
  /** When the state was sent, ms, monotonic. */
  stateAt: number;
  seq: number;
}

interface Dependencies {
  /** Node id of this box. */
  self: string;
  reports: Map<string, Report>;
  addresses: Pick<Addresses, 'best' | 'answered'>;
  find(nodeId: string): Peer | undefined;
  /** Announces that the state of a peer has changed. */
  emit(nodeId: string): void;
  /** Adds a candidate that a peer advertises. */
  addAdvertised(advertised: PeerState['peers'][number], from: string): void;
  prober: Pick<Prober, 'ask' | 'attempt'>;
  /** ms since the epoch. */
  now(): number;
  /** ms, monotonic. */
  monotonicNow(): number;
  random(): number;
}

/** Minimum time between two probes of an address on reports of other boxes. */
const FOLLOW_MS = 5_000;

export const createIndirectReports = ({
  self,
  reports,
  addresses,
  find,
  emit,
  addAdvertised,
  prober,
  now,
  monotonicNow,
  random,
}: Dependencies): Pick<
  Registry,
  'record' | 'applyRecord' | 'onGossipAnswer' | 'offered' | 'addReported' | 'verify'
> => {
  /** By URL: when a report of another box last triggered a probe. */
  const followedAt = new Map<string, number>();

  /** Probes an address because another box reports on it. @returns whether it was probed, now or within the last seconds */
  const follow = async (address: Address): Promise<boolean> => {
    const at = monotonicNow();
    if (at - (followedAt.get(address.url) ?? Number.NEGATIVE_INFINITY) < FOLLOW_MS) return true;
    const isProbed = await prober.attempt(address, 'report');
    if (isProbed) remember(followedAt, address.url, at, 2 * mostPeers);
    return isProbed;
  };

  return {
    record: (nodeId) => {
      const report = reports.get(nodeId);
      if (report === undefined) return null;
      const { media, devices, alerts } = report.state;
      const given = { ...(devices && { devices }), ...(alerts && { alerts }) };
      return { nodeId, seq: report.seq, media, ...given };
    },
    applyRecord: ({ nodeId, seq, media, devices, alerts }) => {
      const report = reports.get(nodeId);
      if (report === undefined || seq <= report.seq || !isPlausibleSeq(seq, now())) return false;
      reports.set(nodeId, { ...report, seq, state: { ...report.state, media, devices, alerts } });
      emit(nodeId);
      return true;
    },
    onGossipAnswer: (nodeId, theirInstance, summary, serverTime) => {
      const address = addresses.best(nodeId);
      const report = reports.get(nodeId);
      if (address === undefined || report === undefined) return;
      if (theirInstance !== report.state.instance) return void prober.ask(address);
      addresses.answered(address, nodeId, monotonicNow(), random());
      const state = { ...report.state, ...summary, serverTime };
      reports.set(nodeId, { ...report, state, stateAt: monotonicNow(), contactAt: now() });
      emit(nodeId);
    },
    offered: (nodeId, content) => {
      const report = reports.get(nodeId);
      if (report === undefined || find(nodeId)?.alive !== true) return false;
      reports.set(nodeId, { ...report, state: { ...report.state, content } });
      return true;
    },
    addReported: (nodeId, url, advertiser) => {
      const known = addresses.best(nodeId);
      if (nodeId === self || (known !== undefined && !isOpen(known.breaker))) return;
      if (known === undefined) addAdvertised({ nodeId, url }, advertiser);
      else void follow(known);
    },
    verify: async (nodeId) => {
      const address = addresses.best(nodeId);
      if (address === undefined) return false;
      const contactAt = reports.get(nodeId)?.contactAt ?? 0;
      const isKnown = now() - contactAt <= FOLLOW_MS || (await follow(address));
      return isKnown ? find(nodeId)?.alive === true : null;
    },
  };
};
