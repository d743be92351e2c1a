/** Fetches media from peers: a few at a time, again after a failure, and only in the hours for it. */

import { shuffled } from '../domain/collections.ts';
import { doubled } from '../domain/time.ts';
import { FetchHeld, type Media } from '../media/index.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import type { Transfer } from './transfer-plan.ts';

interface Dependencies {
  logs: SourceLogs;
  media: Pick<Media, 'unread' | 'heldReason' | 'replicate'>;
  /** Called with the name of each medium that was fetched. */
  onFetched(name: string): void;
  /** Called when media that the content names have arrived. */
  onArrival(): void;
  /** Schedules `run` in `ms`; absent: immediately. */
  schedule(ms?: number): void;
}

/** Concurrent transfers. */
const MAX_RUNNING = 4;
const MIN_RETRY_MS = 2_000;
const MAX_RETRY_MS = 300_000;
/** Minimum time between two calls of `onArrival` while more media are to come. */
const PROGRESS_MS = 1_000;
/** Minimum time between two calls of `onArrival` when all media are here. */
const COMPLETE_MS = 500;

interface Failure {
  reason: string;
  failures: number;
  /** ms, by the monotonic clock. */
  retryAt: number;
}

export const createMediaTransfers = ({ logs, media, onFetched, onArrival, schedule }: Dependencies) => {
  const running = new Set<string>();
  const failed = new Map<string, Failure>();
  /** Hashes of files that came from peers, which are not announced to them. */
  const copied = new Set<string>();
  /** Media whose fetch has to wait for its hours, as logged. */
  const held = new Set<string>();
  let arrived = false;
  let notifiedAt = Number.NEGATIVE_INFINITY;
  let closed = false;

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
      onFetched(name);
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

  return {
    /** Starts the transfers of a plan that can start now, and reports those that have arrived. */
    run: (plan: readonly Transfer[]): void => {
      const unread = media.unread();
      const now = performance.now();
      const reason = media.heldReason();
      let next = Number.POSITIVE_INFINITY;
      if (reason === null) held.clear();
      for (const transfer of plan) {
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
    },
    /** Reports an arrival that was no transfer with the next run. */
    arrived: (): void => {
      arrived = true;
    },
    /** Retries a medium that could not be fetched. */
    retry: (name: string): void => void failed.delete(name),
    /** Whether a file came from a peer. */
    isCopy: (sha256: string): boolean => copied.has(sha256),
    /** Why a medium that is to be fetched is not here yet. */
    reasonOf: (name: string): string =>
      media.heldReason() ?? failed.get(name)?.reason ?? (running.has(name) ? 'is being fetched' : 'is queued'),
    close: (): void => {
      closed = true;
    },
  };
};
