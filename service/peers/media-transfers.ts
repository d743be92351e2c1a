/** Which media this box fetches, from which peers; and when: a few at a time, again after a failure, in the hours for it. */
import type { PeerMedium } from '../contract/peers.ts';
import { shuffled } from '../domain/collections.ts';
import { order } from '../domain/merge.ts';
import { doubled, type MonotonicMs } from '../domain/time.ts';
import { limitSentences } from '../domain/wording.ts';
import { FetchHeld, type Media } from '../media/index.ts';
import type { ServiceContext } from '../module.ts';

/** The media that a peer lists. */
export interface Offer {
  url: string;
  /** Its file of that name, if it counts. */
  find(name: string): PeerMedium | undefined;
}

export interface Transfer {
  medium: PeerMedium;
  /** Base URLs of all peers that have exactly this file. */
  from: string[];
}

/**
 * Positive if `a` is the newer file of a name. Copies keep the modification time of their original, so that no copy
 * counts as newer.
 */
export const compareMedia = (a: PeerMedium, b: PeerMedium): number =>
  order(a.modifiedAt, b.modifiedAt) || order(a.sha256, b.sha256);

/** The same for a file and its copies; another one where somebody uploads the same bytes again. */
export const fileKeyOf = ({ sha256, modifiedAt }: PeerMedium): string => `${sha256} ${modifiedAt}`;

/** The newest file of a name at the site; undefined without one. */
export const newestOf = (name: string, own: ReadonlyMap<string, PeerMedium>, offers: readonly Offer[]) => {
  let newest = own.get(name);
  for (const offer of offers) {
    const theirs = offer.find(name);
    if (theirs !== undefined && (newest === undefined || compareMedia(theirs, newest) > 0)) newest = theirs;
  }
  return newest;
};

/** The transfers after which every name stands for the newest file of the site on this box. */
export const planTransfers = (
  named: Iterable<string>,
  own: ReadonlyMap<string, PeerMedium>,
  offers: readonly Offer[],
): Transfer[] =>
  [...named].flatMap((name) => {
    const newest = newestOf(name, own, offers);
    if (newest === undefined || own.get(name)?.sha256 === newest.sha256) return [];
    const from = offers.filter(({ find }) => find(name)?.sha256 === newest.sha256).map(({ url }) => url);
    return [{ medium: newest, from }];
  });

/** How long requests wait for media after a change of the content: published content is on all screens within 2 s. */
const FOLLOW_MS = 1_500;

/**
 * Media that are still being replicated after the content that names them. A request for one waits, so that the slide is
 * not skipped for a whole loop.
 * @param isComing whether the content names the medium, and another box may have it
 */
export const createAwaitedMedia = (isComing: (name: string) => boolean) => {
  let until = Number.NEGATIVE_INFINITY;
  const waiting = new Set<{ name: string; go(): void }>();

  return {
    /** Called when the content has changed. */
    expect: (): void => {
      until = performance.now() + FOLLOW_MS;
    },
    /** Called with the name of a medium that has arrived. */
    arrived: (name: string): void => {
      for (const each of waiting) if (each.name === name) each.go();
    },
    /** Resolves when the medium has arrived, is not expected, or after a time limit. */
    arrival: async (name: string): Promise<void> => {
      const left = until - performance.now();
      if (left <= 0 || !isComing(name)) return;
      await new Promise<void>((resolve) => {
        const go = (): void => {
          clearTimeout(timer);
          waiting.delete(request);
          resolve();
        };
        const timer = setTimeout(go, left);
        const request = { name, go };
        waiting.add(request);
      });
    },
  };
};

interface Site {
  media: Pick<Media, 'unread' | 'heldReason' | 'replicate'>;
  /** Called with the name of each medium that was fetched. */
  onFetched(name: string): void;
  /** Called when media that the content names have arrived. */
  onArrival(): void;
  /** Schedules `run` in `ms`; absent: immediately. */
  schedule(ms?: number): void;
}

const MAX_RUNNING = 4;
/** Of larger files about one is fetched from a box at a time: they take long, and small ones must not wait for them. */
const LARGE_BYTES = 32 * 1024 ** 2;
const isLarge = ({ medium }: Transfer): boolean => medium.size > LARGE_BYTES;
/** After so many failures in a row, `/healthz` names a medium. */
const MIN_FAILURES = 2;
/** Minimum time between two calls of `onArrival` while more media are to come. */
const PROGRESS_MS = 1_000;
/** Minimum time between two calls of `onArrival` when all media are here. */
const COMPLETE_MS = 500;

