/**
 * One content and one map of bindings for a site: what a peer has and we don't is fetched, judged and taken. Whatever a
 * peer says that can't be so is logged, left, and never handed on.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Content } from '../content/content.ts';
import type { ReplicationHealth } from '../contract/health.ts';
import {
  type ContentDocument,
  type ContentVersion,
  contentDocument,
  type DeviceBinding,
  mostContentCharacters,
  type PeerState,
  peerBindings,
} from '../contract/peers.ts';
import { documentHash, versionOf } from '../domain/document.ts';
import { compareVersions, isPlausible } from '../domain/merge.ts';
import { remember } from '../domain/recent.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import type { LivePeer, Peers } from './registry.ts';

/** The bindings of devices, as boxes exchange them. */
export interface ReplicatedDevices {
  list(): DeviceBinding[];
  /** Takes the newer ones of a peer; resolves with those that changed something here. */
  merge(theirs: readonly DeviceBinding[]): Promise<DeviceBinding[]>;
  /** SHA-256 (hex) of all bindings: equal for boxes that know the same. */
  digest(): string;
  onChange(listener: () => void): void;
}

interface Dependencies {
  log: Logger;
  logs: SourceLogs;
  peers: Pick<Peers, 'alive' | 'call' | 'onState' | 'announce'>;
  content: Pick<Content, 'document' | 'observeCounter' | 'accept' | 'onDocument' | 'lost'>;
  devices: ReplicatedDevices;
  /** Tells the pages of devices that were bound on another box. */
  follow(bindings: readonly DeviceBinding[]): void;
}

export interface Replication {
  /** What {@link PeerState} says of it. */
  state(): Pick<PeerState, 'content' | 'bindings'>;
  health(): Promise<Omit<ReplicationHealth, 'media'>>;
  /** The content that is handed out; null: there is none, or it is too large for others. */
  document(): ContentDocument | null;
  /** Every device that this box knows. */
  bindings(): DeviceBinding[];
}

/** A document is as large as its text at the worst, with each character in three bytes, or escaped in two. */
const MOST_DOCUMENT_BYTES = 3 * mostContentCharacters + 8 * 1024 ** 2;
const MOST_BINDINGS_BYTES = 8 * 1024 ** 2;
const DEADLINE_MS = 10_000;
const PATIENCE_MS = 1_000;
/** Bindings that change within this time are one piece of news. */
const GATHER_MS = 250;
/** So many edits ahead a box may be whose content is not taken. */
const MOST_COUNTED_ON = 1_000;
/** Refusals that are remembered. */
const MOST_REFUSED = 32;

interface Refused {
  nodeId: string;
  reason: string;
  /** What was offered is at fault, and not to be fetched again. */
  lasting: boolean;
}

