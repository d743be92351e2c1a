/**
 * The media that the content names, from whichever peer has them: fetched in the background, whole or not at all, and
 * the same under one name on every box.
 */
import { createHash } from 'node:crypto';
import type { Content } from '../content/content.ts';
import type { ReplicationHealth } from '../contract/health.ts';
import type { MediaProgress } from '../contract/onboarding.ts';
import { type PeerMedium, type PeerState, peerMedia } from '../contract/peers.ts';
import { isPlausibleTime } from '../domain/merge.ts';
import type { createCatalog } from '../media/catalog.ts';
import type { createDownloads } from '../media/downloads.ts';
import { KEPT_MS } from '../media/folders.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import type { Mirrored } from './evictable.ts';
import type { LivePeer, Peers } from './registry.ts';
import { type Offer, timeOf, type Want, wantsOf } from './transfer-plan.ts';

interface Dependencies {
  logs: SourceLogs;
  peers: Pick<Peers, 'alive' | 'call' | 'onState' | 'announce'>;
  content: Pick<Content, 'mediaNames' | 'onDocument'>;
  catalog: Pick<ReturnType<typeof createCatalog>, 'list' | 'unread' | 'onLearn'>;
  downloads: Pick<Awaited<ReturnType<typeof createDownloads>>, 'want'>;
  mirrored: Pick<Mirrored, 'add'>;
  /** A copy is in the media directory: an older upload of that name is not to stand before it. */
  reveal(name: string): Promise<void>;
  /** Media that the content names have come, from a peer, by upload or by hand. */
  onArrival(): void;
}

export interface Mirror {
  /** What {@link PeerState} says of it. */
  state(): Pick<PeerState, 'media'>;
  health(): ReplicationHealth['media'];
  progress(): MediaProgress;
  /** When the newest file of that name was made, here or anywhere, ms since the epoch; 0: there is none. */
  newest(name: string): number;
  /** Looks through the folders and decides what is to be fetched. */
  look(): Promise<void>;
  /** What this box has for others. */
  media(): PeerMedium[];
  close(): void;
}

const MOST_MEDIA = 10_000;
const MOST_LIST_BYTES = 8 * 1024 ** 2;
const LIST_MS = 10_000;
/** Files that are fetched at a time. */
const MOST_RUNNING = 4;
const SHORTEST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 300_000;
/** While media come one after another, those who wait for some of them are told this often. */
const PATIENCE_MS = 1_000;
/** Those who wait for the last of them are told no sooner than this after the one before. */
const LEAST_MS = 500;
/** Missing media that are told of. */
const MOST_TOLD = 100;
/** The folders are looked through no more often for a peer that asks. */
const LOOK_MS = 5_000;
/** Looks that are asked for in this time are one. */
const GATHER_MS = 100;

interface Failure {
  reason: string;
  failures: number;
  /** By the steady clock, ms. */
  retryAt: number;
}

