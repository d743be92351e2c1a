/**
 * Anti-entropy gossip: once per period this box picks a peer, and both compare digests of the replicated state and the
 * membership. Only differences are sent.
 */
import { createHash } from 'node:crypto';
import { readFields } from '../contract/fields.ts';
import {
  type GossipAnswer,
  gossipRequest,
  type MemberEntry,
  type MemberRecord,
  memberExchange,
  mostRecords,
  reachQuery,
  type SiteSummary,
} from '../contract/gossip.ts';
import { mostPeers, type PeerState } from '../contract/peers.ts';
import { remember, shuffled } from '../domain/collections.ts';
import { createDebounce } from '../domain/debounce.ts';
import { isPlausibleTime } from '../domain/merge.ts';
import { createRate } from '../domain/rate.ts';
import type { MonotonicMs, SiteTime } from '../domain/time.ts';
import { readJson } from '../http/body.ts';
import type { Routes } from '../http/routes.ts';
import type { ServiceContext } from '../module.ts';
import { hostOf } from './advertised.ts';
import {
  compareMembers,
  differingMembers,
  firstRound,
  fitting,
  memberDigests,
  nextToCheck,
  periodOf,
} from './membership.ts';
import type { AskPeers } from './operations.ts';
import { isLive, type LivePeer, type Registry } from './registry.ts';

type OwnRecord = ReturnType<typeof createOwnRecord>;

/** The record that this box publishes to all boxes. @param parts the current state of the modules */
export const createOwnRecord = (
  { ids: { nodeId }, now, monotonicNow, tempo }: Pick<ServiceContext, 'ids' | 'now' | 'monotonicNow' | 'tempo'>,
  parts: () => Omit<MemberRecord, 'nodeId' | 'seq'>,
) => {
  let record: MemberRecord | null = null;
  let text = '';
  let readAt: MonotonicMs = 0;
  let highest = 0;

  return {
    /** The record, with a version that grows with each change. @param isFresh false: it may be some seconds old */
    current: (isFresh: boolean): MemberRecord => {
      if (record !== null && !isFresh && monotonicNow() - readAt < tempo.peers.fresh) return record;
      readAt = monotonicNow();
      const said = parts();
      const before = text;
      text = JSON.stringify(said);
      // One that was made while the clock was years ahead is refused by the others, as are all that count on from it.
      const last = isPlausibleTime(highest, now()) ? highest : 0;
      // Later than the versions of previous starts, the last of which this box does not know.
      if (record === null || text !== before || last < highest) highest = Math.max(last + 1, Math.floor(now()));
      record = { nodeId, seq: highest, ...said };
      return record;
    },
    /** Handles a version of the record that another box has and this box never made. */
    refute: (seq: number): void => {
      if (record === null || seq <= record.seq || !isPlausibleTime(seq, now())) return;
      highest = seq + 1;
      record = { ...record, seq: highest };
    },
  };
};

type Start = Pick<PeerState, 'startedAt' | 'instance'>;

/**
 * Whether the first of two boxes with one node id, as after cloning a disk, gets a new one: the one that started later, by the site's clock; of two
 * that started at the same time, the one with the greater instance. Both boxes compare the same values, so only one of
 * them does.
 */
export const takesNewId = (own: Start, other: Start): boolean =>
  own.startedAt === other.startedAt ? own.instance > other.instance : own.startedAt > other.startedAt;

interface Site {
  registry: Registry;
  asking: Pick<AskPeers, 'ask'>;
  record: OwnRecord;
  /** Versions of the replicated state. */
  summary(): SiteSummary;
  siteTime: Pick<SiteTime, 'now'>;
}

/** Number of peers that get news, or are asked to probe a box that does not answer. */
const FEW = 3;
/** Peers that a `refresh` asks. */
const SOME = 4;
/** How a box answers that does not gossip: it is asked for its state then. One that is busy, or refuses this one, is not. */
const notUnderstood: readonly number[] = [200, 400, 404, 405];
/** Times that this box tells of boxes that went or came, within `changes`; others learn of the rest as they check. */
const MAX_CHANGES = 3;

/**
 * Most bytes of each part of an exchange of members, so that the request fits into a small body. The rest follows in later
 * rounds. A record that is too large for a request is asked for by the other box, because an answer has room for it.
 */