export const createReplication = ({ log, logs, peers, content, devices, follow }: Dependencies): Replication => {
  /** By what was offered: a box, and a hash. */
  const refused = new Map<string, Refused>();
  /** By box: what it had, and what we had, when nothing of it was news any more. */
  const compared = new Map<string, string>();
  const busy = new Set<string>();
  /** What is being fetched, keyed as what is refused. */
  const flying = new Set<string>();

  /** What is handed out; one that is too large for others is not. */
  const own = (): ContentDocument | null => {
    const document = content.document();
    return document !== null && document.text.length <= mostContentCharacters ? document : null;
  };

  const refuse = (nodeId: string, sha256: string, reason: string, lasting = true): void => {
    const key = `${nodeId} ${sha256}`;
    if (refused.get(key)?.reason === reason) return;
    remember(refused, key, { nodeId, reason, lasting }, MOST_REFUSED);
    logs(`peer ${nodeId}`).warn({ nodeId, reason }, 'what a peer offers is not taken');
  };

  /** One job of a name at a time. */
  const once = async (name: string, job: () => Promise<void>): Promise<void> => {
    if (busy.has(name)) return;
    busy.add(name);
    try {
      await job();
    } catch (error) {
      log.error({ err: error }, 'an exchange with a peer failed');
    } finally {
      busy.delete(name);
    }
  };

  const wins = (version: ContentVersion): boolean => {
    const mine = content.document();
    return mine === null || compareVersions(version, mine) > 0;
  };

  const fetchContent = async (peer: LivePeer, offered: ContentVersion): Promise<void> => {
    const { nodeId } = peer;
    const ours = content.document()?.counter ?? 0;
    const isHonest = ({ counter }: ContentVersion): boolean => isPlausible(counter, ours);
    if (!isHonest(offered)) {
      return refuse(nodeId, offered.sha256, `its content counts ${offered.counter} edits, which can't be`);
    }
    // Not from wherever somebody says that he is: others must find the edit that counts on plausible too.
    if (offered.counter <= ours + MOST_COUNTED_ON) content.observeCounter(offered.counter);
    const answer = await peers.call(peer, {
      path: '/api/peers/content',
      schema: contentDocument,
      deadlineMs: DEADLINE_MS,
      mostBytes: MOST_DOCUMENT_BYTES,
    });
    if (!answer.ok) {
      // What went away is asked again when it is back.
      if (answer.status === null) return;
      refuse(nodeId, offered.sha256, `asked for its content it ${answer.reason}`, answer.status === 200);
      return;
    }
    const document = answer.body;
    if (document.sha256 !== documentHash(document) || !isHonest(document)) {
      return refuse(nodeId, offered.sha256, 'its content is not what it says it is');
    }
    try {
      const [fault] = await content.accept(document);
      if (fault === undefined) return;
      const where = fault.path === '' ? '' : `${fault.path}: `;
      refuse(nodeId, document.sha256, `its content is not valid here: ${where}${fault.message}`);
    } catch (error) {
      refuse(nodeId, document.sha256, `its content can't be written: ${(error as Error).message}`, false);
    }
  };

  /** Asks one box after another for as long as one of them has something better, the best first. */
  const fetchBest = async (): Promise<void> => {
    const asked = new Set<string>();
    for (;;) {
      const offers = peers
        .alive()
        .flatMap((peer) => (peer.state.content === null ? [] : [{ peer, offered: peer.state.content }]))
        .filter(({ peer, offered }) => {
          const key = `${peer.nodeId} ${offered.sha256}`;
          return !asked.has(key) && !flying.has(key) && !refused.get(key)?.lasting && wins(offered);
        });
      const [best] = offers.toSorted((a, b) => compareVersions(b.offered, a.offered));
      if (best === undefined) return;
      const key = `${best.peer.nodeId} ${best.offered.sha256}`;
      asked.add(key);
      flying.add(key);
      const done = fetchContent(best.peer, best.offered).finally(() => flying.delete(key));
      // One that is slow, or hangs, goes on beside the next.
      await Promise.race([done, pause(PATIENCE_MS, undefined, { ref: false })]);
    }
  };

  const fetchBindings = async (peer: LivePeer): Promise<void> => {
    const theirs = peer.state.bindings;
    if (theirs === devices.digest() || compared.get(peer.nodeId) === `${theirs} ${devices.digest()}`) return;
    const request = { path: '/api/peers/bindings', deadlineMs: DEADLINE_MS, mostBytes: MOST_BINDINGS_BYTES };
    const answer = await peers.call(peer, { ...request, schema: peerBindings });
    if (!answer.ok) {
      if (answer.status !== null)
        logs(`peer ${peer.nodeId}`).warn({ nodeId: peer.nodeId, reason: answer.reason }, 'a peer gives no bindings');
      return;
    }
    const news = await devices.merge(answer.body.bindings);
    compared.set(peer.nodeId, `${theirs} ${devices.digest()}`);
    if (news.length === 0) return;
    logs(`peer ${peer.nodeId}`).info({ nodeId: peer.nodeId, count: news.length }, 'bindings of a peer were taken');
    follow(news);
  };

  peers.onState((peer) => {
    const { content: offered } = peer.state;
    for (const [key, { nodeId }] of refused) {
      if (nodeId === peer.nodeId && key !== `${nodeId} ${offered?.sha256}`) refused.delete(key);
    }
    void once('content', fetchBest);
    void once(`bindings ${peer.nodeId}`, () => fetchBindings(peer));
  });
  const tellIfTooLong = (): void => {
    if (own() !== null || content.document() === null) return;
    log.warn(`content.json is longer than ${mostContentCharacters} characters, and is not shared with other boxes`);
  };
  tellIfTooLong();
  content.onDocument(() => {
    tellIfTooLong();
    void peers.announce();
  });
  // A binding is relayed to every box, and dated by each: what comes of it is told once.
  let isGathering = false;
  devices.onChange(() => {
    if (isGathering) return;
    isGathering = true;
    setTimeout(() => {
      isGathering = false;
      void peers.announce();
    }, GATHER_MS).unref();
  });

  return {
    state: () => {
      const document = own();
      return { content: document && versionOf(document), bindings: devices.digest() };
    },
    health: async () => {
      const document = content.document();
      return {
        content: document && { ...versionOf(document), changedAt: document.changedAt },
        lost: await content.lost(),
        refused: [...refused.values()].map(({ nodeId, reason }) => ({ nodeId, reason })),
      };
    },
    document: own,
    bindings: devices.list,
  };
};
