/**
 * Replicates the content of a site: fetches what a peer has and this box lacks, validates it and stores it. Implausible data of a peer is logged, rejected and never forwarded.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Content } from '../content/index.ts';
import type { ReplicationHealth } from '../contract/health.ts';
import type { ContentDocument, ContentVersion } from '../contract/peers.ts';
import { remember } from '../domain/collections.ts';
import { documentHash, versionOf } from '../domain/document.ts';
import { compareVersions, isPlausible, isPlausibleTime } from '../domain/merge.ts';
import { createRate } from '../domain/rate.ts';
import { singleFlight } from '../domain/single-flight.ts';
import { limitSentences } from '../domain/wording.ts';
import type { ServiceContext } from '../module.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import type { AskPeers } from './operations.ts';
import type { LivePeer, Registry } from './registry.ts';

interface Refused {
  nodeId: string;
  reason: string;
  /** The offered content itself is invalid, and is not fetched again. */
  permanent: boolean;
}

const MAX_REFUSED = 32;
/** Unusable contents of a peer that are fetched within this time: the first is corrected by the operator's next edit. */
const MAX_UNUSABLE = 2;
const UNUSABLE_MS = 15_000;

const createRefusals = (logs: SourceLogs) => {
  /** Keyed by node id and content hash. */
  const refused = new Map<string, Refused>();
  /** Of unusable content, by node id. */
  const rates = new Map<string, ReturnType<typeof createRate>>();

  const isPaused = (nodeId: string): boolean => (rates.get(nodeId)?.wait(performance.now()) ?? 0) > 0;

  return {
    /** @param permanent whether the content itself is invalid; else it is tried again */
    add: (nodeId: string, sha256: string, reason: string, permanent = true): void => {
      const key = `${nodeId} ${sha256}`;
      if (refused.get(key)?.reason === reason) return;
      remember(refused, key, { nodeId, reason, permanent }, MAX_REFUSED);
      logs(`peer ${nodeId}`).warn({ nodeId, reason }, 'the content that a peer offers was refused');
      if (!permanent) return;
      const rate = rates.get(nodeId) ?? createRate(MAX_UNUSABLE, UNUSABLE_MS);
      rate.take(performance.now());
      remember(rates, nodeId, rate, MAX_REFUSED);
    },
    /** Content was accepted: those that offered it, or its predecessors, need no pauses any more. */
    accepted: (sha256: string): void => {
      for (const key of refused.keys()) if (key.endsWith(` ${sha256}`)) refused.delete(key);
      rates.clear();
    },
    /** Why this content of the peer was refused; undefined: it was not. */
    reasonFor: (nodeId: string, sha256: string): string | undefined => refused.get(`${nodeId} ${sha256}`)?.reason,
    /** Whether this content is not to be fetched from the peer now. */
    covers: (nodeId: string, sha256: string): boolean =>
      isPaused(nodeId) || refused.get(`${nodeId} ${sha256}`)?.permanent === true,
    /** Forgets the refusals of content that the peer no longer offers. */
    keepOnly: (nodeId: string, sha256: string | undefined): void => {
      if (isPaused(nodeId)) return;
      for (const [key, each] of refused) {
        if (each.nodeId === nodeId && key !== `${nodeId} ${sha256}`) refused.delete(key);
      }
    },
    list: (): Pick<Refused, 'nodeId' | 'reason'>[] =>
      [...refused.values()].map(({ nodeId, reason }) => ({ nodeId, reason })),
  };
};

interface Site {
  peers: Pick<Registry, 'alive' | 'onState' | 'settled'>;
  asking: Pick<AskPeers, 'ask'>;
  content: Pick<Content, 'document' | 'observeCounter' | 'accept' | 'onDocument' | 'lost'>;
  /** Called with the version of content that was edited here. */
  onEdit(version: ContentVersion): void;
  /** Called when a comparison gave this box content that others may lack. */
  onNews(): void;
}

export type Replication = ReturnType<typeof createReplication>;

/** Content up to this length is sent with the news of it. A request has at most 64 KiB. */
const MAX_SHORT_BYTES = 12 * 1024;
/** After this time the next box is called in parallel to one that has not answered. */
const PATIENCE_MS = 1_000;
/** How far ahead an edit counter may be to be adopted from content that is not stored. */
const MAX_COUNTER_LEAD = 1_000;
/** Documents that are held until they are stored. */
const MAX_GIVEN = 8;
/** Documents whose way to this box is remembered. */
const MAX_REMEMBERED = 64;