const most = { records: 32 * 1024, entries: 24 * 1024, answer: 4 * 1024 ** 2 };

const digestOf = ({ content, bindings, takeovers, drafts, shared }: SiteSummary): string =>
  createHash('sha256')
    .update(JSON.stringify([content?.counter, content?.nodeId, content?.sha256, bindings, takeovers, drafts, shared]))
    .digest('hex')
    .slice(0, 16);

export const createGossip = (
  {
    ids: { nodeId: self, instance },
    monotonicNow,
    random,
    tempo: { peers: tempo },
  }: Pick<ServiceContext, 'ids' | 'monotonicNow' | 'random' | 'tempo'>,
  { registry, asking, record, summary, siteTime }: Site,
) => {
  const debounce = { quietMs: tempo.gather, longestMs: tempo.gather };
  /** By node id: the digests of its summary and of ours that were compared last. */
  const compared = new Map<string, string>();
  const busy = new Set<string>();
  let round = firstRound;
  let port: number | null = null;
  let timer: NodeJS.Timeout | undefined;

  /** The members that this box reaches, itself included, with the versions of their records. */
  const versions = (): Map<string, number> => registry.reached().set(self, record.current(false).seq);

  const entriesOf = (nodeIds: Iterable<string>): MemberEntry[] =>
    [...nodeIds].flatMap((nodeId): MemberEntry[] => {
      if (nodeId === self) return [[self, '', record.current(false).seq]];
      const entry = registry.entry(nodeId);
      return entry === null ? [] : [entry];
    });

  const recordsOf = (nodeIds: readonly string[]): MemberRecord[] =>
    nodeIds
      .slice(0, mostRecords)
      .flatMap((nodeId) => (nodeId === self ? record.current(false) : (registry.record(nodeId) ?? [])));

  const learn = (records: readonly MemberRecord[]): void => {
    for (const each of records) {
      if (each.nodeId === self) record.refute(each.seq);
      else registry.applyRecord(each);
    }
  };

  /** Reconciles membership with a peer: probes members that only one of the two reaches, and exchanges records. */
  const reconcile = async (
    peer: LivePeer,
    { digests, entries }: NonNullable<GossipAnswer['members']>,
  ): Promise<void> => {
    const members = versions();
    const theirs = new Map(entries.map(([nodeId, , seq]) => [nodeId, seq]));
    const urls = new Map(entries.map(([nodeId, url]) => [nodeId, url]));
    const own = differingMembers(members, memberDigests(members), digests);
    // A member may have been added meanwhile.
    for (const nodeId of theirs.keys()) own.set(nodeId, members.get(nodeId) ?? -1);
    for (const [nodeId, seq] of own) if (seq < 0) own.delete(nodeId);
    const { theirs: unknown, ours, wanted, newer } = compareMembers(own, theirs);
    // A box that has the id of this one is a copy of it, or takes its place.
    for (const nodeId of [self, ...unknown]) registry.addReported(nodeId, urls.get(nodeId) ?? '', peer.url);
    const missing = ours.filter((nodeId) => nodeId !== peer.nodeId && nodeId !== self);
    for (const nodeId of missing) void registry.verify(nodeId);
    const claimed = theirs.get(self) ?? 0;
    if (claimed > (members.get(self) ?? 0)) record.refute(claimed);
    const asked = wanted.filter((nodeId) => nodeId !== self).slice(0, mostRecords);
    const records = fitting(recordsOf(newer), most.records);
    if (asked.length + records.length + missing.length === 0) return;
    // Those that the other box does not reach either are missing again.
    const body = { wanted: asked, records, entries: fitting(shuffled(entriesOf(missing), random), most.entries) };
    const answer = await asking.ask({ nodeId: peer.nodeId }, 'peers.members', body);
    if (answer.ok) learn(answer.body.records);
  };

  const exchange = async (peer: LivePeer): Promise<void> => {
    const { nodeId } = peer;
    if (port === null || busy.has(nodeId)) return;
    busy.add(nodeId);
    try {
      const own = digestOf(summary());
      const body = { from: self, port, digest: own, members: memberDigests(versions()) };
      const answer = await asking.ask({ nodeId }, 'peers.gossip', body);
      if (!answer.ok) {
        if (notUnderstood.includes(answer.status ?? 0)) await registry.refresh(nodeId);
        return;
      }
      const { summary: theirs, members, instance: theirInstance, serverTime } = answer.body;
      if (theirs !== undefined) remember(compared, nodeId, `${digestOf(theirs)} ${own}`, mostPeers);
      registry.onGossipAnswer(nodeId, theirInstance, theirs ?? summary(), serverTime);
      if (members !== undefined) await reconcile(peer, members);
    } finally {
      busy.delete(nodeId);
    }
  };

  const few = (count: number, but?: string): LivePeer[] =>
    shuffled(
      registry.alive().filter(({ nodeId }) => nodeId !== but),
      random,
    ).slice(0, count);

  const check = (): void => {
    const peers = registry.alive();
    const step = nextToCheck(
      round,
      peers.map(({ nodeId }) => nodeId),
      random,
    );
    round = step.round;
    const peer = peers.find(({ nodeId }) => nodeId === step.next);
    if (peer !== undefined) void exchange(peer);
    schedule(peers.length);
  };
  const schedule = (count: number): void => {
    const period = periodOf(count + 1, tempo.gossip);
    timer = setTimeout(check, period * (0.8 + 0.4 * random()));
    timer.unref();
  };

  const tellFew = (): void => {
    for (const peer of few(FEW)) void exchange(peer);
  };
  const tell = createDebounce(tellFew, debounce);
  const rate = createRate(MAX_CHANGES, tempo.changes);
  const tellOfChange = createDebounce(() => {
    if (!registry.isCongested() && rate.take(monotonicNow())) tellFew();
  }, debounce);
  registry.onReachabilityChange(tellOfChange);

  return {
    routes: {
      'POST /api/peers/gossip': async (ctx) => {
        const { from, port: theirPort, digest, members } = readFields(gossipRequest, await readJson(ctx));
        registry.onContact(from, ctx.req.socket.remoteAddress, theirPort, false);
        const own = summary();
        const ownDigest = digestOf(own);
        const isEqual = digest === ownDigest;
        const peer = registry.find(from);
        const isCompared = isEqual || compared.get(from) === `${digest} ${ownDigest}`;
        if (!isCompared && isLive(peer)) void exchange(peer);
        const mine = versions();
        const digests = memberDigests(mine);
        const entries = digests === members ? [] : entriesOf(differingMembers(mine, digests, members).keys());
        const answer: GossipAnswer = {
          nodeId: self,
          instance,
          serverTime: siteTime.now(),
          ...(isEqual ? {} : { summary: own }),
          ...(digests === members ? {} : { members: { digests, entries } }),
        };
        ctx.body = answer;
      },
      'POST /api/peers/members': async (ctx) => {
        const { wanted, records, entries } = readFields(memberExchange, await readJson(ctx));
        learn(records);
        const host = hostOf(ctx.req.socket.remoteAddress ?? '');
        if (host !== null) for (const [nodeId, url] of entries) registry.addReported(nodeId, url, `http://${host}`);
        ctx.body = { records: fitting(recordsOf(wanted), most.answer) };
      },
      'GET /api/peers/reach': async (ctx) => {
        const { nodeId } = readFields(reachQuery, ctx.query);
        ctx.body = { reached: await registry.verify(nodeId) };
      },
    } satisfies Routes,
    /** Schedules an exchange with a few random peers: this box has new state. */
    tell,
    /** Exchanges with a few random peers now. */
    ask: async (): Promise<void> => void (await Promise.all(few(SOME).map(exchange))),
    /** Asks a few other boxes whether they reach a box; null: they are too busy to know. */
    isReachedByOthers: async (nodeId: string): Promise<boolean | null> => {
      const helpers = few(FEW, nodeId);
      if (helpers.length === 0) return false;
      const answers = await Promise.all(
        helpers.map((helper) => asking.ask({ nodeId: helper.nodeId }, 'peers.reach', nodeId)),
      );
      const said = answers.flatMap((answer) => (answer.ok ? [answer.body.reached] : []));
      return said.includes(true) || (said.includes(null) ? null : false);
    },
    start: (at: number): void => {
      port = at;
      schedule(registry.alive().length);
    },
    close: (): void => {
      clearTimeout(timer);
      tell.cancel();
      tellOfChange.cancel();
    },
  };
};
