/**
 * Exchanges replicated records with the other boxes of the site: the bindings of devices, takeovers, drafts and the
 * shared records. Of two records of a key the newer one wins, or a merge function decides; a box fetches those of a peer whose digest differs.
 */
import type { DraftHead } from '../contract/console/drafts.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { bindingBuckets, bindingDigests } from '../contract/gossip.ts';
import {
  type BindingNews,
  type DeviceBinding,
  mostPeers,
  peerBindings,
  peerTakeovers,
  type TakeoverRecord,
} from '../contract/peers.ts';
import { canonicalDeviceId } from '../contract/readable.ts';
import type { NamedRecord } from '../contract/shared.ts';
import { remember } from '../domain/collections.ts';
import { clockMonth, isPlausibleTime } from '../domain/merge.ts';
import { singleFlight } from '../domain/single-flight.ts';
import type { Drafts } from '../drafts/index.ts';
import { readJson } from '../http/body.ts';
import type { Routes } from '../http/routes.ts';
import type { ServiceContext } from '../module.ts';
import type { Shared } from '../shared/index.ts';
import type { Takeovers } from '../takeovers/index.ts';
import { bucketDigests, bucketOf, differingBuckets, type Row } from './digest.ts';
import type { AskPeers } from './operations.ts';
import type { LivePeer, Registry } from './registry.ts';
import type { Failure, PeerAnswer } from './reply.ts';
import { createSharedExchange } from './shared-records.ts';

/** The bindings of devices that boxes exchange. */
export interface ReplicatedDevices {
  /** Those that this version cannot read included. */
  records(): DeviceBinding[];
  /** The canonical id and text of each of them. */
  rows(): Row[];
  /** How many of them this version cannot read. */
  unread(): number;
  /** Stores the newer bindings of a peer; resolves with those that changed something here. */
  merge(theirs: readonly DeviceBinding[]): Promise<BindingNews[]>;
  /** SHA-256 (hex) of all bindings; equal on boxes with equal bindings. */
  digest(): string;
}

export type ReplicatedTakeovers = Pick<Takeovers, 'records' | 'unread' | 'merge' | 'state'>;

export type ReplicatedDrafts = Pick<
  Drafts,
  'records' | 'unread' | 'record' | 'lacks' | 'merge' | 'digest' | 'onShare' | 'editing'
>;

/** A record: its key and its date (ISO 8601). */
type Dated = readonly [name: string, at: string];

/** Pairs of a peer and a kind of record that are remembered. */
const MAX_MISDATED = 100;

export type Misdated = ReturnType<typeof createMisdated>;

/** Records of peers that are dated implausibly far ahead: they are refused, and logged once. */
export const createMisdated = ({ logs, now }: Pick<ServiceContext, 'logs' | 'now'>) => {
  const found = new Map<string, { nodeId: string; reason: string }>();

  return {
    /** Notes all records of a kind that a peer offers now. @param kind such as `bindings` */
    note(nodeId: string, kind: string, records: Iterable<Dated>): void {
      const key = `${nodeId} ${kind}`;
      const misdated = [...records].filter(([, at]) => !isPlausibleTime(at, now()));
      const [first] = misdated;
      if (first === undefined) return void found.delete(key);
      const which = `${misdated.length} of the ${kind} are dated years ahead, such as ${first.join(' at ')}`;
      const reason = `${which}, and not taken: set the clock of that box, then make the change again`;
      if (found.get(key)?.reason === reason) return;
      remember(found, key, { nodeId, reason }, MAX_MISDATED);
      logs(`peer ${nodeId}`).warn({ nodeId, reason }, 'records that a peer offers were refused');
    },
    /** For `/healthz`. */
    list: (): { nodeId: string; reason: string }[] => [...found.values()],
  };
};

interface Kind<T> {
  name: 'bindings' | 'takeovers' | 'drafts' | 'shared';
  /** The digest of all records here. */
  digest(): string;
  /** Fetches the records of a peer, or those that may differ. */
  ask(peer: LivePeer): Promise<PeerAnswer<{ [Name in Kind<T>['name']]?: T[] }>>;
  dateOf(record: T): Dated;
  /** Stores the newer records. @returns why the peer did not give all of them, if so: they are asked for again */
  merge(records: readonly T[], peer: LivePeer): Promise<Failure | undefined>;
}

interface Site {
  peers: Pick<Registry, 'onState' | 'find'>;
  asking: AskPeers;
  devices: ReplicatedDevices;
  takeovers: ReplicatedTakeovers;
  drafts: ReplicatedDrafts;
  shared: Pick<Shared, 'sets' | 'merge' | 'onPut'>;
  misdated: Pick<Misdated, 'note'>;
  onBindings(news: readonly BindingNews[]): void;
  /** Called when a comparison gave this box records that others may lack. */
  onNews(): void;
}

