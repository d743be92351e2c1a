/** What other boxes pass on about peers: newer records, the content that they have, and who reaches whom. */
import { mostPeers, type PeerState } from '../contract/peers.ts';
import { remember } from '../domain/recent.ts';
import type { Address, Addresses } from './addresses.ts';
import { isOpen } from './breaker.ts';
import { isPlausibleSeq } from './own-record.ts';
import type { Peer, Registry } from './peer.ts';

/** The last state that a peer sent, with what others passed on since. */
export interface Report {
  state: PeerState;
  contactAt: number;
  /** When the state was sent, ms, monotonic. */
  stateAt: number;
  seq: number;
  gossips: boolean;
}

interface Dependencies {
  /** Node id of this box. */
  self: string;
  reports: Map<string, Report>;
  /** By node id: the start of a peer that does not know gossip. */
  outdated: Map<string, string>;
  addresses: Pick<Addresses, 'of' | 'answered'>;
  find(nodeId: string): Peer | undefined;
  /** Announces that the state of a peer has changed. */
  emit(nodeId: string): void;
  /** Adds a candidate that a peer advertises. */
  addAdvertised(advertised: PeerState['peers'][number], from: string): void;
  /** Probes an address. */
  ask(address: Address): Promise<void>;
  /** ms, monotonic. */
  monotonicNow(): number;
  random(): number;
}

/** Minimum time between two probes of an address that reports of other boxes cause. */
const HINT_MS = 5_000;

export const createHearsay = ({
  self,
  reports,
  outdated,
  addresses,
  find,
  emit,
  addAdvertised,
  ask,
  monotonicNow,
  random,
}: Dependencies): Pick<Registry, 'record' | 'learn' | 'heard' | 'offered' | 'hint' | 'verify' | 'outdated'> => {
  /** By URL: when a report of another box last caused a probe. */
  const hinted = new Map<string, number>();

  /** Whether a report of another box may cause a probe of the address now. */
  const mayFollow = (url: string): boolean => {
    const now = monotonicNow();
    if (now - (hinted.get(url) ?? Number.NEGATIVE_INFINITY) < HINT_MS) return false;
    remember(hinted, url, now, 2 * mostPeers);
    return true;
  };

  return {
    record: (nodeId) => {
      const report = reports.get(nodeId);
      if (report === undefined || report.seq === 0) return null;
      const { media, devices, alerts, attendance } = report.state;
      const given = { ...(devices && { devices }), ...(alerts && { alerts }), ...(attendance && { attendance }) };
      return { nodeId, seq: report.seq, media, ...given };
    },
    learn: ({ nodeId, seq, media, devices, alerts, attendance }) => {
      const report = reports.get(nodeId);
      if (report === undefined || seq <= report.seq || !isPlausibleSeq(seq, Date.now())) return false;
      // A box of an older version passes it on without the attendance.
      const told = { media, devices, alerts, attendance: attendance ?? report.state.attendance };
      reports.set(nodeId, { ...report, seq, state: { ...report.state, ...told } });
      emit(nodeId);
      return true;
    },
    heard: (nodeId, theirInstance, summary) => {
      const [address] = addresses.of(nodeId);
      const report = reports.get(nodeId);
      if (address === undefined || report === undefined) return;
      if (theirInstance !== report.state.instance) return void ask(address);
      addresses.answered(address, nodeId, !report.gossips, monotonicNow(), random());
      reports.set(nodeId, { ...report, state: { ...report.state, ...summary }, contactAt: Date.now() });
      emit(nodeId);
    },
    offered: (nodeId, content) => {
      const report = reports.get(nodeId);
      if (report === undefined || find(nodeId)?.alive !== true) return false;
      reports.set(nodeId, { ...report, state: { ...report.state, content } });
      return true;
    },
    hint: (nodeId, url, advertiser) => {
      const [known] = addresses.of(nodeId);
      if (nodeId === self || (known !== undefined && !isOpen(known.breaker))) return;
      if (known === undefined) addAdvertised({ nodeId, url }, advertiser);
      else if (mayFollow(known.url)) void ask(known);
    },
    verify: async (nodeId) => {
      const [address] = addresses.of(nodeId);
      if (address === undefined) return false;
      const contactAt = reports.get(nodeId)?.contactAt ?? 0;
      if (Date.now() - contactAt > HINT_MS && mayFollow(address.url)) await ask(address);
      return find(nodeId)?.alive === true;
    },
    outdated: (nodeId) => {
      const report = reports.get(nodeId);
      const [address] = addresses.of(nodeId);
      if (report === undefined || address === undefined) return;
      remember(outdated, nodeId, report.state.instance, mostPeers);
      reports.set(nodeId, { ...report, gossips: false, seq: 0 });
      void ask(address);
    },
  };
};