export const createReplication = (
  { log, logs, now }: Pick<ServiceContext, 'log' | 'logs' | 'now'>,
  { peers, asking, content, onEdit, onNews }: Site,
) => {
  const refusals = createRefusals(logs);
  /** Fetches in progress, keyed by node id and content hash. */
  const inFlight = new Map<string, Promise<void>>();
  /** Hashes of content that peers made. */
  const adopted = new Map<string, true>();
  /** Content that came with the news of it, by hash. */
  const given = new Map<string, ContentDocument>();
  /** Hashes of content that the sender has this box pass on. */
  const passed = new Map<string, true>();
  /** Hashes of content that lost here and was fetched. */
  const met = new Map<string, true>();
  let isMeeting = false;

  const wins = (version: ContentVersion): boolean => {
    const mine = content.document();
    return mine === null || compareVersions(version, mine) > 0;
  };

  const ask = async (peer: LivePeer, offered: ContentVersion): Promise<ContentDocument | null> => {
    const answer = await asking.ask(peer, 'content.document', undefined);
    if (answer.ok) return answer.body;
    // A box that is away is called again when it is back. One that is there may be too slow for a large document.
    if (answer.status !== null || answer.isLate === true) {
      refusals.add(peer.nodeId, offered.sha256, `asked for its content it ${answer.reason}`, answer.status === 200);
    }
    return null;
  };

  const fetchContent = async (peer: LivePeer, offered: ContentVersion): Promise<void> => {
    const { nodeId } = peer;
    const ours = content.document()?.counter ?? 0;
    const refuse = (reason: string, permanent?: boolean): void =>
      refusals.add(nodeId, offered.sha256, reason, permanent);
    // Others may count less: a box without content waits until it has asked the peers that it knows.
    if (ours === 0 && !isPlausible(offered.counter, 0, [0, offered.counter])) await peers.settled();
    const isHonest = ({ counter }: ContentVersion): boolean => {
      const counters = peers.alive().flatMap(({ state }) => state.content?.counter ?? []);
      return isPlausible(counter, ours, counters);
    };
    if (!isHonest(offered)) {
      return refuse(`its content counts ${offered.counter} edits, which is not plausible`, false);
    }
    // An edit made here must have a counter that other boxes find plausible too, so a larger lead is not adopted.
    if (offered.counter <= ours + MAX_COUNTER_LEAD) content.observeCounter(offered.counter);
    const carried = given.get(offered.sha256);
    given.delete(offered.sha256);
    // The hash of a document leaves out its counter.
    const isOffered = carried !== undefined && compareVersions(carried, offered) === 0;
    const document = isOffered ? carried : await ask(peer, offered);
    if (document === null) return;
    if (document.sha256 !== documentHash(document) || !isHonest(document)) {
      return refuse('its content does not match its hash');
    }
    if (!isPlausibleTime(document.changedAt, now())) {
      const when = `its content was edited at ${document.changedAt}, which is not plausible`;
      return refuse(`${when}: set its clock, then edit it again`);
    }
    remember(adopted, document.sha256, true, MAX_REMEMBERED);
    try {
      const [fault] = await content.accept(document);
      if (fault === undefined) return refusals.accepted(offered.sha256);
      const where = fault.path === '' ? '' : `${fault.path}: `;
      refusals.add(nodeId, document.sha256, `its content is not valid here: ${where}${fault.message}`);
    } catch (error) {
      refusals.add(nodeId, document.sha256, `its content cannot be written: ${(error as Error).message}`, false);
    }
  };

  /** Fetches from one box after another while one has a newer version, newest first. */
  const fetchBest = async (): Promise<void> => {
    const asked = new Set<string>();
    for (;;) {
      const offers = peers
        .alive()
        .flatMap((peer) => (peer.state.content === null ? [] : [{ peer, offered: peer.state.content }]))
        .filter(({ peer, offered }) => {
          const key = `${peer.nodeId} ${offered.sha256}`;
          return (
            !asked.has(key) && !inFlight.has(key) && !refusals.covers(peer.nodeId, offered.sha256) && wins(offered)
          );
        });
      const [best] = offers.toSorted((a, b) => compareVersions(b.offered, a.offered));
      if (best === undefined) return;
      const key = `${best.peer.nodeId} ${best.offered.sha256}`;
      asked.add(key);
      const done = fetchContent(best.peer, best.offered).finally(() => inFlight.delete(key));
      inFlight.set(key, done);
      // A box that is slow or hangs does not hold up the next one.
      await Promise.race([done, pause(PATIENCE_MS, undefined, { ref: false })]);
    }
  };

  const fetchNewest = singleFlight(() =>
    fetchBest().catch((error: unknown) => log.error({ err: error }, 'the exchange with a peer failed')),
  );

  /** Fetches what lost to an edit that was made at the same time: this box tells of it as the one where it was made does. */
  const meetLoser = async (version: ContentVersion): Promise<void> => {
    const mine = content.document();
    if (version.counter === 0 || version.counter !== mine?.counter || compareVersions(version, mine) >= 0) return;
    const { sha256 } = version;
    // One at a time: what is not met now is offered again.
    if (isMeeting || met.has(sha256)) return;
    const peer = peers.alive().find(({ state }) => state.content?.sha256 === sha256);
    if (peer === undefined) return;
    isMeeting = true;
    const answer = await asking.ask(peer, 'content.document', sha256);
    isMeeting = false;
    if (!answer.ok) return;
    remember(met, sha256, true, MAX_REMEMBERED);
    if (answer.body.sha256 !== sha256 || documentHash(answer.body) !== sha256) return;
    if (compareVersions(answer.body, version) === 0 && isPlausibleTime(answer.body.changedAt, now()))
      await content.accept(answer.body);
  };

  peers.onState((peer) => {
    const { content: offered } = peer.state;
    refusals.keepOnly(peer.nodeId, offered?.sha256);
    if (offered === null) return;
    if (wins(offered)) void fetchNewest('');
    else void meetLoser(offered);
  });
  content.onDocument(() => {
    const document = content.document();
    if (document === null) return;
    if (!adopted.has(document.sha256)) onEdit(versionOf(document));
    else if (!passed.has(document.sha256)) onNews();
  });
  return {
    /** The version of the content; null without content. */
    version: (): ContentVersion | null => {
      const document = content.document();
      return document && versionOf(document);
    },
    health: async (): Promise<Omit<ReplicationHealth, 'media' | 'lostUploads'>> => {
      const document = content.document();
      return {
        content: document && { ...versionOf(document), changedAt: document.changedAt },
        lost: await content.lost(),
        refused: refusals.list(),
      };
    },
    /** Sentences about newer content of peers that this box does not play: one per content. */
    issues: (): string[] => {
      const reasons = new Map(
        peers.alive().flatMap(({ nodeId, url, state: { content: offered } }) => {
          if (offered === null || !wins(offered)) return [];
          const reason = refusals.reasonFor(nodeId, offered.sha256);
          return reason === undefined ? [] : [[offered.sha256, { url, reason }] as const];
        }),
      );
      return limitSentences(
        [...reasons.values()].map(
          ({ url, reason }) => `This box does not play the newer content of the box at ${url}: ${reason}.`,
        ),
        'versions of the content do not play here',
      );
    },
    /** The content of that version, if it is short enough to be pushed. */
    shortDocument: ({ sha256 }: ContentVersion): ContentDocument | null => {
      const document = content.document();
      if (document?.sha256 !== sha256 || document.text.length > MAX_SHORT_BYTES) return null;
      return Buffer.byteLength(JSON.stringify(document)) > MAX_SHORT_BYTES ? null : document;
    },
    /**
     * Adopts the content of a live peer, if it is newer; resolves with whether this box has it, or newer content.
     * @param document the content, if the peer has sent it; else it is fetched
     */
    settle: async (version: ContentVersion, document?: ContentDocument): Promise<boolean> => {
      remember(passed, version.sha256, true, MAX_REMEMBERED);
      if (document !== undefined && documentHash(document) === version.sha256)
        remember(given, version.sha256, document, MAX_GIVEN);
      for (let tries = 0; tries < 2 && wins(version); tries++) {
        await fetchNewest('');
        const fetching = [...inFlight].find(([key]) => key.endsWith(` ${version.sha256}`));
        await fetching?.[1];
      }
      await meetLoser(version);
      return !wins(version);
    },
  };
};