export const createRecordExchange = (
  context: Pick<ServiceContext, 'logs' | 'now' | 'options'>,
  { peers, asking, devices, takeovers, drafts, shared, misdated, onBindings, onNews }: Site,
) => {
  const { logs, now } = context;
  const sharedExchange = createSharedExchange(context, shared, asking, onNews);
  const follow = <T>({ name, digest, ask, dateOf, merge }: Kind<T>): void => {
    /** By node id: the digests of its records and of ours after the last exchange, and the {@link clockMonth}. */
    const compared = new Map<string, string>();
    const comparison = (theirs: string): string => `${theirs} ${digest()} ${clockMonth(now())}`;
    /** By node id: why its records could not be read the last time. */
    const failed = new Map<string, string>();

    const noteFailure = (nodeId: string, { status, reason }: Failure): void => {
      if (status === null || failed.get(nodeId) === reason) return;
      remember(failed, nodeId, reason, mostPeers);
      logs(`peer ${nodeId}`).warn({ nodeId, reason }, `a peer returned no ${name}`);
    };

    const fetchFrom = async (peer: LivePeer): Promise<void> => {
      const { nodeId, state } = peer;
      const theirs = state[name];
      if (theirs === undefined || theirs === digest()) return misdated.note(nodeId, name, []);
      if (compared.get(nodeId) === comparison(theirs)) return;
      const answer = await ask(peer);
      if (!answer.ok) return noteFailure(nodeId, answer);
      const records = answer.body[name] ?? [];
      misdated.note(nodeId, name, records.map(dateOf));
      const before = digest();
      const failure = await merge(records, peer);
      if (digest() !== before) onNews();
      if (failure !== undefined) return noteFailure(nodeId, failure);
      failed.delete(nodeId);
      remember(compared, nodeId, comparison(theirs), mostPeers);
    };

    const fetchOnce = singleFlight(async (nodeId: string) => {
      const peer = peers.find(nodeId);
      if (peer?.alive !== true) return;
      await fetchFrom(peer as LivePeer).catch((err: unknown) =>
        logs(`peer ${nodeId}`).error({ nodeId, err }, `the ${name} of a peer were not stored`),
      );
    });
    peers.onState(({ nodeId }) => void fetchOnce(nodeId));
  };

  let digested: { of: string; digests: string } | null = null;
  const digests = (): string => {
    const of = devices.digest();
    if (digested?.of !== of) {
      digested = { of, digests: bucketDigests(devices.rows(), bindingBuckets) };
    }
    return digested.digests;
  };

  follow<DeviceBinding>({
    name: 'bindings',
    digest: devices.digest,
    ask: (peer) => asking.ask(peer, 'bindings.differing', digests()),
    dateOf: ({ deviceId, updatedAt }) => [deviceId, updatedAt],
    merge: async (records, { nodeId }) => {
      const news = await devices.merge(records);
      if (news.length === 0) return;
      logs(`peer ${nodeId}`).info({ nodeId, count: news.length }, 'stored bindings of a peer');
      onBindings(news);
    },
  });
  follow<TakeoverRecord>({
    name: 'takeovers',
    digest: () => takeovers.state().takeovers,
    ask: (peer) => asking.ask(peer, 'takeovers.list'),
    dateOf: ({ id, updatedAt }) => [id, updatedAt],
    merge: async (records, { nodeId }) => {
      // One per request, because several long records do not fit into a body.
      let failure: Failure | undefined;
      for (const record of await takeovers.merge(records)) {
        const answer = await asking.ask({ nodeId }, 'takeovers.send', [record]);
        if (!answer.ok) failure = answer;
        if (failure?.status === null) break;
      }
      return failure;
    },
  });

  follow<DraftHead>({
    name: 'drafts',
    digest: drafts.digest,
    ask: (peer) => asking.ask(peer, 'drafts.list'),
    dateOf: ({ id, updated_at }) => [id, updated_at],
    merge: async (heads, { nodeId }) => {
      let failure: Failure | undefined;
      for (const { id } of heads.filter(drafts.lacks)) {
        const answer = await asking.ask({ nodeId }, 'drafts.record', id);
        if (answer.ok) await drafts.merge(answer.body);
        else failure = answer;
        if (failure?.status === null) break;
      }
      return failure;
    },
  });

  follow<NamedRecord>({
    name: 'shared',
    digest: sharedExchange.digest,
    ask: sharedExchange.ask,
    dateOf: ([set, { id, updated_at: at }]) => [
      `${set} ${id}`,
      typeof at === 'string' ? at : new Date(0).toISOString(),
    ],
    merge: async (records) => {
      await shared.merge(records);
    },
  });

  const routes: Routes = {
    ...sharedExchange.routes,
    'POST /api/peers/bindings': async (ctx) => {
      const news = await devices.merge(readFields(peerBindings, await readJson(ctx)).bindings);
      if (news.length > 0) onBindings(news);
      ctx.body = {};
    },
    'POST /api/peers/bindings/differing': async (ctx) => {
      const buckets = differingBuckets(digests(), readFields(bindingDigests, await readJson(ctx)).digests);
      const isDiffering = ({ deviceId }: DeviceBinding) =>
        buckets.has(bucketOf(canonicalDeviceId(deviceId), bindingBuckets));
      ctx.body = { bindings: devices.records().filter(isDiffering) };
    },
    'GET /api/peers/drafts': (ctx) => {
      ctx.body = { drafts: drafts.records(), editing: drafts.editing() };
    },
    'GET /api/peers/drafts/:id': async (ctx) => {
      const record = await drafts.record(ctx.params.id);
      if (record === null) throw new CodedError('draft_not_found');
      ctx.body = record;
    },
    'GET /api/peers/takeovers': (ctx) => {
      ctx.body = { takeovers: takeovers.records() };
    },
    'POST /api/peers/takeovers': async (ctx) => {
      await takeovers.merge(readFields(peerTakeovers, await readJson(ctx)).takeovers);
      ctx.body = {};
    },
  };

  return {
    routes,
    /** SHA-256 (hex) of the shared records. */
    sharedDigest: sharedExchange.digest,
    /** Fetches what a peer has of the shared records now. */
    fetchShared: async (peer: LivePeer): Promise<void> => {
      const answer = await sharedExchange.ask(peer);
      if (answer.ok) await shared.merge(answer.body.shared);
    },
    /** Sends a changed takeover to all peers; those that do not answer fetch it later. Never rejects. */
    sendTakeover: async (record: TakeoverRecord): Promise<void> => {
      await asking.broadcast('takeovers.send', [record]);
    },
  };
};
