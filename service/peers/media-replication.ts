/**
 * Replicates the media that the content names: fetches them from peers in the background, complete or not at all, so that
 * a name stands for the same file on every box.
 */

import type { Content } from '../content/index.ts';
import type { ReplicationHealth } from '../contract/health.ts';
import type { MediaProgress } from '../contract/onboarding.ts';
import type { PeerMedia, PeerMedium } from '../contract/peer-media.ts';
import type { PeerState } from '../contract/peers.ts';
import { doubled } from '../domain/backoff.ts';
import { shuffled } from '../domain/shuffle.ts';
import { FetchHeld, type Media } from '../media/index.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import { digestOf, mediumOf, stateDigest } from './media-digest.ts';
import { createMediaLists } from './media-lists.ts';
import type { Peers } from './peer.ts';
import { newestTime, planTransfers, type Transfer } from './transfer-plan.ts';

interface Dependencies {
  logs: SourceLogs;
  peers: Pick<Peers, 'alive' | 'call' | 'onState' | 'announce'>;
  content: Pick<Content, 'mediaNames' | 'onDocument' | 'onChange'>;
  media: Pick<
    Media,
    'list' | 'unread' | 'onLearn' | 'replicate' | 'heldReason' | 'onFetchHours' | 'deletions' | 'lost'
  >;
  /** Called when media that the content names have arrived: from a peer, by upload or by hand. */
  onArrival(): void;
}

export interface MediaReplication {
  /** Its part of {@link PeerState}. */
  state(): Pick<PeerState, 'media'>;
  health(): ReplicationHealth['media'];
  /** Media of peers that the content names, and that are not fetched at this time of day. */
  held(): string[];
  progress(): MediaProgress;
  /** Modification time of the newest file of that name at the site, ms since the epoch; 0 without one. */
  newest(name: string): number;
  /** Whether another box has a file of that name; asks the boxes if the lists name none. */
  isElsewhere(name: string): Promise<boolean>;
  /** Resolves when the scan that is due, if any, is done. */
  settled(): Promise<void>;
  /** Those of the names that no box has a file of, and that this one is not about to read. */
  nowhere(names: Iterable<string>): Set<string>;
  /** Scans the folders and starts the transfers that are needed. */
  scan(): Promise<void>;
  /** The media of this box, and what was deleted at the site. */
  media(): PeerMedia;
  close(): void;
}

const MAX_MEDIA = 10_000;
/** Concurrent transfers. */
const MAX_RUNNING = 4;
const MIN_RETRY_MS = 2_000;
const MAX_RETRY_MS = 300_000;
/** Minimum time between two calls of `onArrival` while more media are to come. */
const PROGRESS_MS = 1_000;
/** Minimum time between two calls of `onArrival` when all media are here. */
const COMPLETE_MS = 500;
/** Limit of missing media in the health report. */
const MAX_REPORTED = 100;
/** Minimum time between two scans that requests of peers cause. */
const SCAN_MS = 5_000;
/** Scans that are requested within this time are one. */
const DEBOUNCE_MS = 100;

interface Failure {
  reason: string;
  failures: number;
  /** ms, by the monotonic clock. */
  retryAt: number;
}