export const createMirror = ({
  logs,
  peers,
  content,
  catalog,
  downloads,
  mirrored,
  reveal,
  onArrival,
}: Dependencies): Mirror => {
  let own: ReadonlyMap<string, PeerMedium> = new Map();
  let digest = digestOf([]);
  /** What boxes have, by node id, and the digest by which they say so. */
  const lists = new Map<string, { digest: string; media: ReadonlyMap<string, PeerMedium> }>();
  const asking = new Set<string>();
  const running = new Set<string>();
  const failed = new Map<string, Failure>();
  /** Hashes of what came from peers: no news to them. */
  const copied = new Set<string>();
  let arrived = false;
  let toldAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let lookedAt = Number.NEGATIVE_INFINITY;
  /** Files may have been put into the folders by hand. */
  let isStale = true;
  let looking = false;
  let again = false;
  let closed = false;

  const offers = (): Offer[] =>
    peers.alive().flatMap(({ nodeId, url }) => {
      const media = lists.get(nodeId)?.media;
      return media === undefined ? [] : [{ url, media }];
    });

  const wants = (): Want[] => wantsOf(content.mediaNames(), own, offers());

  /** Looks within so many ms; what was to come sooner stays. */
  const soon = (ms = GATHER_MS): void => {
    const at = performance.now() + ms;
    if (closed || at >= dueAt) return;
    dueAt = at;
    clearTimeout(timer);
    timer = setTimeout(() => {
      dueAt = Number.POSITIVE_INFINITY;
      void look();
    }, ms);
    timer.unref();
  };

  const fetchOne = async ({ medium, from }: Want): Promise<void> => {
    const { name, size, sha256, modifiedAt } = medium;
    // Each box begins with another peer, so that no peer serves all.
    const urls = from.map((url) => `${url}/media/${encodeURIComponent(name)}`).toSorted(() => Math.random() - 0.5);
    running.add(name);
    copied.add(sha256);
    try {
      await mirrored.add(name);
      await downloads.want({ name, size, sha256, modifiedAt: new Date(modifiedAt), from: urls });
      await reveal(name);
      failed.delete(name);
      logs('media of peers').info({ name, size }, 'a medium came from a peer');
      arrived = true;
    } catch (error) {
      if (closed) return;
      const failures = (failed.get(name)?.failures ?? 0) + 1;
      const pause = Math.min(LONGEST_RETRY_MS, SHORTEST_RETRY_MS * 2 ** Math.min(failures - 1, 16));
      const reason = (error as Error).message;
      failed.set(name, { reason, failures, retryAt: performance.now() + pause });
      logs('media of peers').warn({ name, reason }, 'a medium of a peer did not come');
    } finally {
      running.delete(name);
      soon();
    }
  };

  const decide = (): void => {
    const unread = catalog.unread();
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const want of wants()) {
      const { name } = want.medium;
      // A file that is there may be what is wanted.
      if (running.has(name) || unread.has(name)) continue;
      const { retryAt = 0 } = failed.get(name) ?? {};
      if (retryAt > now) next = Math.min(next, retryAt - now);
      else if (running.size < MOST_RUNNING) void fetchOne(want);
    }
    if (next < Number.POSITIVE_INFINITY) soon(next);
    const isComplete = running.size === 0 && unread.size === 0;
    const tellAt = toldAt + (isComplete ? LEAST_MS : PATIENCE_MS);
    if (arrived && now >= tellAt) {
      arrived = false;
      toldAt = now;
      onArrival();
    } else if (arrived) soon(tellAt - now);
  };

  /** What is here; the peers are told at once of what they may be waiting for. */
  const learn = (media: readonly PeerMedium[]): void => {
    const names = content.mediaNames();
    const hasNews = media.some(
      ({ name, sha256 }) => names.has(name) && !copied.has(sha256) && own.get(name)?.sha256 !== sha256,
    );
    own = new Map(media.map((each) => [each.name, each]));
    digest = digestOf(media);
    if (!hasNews) return;
    void peers.announce();
    arrived = true;
  };

  const look = async (): Promise<void> => {
    again = true;
    if (looking) return;
    looking = true;
    try {
      while (again && !closed) {
        again = false;
        lookedAt = performance.now();
        const maxAge = isStale ? 0 : KEPT_MS;
        isStale = false;
        learn((await catalog.list(maxAge)).slice(0, MOST_MEDIA).map(mediumOf));
        decide();
      }
    } finally {
      looking = false;
    }
  };

  const fetchList = async (peer: LivePeer): Promise<void> => {
    const { nodeId, state } = peer;
    if (lists.get(nodeId)?.digest === state.media || asking.has(nodeId)) return;
    asking.add(nodeId);
    const request = { path: '/api/peers/media', deadlineMs: LIST_MS, mostBytes: MOST_LIST_BYTES };
    const answer = await peers.call(peer, { ...request, schema: peerMedia });
    asking.delete(nodeId);
    if (answer.ok) {
      const media = answer.body.media.filter(({ modifiedAt }) => isPlausibleTime(modifiedAt, Date.now()));
      const before = lists.get(nodeId)?.media;
      lists.set(nodeId, { digest: state.media, media: new Map(media.map((each) => [each.name, each])) });
      // Who has something new may have what nobody else could give.
      for (const { name, sha256 } of media) if (before?.get(name)?.sha256 !== sha256) failed.delete(name);
      soon();
    } else if (answer.status !== null) {
      logs(`peer ${nodeId}`).warn({ nodeId, reason: answer.reason }, 'a peer does not say what media it has');
    }
  };

  peers.onState((peer) => {
    const present = new Set(peers.alive().map(({ nodeId }) => nodeId));
    for (const nodeId of lists.keys()) if (!present.has(nodeId)) lists.delete(nodeId);
    void fetchList(peer);
  });
  content.onDocument(() => {
    isStale = true;
    soon();
  });
  catalog.onLearn(() => soon());

  return {
    state: () => {
      // Files that are put into the folders by hand are found by looking, while somebody cares.
      if (performance.now() > lookedAt + LOOK_MS) {
        isStale = true;
        soon();
      }
      return { media: digest };
    },
    health: () => {
      const names = content.mediaNames();
      const missing = new Map<string, ReplicationHealth['media']['missing'][number]>(
        wants().map(({ medium: { name, size } }) => {
          const reason = failed.get(name)?.reason ?? (running.has(name) ? 'is being fetched' : 'waits its turn');
          return [name, { name, size, reason }];
        }),
      );
      const unread = catalog.unread();
      // What was read a moment ago is known with the look that is due.
      const isBehind = lookedAt === Number.NEGATIVE_INFINITY || looking || dueAt - performance.now() <= GATHER_MS;
      for (const name of names) {
        if (own.has(name) || missing.has(name)) continue;
        const reason = isBehind || unread.has(name) ? 'is being read' : 'no box has it';
        missing.set(name, { name, size: null, reason });
      }
      return { named: names.size, here: names.size - missing.size, missing: [...missing.values()].slice(0, MOST_TOLD) };
    },
    progress: () => {
      const coming = new Set(wants().map(({ medium }) => medium.name));
      const here = [...content.mediaNames()].filter((name) => own.has(name) && !coming.has(name)).length;
      return coming.size === 0 ? null : { here, there: here + coming.size };
    },
    newest: (name) => Date.parse(timeOf(name, own, offers()) ?? '') || 0,
    look,
    media: () => [...own.values()],
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
};

const mediumOf = ({ name, size, sha256, modifiedAt }: PeerMedium): PeerMedium => ({ name, size, sha256, modifiedAt });

const digestOf = (media: readonly PeerMedium[]): string =>
  createHash('sha256')
    .update(JSON.stringify(media.map(({ name, size, sha256, modifiedAt }) => [name, size, sha256, modifiedAt])))
    .digest('hex');
