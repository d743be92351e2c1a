/** Replicates the bindings of a site: fetches those of a peer whose digest differs, and stores the newer ones. */
import { bindingBuckets } from '../contract/gossip.ts';
import { type DeviceBinding, mostPeers } from '../contract/peers.ts';
import { deviceKey } from '../contract/readable.ts';
import { remember } from '../domain/collections.ts';
import { clockMonth } from '../domain/merge.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import type { AskPeers } from './ask.ts';
import { bucketDigests, bucketOf, differingBuckets, type Row } from './digest.ts';
import type { Misdated } from './misdated.ts';
import type { LivePeer } from './peer.ts';

/** The bindings of devices that boxes exchange. */
export interface ReplicatedDevices {
  list(): DeviceBinding[];
  /** Stores the newer bindings of a peer; resolves with those that changed something here. */
  merge(theirs: readonly DeviceBinding[]): Promise<DeviceBinding[]>;
  /** SHA-256 (hex) of all bindings; equal on boxes with equal bindings. */
  digest(): string;
}

interface Dependencies {
  logs: SourceLogs;
  asking: Pick<AskPeers, 'ask'>;
  devices: ReplicatedDevices;
  misdated: Pick<Misdated, 'note'>;
  /** The machine's time of day, ms since the epoch. */
  now(): number;
  /** Called with the bindings that another box has made. */
  onBindings(bindings: readonly DeviceBinding[]): void;
  /** Called when a comparison gave this box state that others may lack. */
  onNews(): void;
}

/** Peers that returned no bindings, of which the reason is remembered. */
const MAX_FAILED = 32;

export const createBindingReplication = ({
  logs,
  asking,
  devices,
  misdated,
  now,
  onBindings,
  onNews,
}: Dependencies) => {
  /** By node id: the digests of its bindings and of ours after the last merge, and the {@link clockMonth}. */
  const compared = new Map<string, string>();
  const comparison = (theirs: string): string => `${theirs} ${devices.digest()} ${clockMonth(now())}`;
  /** By node id: why its bindings could not be read the last time. */
  const failed = new Map<string, string>();

  let digested: { of: string; digests: string } | null = null;
  const digests = (): string => {
    const of = devices.digest();
    if (digested?.of !== of) {
      const rows = devices.list().map((binding): Row => {
        const { deviceId, clientName, screenSlug, forgotten = false, key, updatedAt } = binding;
        return [deviceKey(deviceId), JSON.stringify([clientName, screenSlug, forgotten, key, updatedAt])];
      });
      digested = { of, digests: bucketDigests(rows, bindingBuckets) };
    }
    return digested.digests;
  };

  const fetchBindings = async (peer: LivePeer): Promise<void> => {
    const theirs = peer.state.bindings;
    if (theirs === devices.digest()) return misdated.note(peer.nodeId, 'bindings', []);
    if (compared.get(peer.nodeId) === comparison(theirs)) return;
    const answer = await asking.ask(peer, 'bindings.differing', digests());
    if (!answer.ok) {
      const { status, reason } = answer;
      if (status === null || failed.get(peer.nodeId) === reason) return;
      remember(failed, peer.nodeId, reason, MAX_FAILED);
      logs(`peer ${peer.nodeId}`).warn({ nodeId: peer.nodeId, reason }, 'a peer returned no bindings');
      return;
    }
    failed.delete(peer.nodeId);
    const dated = answer.body.bindings.map(({ deviceId, updatedAt }) => [deviceId, updatedAt] as const);
    misdated.note(peer.nodeId, 'bindings', dated);
    const before = devices.digest();
    const news = await devices.merge(answer.body.bindings);
    const isChanged = devices.digest() !== before;
    remember(compared, peer.nodeId, comparison(theirs), mostPeers);
    if (isChanged) onNews();
    if (news.length === 0) return;
    logs(`peer ${peer.nodeId}`).info({ nodeId: peer.nodeId, count: news.length }, 'stored bindings of a peer');
    onBindings(news);
  };

  return {
    /** Fetches the bindings of a peer, if they differ from ours. */
    fetch: fetchBindings,
    /** The bindings in the buckets that differ from another box's. @param theirs its digests */
    differing: (theirs: string): DeviceBinding[] => {
      const buckets = differingBuckets(digests(), theirs);
      return devices.list().filter(({ deviceId }) => buckets.has(bucketOf(deviceKey(deviceId), bindingBuckets)));
    },
    /** Stores the newer ones of bindings that another box sent. */
    merge: async (theirs: readonly DeviceBinding[]): Promise<void> => {
      const news = await devices.merge(theirs);
      if (news.length > 0) onBindings(news);
    },
  };
};