export const createMediaReplication = ({ logs, peers, content, media, onArrival }: Dependencies): MediaReplication => {
  let own: ReadonlyMap<string, PeerMedium> = new Map();
  let ownDigest = digestOf([]);
  const running = new Set<string>();
  const failed = new Map<string, Failure>();
  /** Hashes of files that came from peers, which are not announced to them. */
  const copied = new Set<string>();
  /** Media whose fetch has to wait for its hours, as logged. */
  const held = new Set<string>();
  let arrived = false;
  let notifiedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let scannedAt = Number.NEGATIVE_INFINITY;
  /** Whether files may have been put into the folders by hand. */
  let isStale = true;
  let scanning: Promise<void> | null = null;
  let again = false;
  let closed = false;

  const { deletions } = media;
  const { isDeleted, offers, learn } = createMediaLists({
    ...{ logs, peers, deletions },
    // A peer with a new file may have one that no other peer could provide.
    onNew: (name) => failed.delete(name),
    onChange: () => schedule(),
  });

  const transferPlan = (): Transfer[] => planTransfers(content.mediaNames(), own, offers());

  const newest = (name: string): number => Date.parse(newestTime(name, own, offers()) ?? '') || 0;

  /** Whether files may be here without being listed yet. */
  const isScanDue = (): boolean =>
    scannedAt === Number.NEGATIVE_INFINITY || scanning !== null || dueAt - performance.now() <= DEBOUNCE_MS;

  const nowhere = (names: Iterable<string>): Set<string> => {
    if (isScanDue()) return new Set();
    const unread = media.unread();
    return new Set([...names].filter((name) => newest(name) === 0 && !unread.has(name)));
  };

  /** Schedules a scan in `ms`, unless one is due sooner. */
  const schedule = (ms = DEBOUNCE_MS): void => {
    const at = performance.now() + ms;
    if (closed || at >= dueAt) return;
    dueAt = at;
    clearTimeout(timer);
    timer = setTimeout(() => {
      dueAt = Number.POSITIVE_INFINITY;
      void scan();
    }, ms);
    timer.unref();
  };

  const fetchOne = async ({ medium, from }: Transfer): Promise<void> => {
    const { name, size, sha256, modifiedAt } = medium;
    // Boxes try peers in random order, so that no peer serves all of them.
    const urls = shuffled(from, Math.random).map((url) => `${url}/media/${encodeURIComponent(name)}`);
    running.add(name);
    copied.add(sha256);
    try {
      await media.replicate({ name, size, sha256, modifiedAt: new Date(modifiedAt), from: urls });
      failed.delete(name);
      logs('media of peers').info({ name, size }, 'fetched a medium from a peer');
      arrived = true;
    } catch (error) {
      if (closed || error instanceof FetchHeld) return;
      const failures = (failed.get(name)?.failures ?? 0) + 1;
      const pause = doubled(failures - 1, MIN_RETRY_MS, MAX_RETRY_MS);
      const reason = (error as Error).message;
      failed.set(name, { reason, failures, retryAt: performance.now() + pause });
      logs('media of peers').warn({ name, reason }, 'a medium could not be fetched from any peer');
    } finally {
      running.delete(name);
      schedule();
    }
  };

  const decide = (): void => {
    const unread = media.unread();
    const now = performance.now();
    const reason = media.heldReason();
    let next = Number.POSITIVE_INFINITY;
    if (reason === null) held.clear();
    for (const transfer of transferPlan()) {
      const { name } = transfer.medium;
      if (reason !== null) {
        if (!held.has(name)) logs('media of peers').warn({ name, reason }, 'a medium has to wait');
        held.add(name);
        continue;
      }
      // A file that has not been read yet may be the one to fetch.
      if (running.has(name) || unread.has(name)) continue;
      const { retryAt = 0 } = failed.get(name) ?? {};
      if (retryAt > now) next = Math.min(next, retryAt - now);
      else if (running.size < MAX_RUNNING) void fetchOne(transfer);
    }
    if (next < Number.POSITIVE_INFINITY) schedule(next);
    const isComplete = running.size === 0 && unread.size === 0;
    const notifyAt = notifiedAt + (isComplete ? COMPLETE_MS : PROGRESS_MS);
    if (arrived && now >= notifyAt) {
      arrived = false;
      notifiedAt = now;
      onArrival();
    } else if (arrived) schedule(notifyAt - now);
  };

  const redate = (name: string): Promise<void> =>
    deletions.redate(name).then(
      () => schedule(),
      (err: unknown) => logs('media of peers').warn({ name, err }, 'a file could not be given a new date'),
    );

  /** Stores the list of local media, and announces new files that peers may be waiting for. */
  const update = (listed: readonly PeerMedium[]): void => {
    const found = listed.filter((each) => !isDeleted(each));
    // Put there by hand after the deletion: what was there before is removed.
    for (const each of listed.filter(isDeleted)) void redate(each.name);
    const names = content.mediaNames();
    const hasNews = found.some(
      ({ name, sha256 }) => names.has(name) && !copied.has(sha256) && own.get(name)?.sha256 !== sha256,
    );
    own = new Map(found.map((each) => [each.name, each]));
    ownDigest = digestOf(found);
    if (!hasNews) return;
    void peers.announce();
    arrived = true;
  };

  const scanUntilCurrent = async (): Promise<void> => {
    while (again && !closed) {
      again = false;
      scannedAt = performance.now();
      const listing = media.list(isStale ? 0 : undefined);
      isStale = false;
      update((await listing).slice(0, MAX_MEDIA).map(mediumOf));
      decide();
    }
  };
  const scan = (): Promise<void> => {
    again = true;
    scanning ??= scanUntilCurrent().finally(() => {
      scanning = null;
    });
    return scanning;
  };
  const settled = async (): Promise<void> => {
    if (!isScanDue()) return;
    clearTimeout(timer);
    dueAt = Number.POSITIVE_INFINITY;
    await scan();
  };

  content.onDocument(() => {
    isStale = true;
    schedule();
  });
  // A takeover may show a file that nothing else names.
  content.onChange(() => schedule());
  media.onLearn(() => schedule());
  media.onFetchHours(() => schedule());
  deletions.onDelete(() => {
    schedule();
    void peers.announce();
  });

  const ownStateDigest = (): string => stateDigest(ownDigest, deletions.digest());
  const isKnownElsewhere = (name: string): boolean => offers().some(({ media: theirs }) => theirs.has(name));

  return {
    isElsewhere: async (name) => {
      if (!isKnownElsewhere(name)) await learn();
      return isKnownElsewhere(name);
    },
    state: () => {
      // A scan finds files that were put into the folders by hand, while peers ask for the state.
      if (performance.now() > scannedAt + SCAN_MS) {
        isStale = true;
        schedule();
      }
      return { media: ownStateDigest() };
    },
    health: () => {
      const names = content.mediaNames();
      const missing = new Map<string, ReplicationHealth['media']['missing'][number]>(
        transferPlan().map(({ medium: { name, size } }) => {
          const reason =
            media.heldReason() ?? failed.get(name)?.reason ?? (running.has(name) ? 'is being fetched' : 'is queued');
          return [name, { name, size, reason }];
        }),
      );
      const absent = nowhere(names);
      for (const name of names) {
        if (own.has(name) || missing.has(name)) continue;
        const reason = absent.has(name) ? 'no box has it' : 'is being read';
        missing.set(name, { name, size: null, reason });
      }
      return {
        named: names.size,
        here: names.size - missing.size,
        missing: [...missing.values()].slice(0, MAX_REPORTED),
      };
    },
    held: () => (media.heldReason() === null ? [] : transferPlan().map(({ medium }) => medium.name)),
    progress: () => {
      const coming = new Set(transferPlan().map(({ medium }) => medium.name));
      const here = [...content.mediaNames()].filter((name) => own.has(name) && !coming.has(name)).length;
      return coming.size === 0 ? null : { here, there: here + coming.size };
    },
    newest,
    settled,
    nowhere,
    scan,
    media: () => ({ media: [...own.values()], deleted: deletions.list(), digest: ownStateDigest() }),
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
};