interface Failure {
  reason: string;
  failures: number;
  retryAt: MonotonicMs;
}

export const createMediaTransfers = (
  { logs, monotonicNow, tempo: { peers: tempo } }: Pick<ServiceContext, 'logs' | 'monotonicNow' | 'tempo'>,
  { media, onFetched, onArrival, schedule }: Site,
) => {
  const running = new Map<string, Transfer>();
  const failed = new Map<string, Failure>();
  /** Keys of files that came from peers, which are not announced to them. */
  const copied = new Set<string>();
  /** Media whose fetch has to wait for its hours, as logged. */
  const held = new Set<string>();
  let arrived = false;
  let notifiedAt = Number.NEGATIVE_INFINITY;
  let closed = false;

  const mayRun = (transfer: Transfer): boolean => {
    if (running.size >= MAX_RUNNING) return false;
    if (!isLarge(transfer)) return true;
    const large = [...running.values()].filter(isLarge);
    const rivals = large.filter(({ from }) => from.some((url) => transfer.from.includes(url)));
    return large.length < MAX_RUNNING - 1 && rivals.length < transfer.from.length;
  };

  const fetchOne = async (transfer: Transfer): Promise<void> => {
    const { medium, from } = transfer;
    const { name, size, sha256, modifiedAt } = medium;
    // Boxes try peers in random order, so that no peer serves all of them.
    const urls = shuffled(from, Math.random).map((url) => `${url}/media/${encodeURIComponent(name)}?original`);
    running.set(name, transfer);
    copied.add(fileKeyOf(medium));
    try {
      await media.replicate({ name, size, sha256, modifiedAt: new Date(modifiedAt), from: urls });
      failed.delete(name);
      logs('media of peers').info({ name, size }, 'fetched a medium from a peer');
      arrived = true;
      onFetched(name);
    } catch (error) {
      if (closed || error instanceof FetchHeld) return;
      const failures = (failed.get(name)?.failures ?? 0) + 1;
      const pause = doubled(failures - 1, tempo.transfer, tempo.maxTransfer);
      const reason = (error as Error).message;
      failed.set(name, { reason, failures, retryAt: monotonicNow() + pause });
      logs('media of peers').warn({ name, reason }, 'a medium could not be fetched from any peer');
    } finally {
      running.delete(name);
      schedule();
    }
  };

  return {
    /** Starts the transfers of a plan that can start now, and reports those that have arrived. */
    run: (plan: readonly Transfer[]): void => {
      const unread = media.unread();
      const now = monotonicNow();
      const reason = media.heldReason();
      let next = Number.POSITIVE_INFINITY;
      if (reason === null) held.clear();
      // Small ones first.
      for (const transfer of plan.toSorted((a, b) => a.medium.size - b.medium.size)) {
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
        else if (mayRun(transfer)) void fetchOne(transfer);
      }
      if (next < Number.POSITIVE_INFINITY) schedule(next);
      const isComplete = running.size === 0 && unread.size === 0;
      const notifyAt = notifiedAt + (isComplete ? COMPLETE_MS : PROGRESS_MS);
      if (arrived && now >= notifyAt) {
        arrived = false;
        notifiedAt = now;
        onArrival();
      } else if (arrived) schedule(notifyAt - now);
    },
    /** Reports an arrival that was no transfer with the next run. */
    arrived: (): void => {
      arrived = true;
    },
    /** Retries a medium that could not be fetched. */
    retry: (name: string): void => void failed.delete(name),
    /** Whether a file came from a peer. */
    isCopy: (medium: PeerMedium): boolean => copied.has(fileKeyOf(medium)),
    /** Why a medium that is to be fetched is not here yet. */
    reasonOf: (name: string): string =>
      media.heldReason() ?? failed.get(name)?.reason ?? (running.has(name) ? 'is being fetched' : 'is queued'),
    /** Sentences about media of a plan that cannot be fetched. */
    issues: (plan: readonly Transfer[]): string[] =>
      limitSentences(
        plan.flatMap(({ medium: { name } }) => {
          const { failures = 0, reason = '' } = failed.get(name) ?? {};
          if (failures < MIN_FAILURES || running.has(name) || media.heldReason() !== null) return [];
          return `A screen needs ${name}, which cannot be fetched from another box: ${reason.replace(/\.$/, '')}.`;
        }),
        'media cannot be fetched from another box',
      ),
    close: (): void => {
      closed = true;
    },
  };
};
